//! Model files on this computer: looked for in the folders where Hugging Face's tools, Ollama and LM Studio keep theirs.
//! Nothing is followed further than those tools nest their folders, and nothing is downloaded.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::gguf::{Extent, FAMILIES, Header};
use crate::config::ModelFolders;
use crate::disk;
#[cfg(feature = "embedded")]
use crate::provider::{Error, ErrorKind};

/// The provider's name in the configuration.
pub const NAME: &str = "embedded";

/// A model file that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFile {
    /// The name of its model.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// The most entries of folders that are looked at.
const ENTRIES: usize = 20_000;
/// The most files that are offered.
const FILES: usize = 50;
/// The depth to which these tools nest their folders.
const DEEPEST: usize = 6;
/// Manifests and lists larger than this are none.
const LARGEST_MANIFEST: u64 = 1 << 20;
/// The kind of the layer of a manifest that is the model.
const MODEL_LAYER: &str = "application/vnd.ollama.image.model";

/// Looks through the folders, and gives the files of families that can be run, by name; the one that is configured
/// comes first. Blocks on the disk.
pub fn look(folders: &ModelFolders) -> Vec<ModelFile> {
    let mut search = Search { files: Vec::new(), left: ENTRIES };
    for folder in folders.hugging_face.iter().chain(&folders.lm_studio) {
        search.folder(folder, 0);
    }
    if let Some(models) = &folders.ollama {
        search.manifests(models, &models.join("manifests"), &mut Vec::new());
    }
    search.files.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    let configured = folders.file.as_deref().map(configured);
    let mut files: Vec<ModelFile> = configured.into_iter().chain(search.files).collect();
    let mut names = HashSet::new();
    files.retain(|file| names.insert(file.name.clone()));
    files
}

/// Returns the configured file, whatever it is: what is wrong with it is told when it is asked.
fn configured(path: &Path) -> ModelFile {
    let name = path.file_stem().and_then(OsStr::to_str).unwrap_or("model").to_string();
    ModelFile { name, path: path.into(), bytes: fs::metadata(path).map_or(0, |found| found.len()) }
}

struct Search {
    files: Vec<ModelFile>,
    /// The number of entries of folders that may still be looked at.
    left: usize,
}

impl Search {
    /// Returns the entries of a folder, sorted, as far as the limit allows.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut entries: Vec<PathBuf> = entries.take(self.left).collect();
        self.left -= entries.len();
        entries.sort();
        entries
    }

    /// Finds every model file below `folder`; a link to a file counts, one to a folder does not.
    fn folder(&mut self, folder: &Path, depth: usize) {
        for path in self.entries(folder) {
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            if is_folder && depth < DEEPEST {
                self.folder(&path, depth + 1);
            } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf")) {
                let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_string();
                self.offer(name, path);
            }
        }
    }

    /// Finds every model that a manifest names: `HOST/library/NAME/TAG` is `NAME:TAG`.
    fn manifests(&mut self, models: &Path, folder: &Path, names: &mut Vec<String>) {
        for path in self.entries(folder) {
            let Some(name) = path.file_name().and_then(OsStr::to_str) else { continue };
            names.push(name.to_string());
            if path.is_dir() {
                if names.len() < DEEPEST {
                    self.manifests(models, &path, names);
                }
            } else if let [.., model, tag] = names.as_slice()
                && let Some(blob) = blob(&path)
            {
                self.offer(format!("{model}:{tag}"), models.join("blobs").join(blob));
            }
            names.pop();
        }
    }

    /// Takes a file that begins as one of a family that can be run. A part of several is none.
    fn offer(&mut self, name: String, path: PathBuf) {
        let part = name.contains("-of-0") || name.starts_with("mmproj");
        if self.files.len() >= FILES || part {
            return;
        }
        let Ok(found) = fs::metadata(&path) else { return };
        let header = Header::open(&path, Extent::Beginning);
        if found.is_file() && header.is_ok_and(|header| FAMILIES.contains(&header.family())) {
            self.files.push(ModelFile { name, path, bytes: found.len() });
        }
    }
}

