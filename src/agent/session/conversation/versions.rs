//! Files of a session as they are known. Steps share them: none copies what others have read.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use crate::edit::stream::KnownFile;
use crate::tools::FileVersion;

/// The version of each file that was read or written last.
#[derive(Default)]
pub struct FileVersions {
    by_path: Arc<HashMap<String, FileVersion>>,
    /// The files whose text is known, by path.
    texts: Arc<Vec<KnownFile>>,
}

impl FileVersions {
    /// Records the version of a file.
    pub fn insert(&mut self, path: String, version: FileVersion) {
        self.set_text(&path, version.text.clone());
        Arc::make_mut(&mut self.by_path).insert(path, version);
    }

    /// Drops what is known of a file.
    pub fn remove(&mut self, path: &str) {
        self.set_text(path, None);
        Arc::make_mut(&mut self.by_path).remove(path);
    }

    /// Drops what is known of the files that are not to be kept.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        Arc::make_mut(&mut self.texts).retain(|file| keep(&file.path));
        Arc::make_mut(&mut self.by_path).retain(|path, _| keep(path));
    }

    /// Returns all versions, which stay as they are.
    pub fn shared(&self) -> Arc<HashMap<String, FileVersion>> {
        Arc::clone(&self.by_path)
    }

    /// Returns the files whose text is known, by path.
    pub fn texts(&self) -> &Arc<Vec<KnownFile>> {
        &self.texts
    }

    fn set_text(&mut self, path: &str, text: Option<Arc<str>>) {
        let at = self.texts.binary_search_by(|file| file.path.as_str().cmp(path));
        match (at, text) {
            (Ok(at), Some(text)) => Arc::make_mut(&mut self.texts)[at].text = text,
            (Ok(at), None) => drop(Arc::make_mut(&mut self.texts).remove(at)),
            (Err(at), Some(text)) => {
                Arc::make_mut(&mut self.texts).insert(at, KnownFile { path: path.to_string(), text });
            }
            (Err(_), None) => {}
        }
    }
}

impl Deref for FileVersions {
    type Target = HashMap<String, FileVersion>;

    fn deref(&self) -> &Self::Target {
        &self.by_path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_versions_and_are_not_copied() {
        let version = |text: Option<&str>| FileVersion { sha: [0; 32], text: text.map(Arc::from) };
        let mut versions = FileVersions::default();
        for (path, text) in [("b", Some("1")), ("a", Some("2")), ("c", None), ("b", Some("3")), ("d", Some("4"))] {
            versions.insert(path.into(), version(text));
        }
        let texts = |versions: &FileVersions| -> Vec<(String, String)> {
            versions.texts().iter().map(|file| (file.path.clone(), file.text.to_string())).collect()
        };
        let pairs = |all: &[(&str, &str)]| all.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect::<Vec<_>>();
        assert_eq!(texts(&versions), pairs(&[("a", "2"), ("b", "3"), ("d", "4")]));
        let (shared, place) = (versions.shared(), versions.texts().as_ptr());
        assert!(Arc::ptr_eq(&shared, &versions.shared()) && place == versions.texts().as_ptr());
        versions.remove("a");
        versions.insert("d".into(), version(None));
        assert_eq!((texts(&versions), versions.len(), shared.len()), (pairs(&[("b", "3")]), 3, 4));
        versions.retain(|path| path == "c");
        assert_eq!((texts(&versions), versions.contains_key("c"), versions.len()), (Vec::new(), true, 1));
    }
}
