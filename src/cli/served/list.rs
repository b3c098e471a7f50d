//! `archive_list`, `archive_versions` and `sessions_search`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::ToolRefusal;
use super::tools::{ArchiveTools, CHANGESETS, HITS, ListArgs, VERSIONS};
use crate::archive::{Id, Version};
use crate::past::{cause, files_of, of_path};
use crate::text::schema::PageLimit;
use crate::text::time;

/// Arguments of `sessions_search`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArgs {
    words: String,
    limit: Option<PageLimit>,
}

impl ArchiveTools {
    pub(super) fn changesets(&self, args: &ListArgs) -> Result<Value, ToolRefusal> {
        let limit = PageLimit::or(args.limit, CHANGESETS);
        self.reconcile()?;
        let mut ids = self.archive().list()?;
        if let Some(path) = &args.path {
            ids = of_path(&self.path(path)?, &ids, self.stores())?;
        }
        if let Some(before) = &args.before {
            // One that was pruned meanwhile still has its place.
            let before = Id::parse(before).map_or_else(|| self.archive().find_changeset(before), Ok)?;
            ids.retain(|id| *id < before);
        }
        let mut folders = HashMap::new();
        let mut rows = Vec::new();
        for id in ids.iter().take(limit) {
            rows.push(self.changeset(*id, &mut folders)?);
        }
        Ok(json!({"changesets": rows, "more": ids.len() > limit}))
    }

    /// Returns a changeset as an object. What cannot be read of it is left out.
    pub(super) fn changeset(&self, id: Id, folders: &mut HashMap<String, Vec<Version>>) -> Result<Value, ToolRefusal> {
        let stores = self.stores();
        let record = stores.memory.or_report(stores.memory.changeset(&stores.project(), &id.to_string()));
        let files = match &record {
            Some(record) if !record.files.is_empty() => record.files.clone(),
            _ => match files_of(id, Some(stores.workspace), folders, stores.archive) {
                Ok(files) => files,
                Err(error) => {
                    crate::cli::out::complain(&error);
                    Vec::new()
                }
            },
        };
        let file = |f: crate::memory::StoredFile| {
            json!({
                "path": f.path, "version": f.version, "absent": f.absent, "added": f.added, "removed": f.removed,
            })
        };
        Ok(json!({
            "id": id.to_string(), "time": time::utc_millis(id.at()), "cause": cause(record.as_ref()),
            "files": files.into_iter().map(file).collect::<Vec<_>>(),
        }))
    }

    pub(super) fn versions(&self, args: &ListArgs) -> Result<Value, ToolRefusal> {
        let limit = PageLimit::or(args.limit, VERSIONS);
        let Some(path) = &args.path else {
            return Err(ToolRefusal::new("usage", "the arguments: missing field `path`"));
        };
        let path = self.path(path)?;
        let mut versions = self.archive().versions(&path)?;
        if let Some(before) = &args.before {
            let before =
                Id::parse(before).map_or_else(|| self.archive().find_version(Some(&path), before).map(|v| v.id), Ok)?;
            versions.retain(|version| version.id < before);
        }
        let row = |v: &Version| {
            json!({
                "id": v.id.to_string(), "time": time::utc_millis(v.id.at()), "bytes": v.size(), "absent": v.absent,
            })
        };
        let rows: Vec<_> = versions.iter().rev().take(limit).map(row).collect();
        Ok(json!({"versions": rows, "more": versions.len() > limit}))
    }

    pub(super) fn search(&self, args: &SearchArgs) -> Result<Value, ToolRefusal> {
        let stores = self.stores();
        let hits = stores.memory.search(&stores.project(), &args.words, PageLimit::or(args.limit, HITS))?;
        let row = |hit: crate::memory::SearchHit| json!({"session": hit.session, "title": hit.title, "at": hit.at.map(time::utc_millis), "text": hit.snippet});
        Ok(json!({"hits": hits.into_iter().map(row).collect::<Vec<_>>()}))
    }
}
