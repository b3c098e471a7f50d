//! `prune` and `shi`: what leaves the archive, and what joins it without a change.

use std::io::Write;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::{ArchiveCommands, DONE, NOT_APPROVED, PruneArgs};
use crate::archive::{Keep, Prune};
use crate::execute::archive_as_is;
use crate::text::number::plural;
use crate::text::{size, time};

const DAY: i64 = 24 * 60 * 60 * 1000;

impl ArchiveCommands<'_> {
    pub(super) fn shi(&mut self, files: &[String]) -> Result<u8> {
        let mut paths = self.paths(files)?;
        paths.sort();
        paths.dedup();
        for path in &paths {
            if self.workspace.read(path)?.state.is_absent() {
                anyhow::bail!("there is no file {path}: nothing was archived");
            }
        }
        let (recorded, unrecorded) = archive_as_is(&paths, self.stores())?;
        let Some(id) = recorded.changeset else {
            anyhow::bail!("archiveExclude keeps all of these out of the archive: nothing was archived");
        };
        unrecorded.iter().for_each(|error| self.memory.report(error));
        let files = &recorded.files;
        writeln!(self.out, "archived {} as {id}", plural(files.len(), "file"))?;
        for path in paths.iter().filter(|p| !files.iter().any(|f| f.path == **p)) {
            self.complain(&format!("archiveExclude keeps {path} out of the archive"))?;
        }
        self.out.flush()?;
        Ok(DONE)
    }

    pub(super) fn prune(&mut self, args: &PruneArgs) -> Result<u8> {
        let since = args.keep_days.map(|days| time::now() - i64::from(days) * DAY);
        let max_size = match (&args.max_size, since) {
            (Some(text), _) => {
                Some(size::parse(text).with_context(|| format!("--max-size {text}: write it as 500 MiB or 2 GiB"))?)
            }
            (None, None) => Some(self.max_size),
            (None, Some(_)) => None,
        };
        for id in self.archive.list()? {
            if let Err(why) = self.archive.paths(id) {
                self.complain(&why.to_string())?;
            }
        }
        let plan = self.archive.plan_prune(Keep { since, max_size })?;
        self.tell_plan(&plan, args)?;
        if args.dry_run || plan == Prune::default() {
            self.measure()?;
            return Ok(DONE);
        }
        if !args.yes && !self.can_ask {
            self.complain("nothing was deleted: without a terminal this needs --yes")?;
            return Ok(NOT_APPROVED);
        }
        if !args.yes && !self.agrees("delete them permanently?")? {
            self.complain("nothing was deleted")?;
            return Ok(NOT_APPROVED);
        }
        let mut lock = self.archive.lock()?;
        // Planned again under the lock, for changesets added meanwhile; nothing goes that was not shown.
        let plan = self.archive.plan_prune(Keep { since, max_size })?.within(&plan);
        self.archive.prune(&mut lock, &plan)?;
        drop(lock);
        self.measure()?;
        let gone: Vec<_> = plan.changesets.iter().filter(|c| c.1.is_empty()).map(|c| c.0.to_string()).collect();
        let result = self.memory.forget_changesets(&self.project(), &gone);
        self.memory.or_report(result);
        if !args.json {
            writeln!(self.out, "deleted {}", plural(plan.versions.len(), "version"))?;
            self.out.flush()?;
        }
        Ok(DONE)
    }

    fn tell_plan(&mut self, plan: &Prune, args: &PruneArgs) -> Result<()> {
        let would = if args.dry_run { "would delete" } else { "to delete:" };
        if args.json {
            let changesets: Vec<_> =
                plan.changesets.iter().map(|(id, stay)| json!({"id": id.to_string(), "kept": stay})).collect();
            let versions: Vec<_> = plan.versions.iter().map(|v| v.to_string_lossy()).collect();
            self.out.json(&json!({"changesets": changesets, "versions": versions, "bytes": plan.bytes}))?;
        } else if *plan == Prune::default() {
            writeln!(self.out, "nothing to delete")?;
        } else {
            for (id, stay) in &plan.changesets {
                let stay = if stay.is_empty() { String::new() } else { format!("  but {}", stay.join(", ")) };
                writeln!(self.out, "{}  {id}{stay}", time::local(id.at()))?;
            }
            let (versions, changesets) = (plan.versions.len(), plan.changesets.len());
            writeln!(
                self.out,
                "{would} {} of {}, {}",
                plural(versions, "version"),
                plural(changesets, "changeset"),
                size::words(plan.bytes)
            )?;
        }
        Ok(self.out.flush()?)
    }
}
