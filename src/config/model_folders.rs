//! Where model files are: the one that is configured, and the folders of the tools that keep some.

use std::path::{Path, PathBuf};

/// Where model files are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelFolders {
    /// The file that is configured.
    pub file: Option<PathBuf>,
    /// Hugging Face's cache.
    pub hugging_face: Option<PathBuf>,
    /// Ollama's models.
    pub ollama: Option<PathBuf>,
    /// LM Studio's models.
    pub lm_studio: Vec<PathBuf>,
}

impl ModelFolders {
    /// Returns the folders below `home`, or where the variables of those tools say; `env` gives a variable.
    pub fn usual(home: Option<&Path>, env: impl Fn(&str) -> Option<String>) -> Self {
        let at = |variable: &str| env(variable).map(PathBuf::from);
        let below = |path: &str| home.map(|home| home.join(path));
        let cache = at("HF_HOME").or_else(|| below(".cache/huggingface"));
        Self {
            file: None,
            hugging_face: at("HF_HUB_CACHE").or_else(|| cache.map(|cache| cache.join("hub"))),
            ollama: at("OLLAMA_MODELS").or_else(|| below(".ollama/models")),
            lm_studio: [".lmstudio/models", ".cache/lm-studio/models"].into_iter().filter_map(below).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_those_tools_win() {
        let env = |name: &str| match name {
            "HF_HOME" => Some("/h".to_string()),
            "OLLAMA_MODELS" => Some("/o".to_string()),
            _ => None,
        };
        let folders = ModelFolders::usual(Some(Path::new("/home/p")), env);
        assert_eq!(folders.hugging_face.as_deref(), Some(Path::new("/h/hub")));
        assert_eq!(folders.ollama.as_deref(), Some(Path::new("/o")));
        assert_eq!(folders.lm_studio.len(), 2);
    }
}