/// Returns the name of the blob that is the model of a manifest.
fn blob(manifest: &Path) -> Option<String> {
    let bytes = disk::read_named(manifest, LARGEST_MANIFEST).ok()?;
    let manifest: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    let layers = manifest["layers"].as_array()?;
    let digest = layers.iter().find(|layer| layer["mediaType"] == MODEL_LAYER)?["digest"].as_str()?;
    let sum = digest.strip_prefix("sha256:")?;
    let plain = !sum.is_empty() && sum.chars().all(|c| c.is_ascii_hexdigit());
    plain.then(|| format!("sha256-{sum}"))
}

/// Returns the file of a model: the one that its name is the path of, whatever that is, or the one that was found under
/// its name. Blocks on the disk.
///
/// # Errors
/// When there is none.
#[cfg(feature = "embedded")]
pub fn file_of(model: &str, folders: &ModelFolders) -> Result<ModelFile, Error> {
    if ModelFolders::is_path(model) {
        return Ok(configured(&folders.expanded(Path::new(model))));
    }
    let files = look(folders);
    if files.is_empty() && !model.is_empty() {
        let none = format!("there is no model file {model} on this computer");
        return Err(Error::new(ErrorKind::NoModel, none, none_found().hint));
    }
    if files.is_empty() {
        return Err(none_found());
    }
    files.iter().find(|file| file.name == model).cloned().ok_or_else(|| {
        let names: Vec<&str> = files.iter().take(3).map(|file| file.name.as_str()).collect();
        Error::new(
            ErrorKind::NoModel,
            format!("there is no model file {model} on this computer"),
            format!("There are {}. Choose one, or the path of a file, with --model or /model.", names.join(", ")),
        )
    })
}

/// Creates the error that no file was found.
#[cfg(feature = "embedded")]
pub fn none_found() -> Error {
    Error::new(
        ErrorKind::NoModel,
        "no model file was found on this computer",
        format!(
            "Set modelFile, or --model, to the path of a GGUF file of the families {}; Hugging Face's, Ollama's and LM \
             Studio's folders are looked through.",
            FAMILIES.join(", ")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::embedded::testing::header_of;

    fn put(path: PathBuf, bytes: &[u8]) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, bytes).expect("a file");
    }

    #[test]
    fn the_usual_folders_are_looked_through() {
        let home = tempfile::tempdir().expect("a folder");
        let at = |path: &str| home.path().join(path);
        let (model, other) = (header_of("qwen2"), header_of("bert"));
        let cached = ".cache/huggingface/hub/models--Q--C/snapshots/0a";
        put(at(&format!("{cached}/coder-1.5b-q4.gguf")), &model);
        put(at(&format!("{cached}/embedding.gguf")), &other);
        put(at(&format!("{cached}/big-00001-of-00002.gguf")), &model);
        put(at(&format!("{cached}/not.gguf")), b"GGU");
        put(at(".lmstudio/models/a/b/studio.GGUF"), &model);
        let manifest = |digest: &str| {
            format!(r#"{{"layers":[{{"mediaType":"x"}},{{"mediaType":"{MODEL_LAYER}","digest":"{digest}"}}]}}"#)
        };
        let library = ".ollama/models/manifests/registry.ollama.ai/library";
        put(at(&format!("{library}/qwen3/4b")), manifest("sha256:ab12").as_bytes());
        put(at(&format!("{library}/gone/latest")), manifest("sha256:ff").as_bytes());
        put(at(&format!("{library}/evil/latest")), manifest("sha256:../../../secret").as_bytes());
        put(at(".ollama/models/blobs/sha256-ab12"), &header_of("qwen3"));
        put(at(".ollama/models/secret"), &model);
        let folders = ModelFolders::usual(Some(home.path()), |_| None);
        let found = look(&folders);
        let names: Vec<&str> = found.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["coder-1.5b-q4", "qwen3:4b", "studio"]);
        assert_eq!(found[1].path, at(".ollama/models/blobs/sha256-ab12"));
        assert!(look(&ModelFolders::default()).is_empty());
        let configured = look(&ModelFolders { file: Some(at("studio.gguf")), ..folders });
        assert_eq!((configured[0].name.as_str(), configured.len()), ("studio", 3));
    }
}
