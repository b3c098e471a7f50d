//! A whole new text for a file.

use super::entities::entities;
use crate::edit::locate::is_comment_dots;
use crate::edit::{Edit, Format, bytes};

/// Returns the new text of an existing file: line endings and final newline follow the old one. The error is for the
/// model.
pub(in crate::edit) fn whole(old: &str, content: &str, edit: &Edit, path: &str) -> Result<String, String> {
    let content = plain(content, edit, path);
    let left_out = content.lines().find(|l| is_comment_dots(l) && !old.lines().any(|o| o.trim() == l.trim()));
    if let Some(line) = left_out {
        return Err(format!(
            "the new text leaves lines out (`{}`), so the whole file is not known. Write every line, or change only a part \
             of the file with a search and replace.",
            line.trim()
        ));
    }
    let content = match edit.format {
        Format::WHOLE => without_heading(&content, Some(old), path),
        _ => &content,
    };
    if edit.format == Format::WHOLE && !old.trim().is_empty() && (content.trim().is_empty() || is_path(content, path)) {
        return Err(
            "the block holds no text for the file, so nothing of it was used. Write the file's whole text in it."
                .into(),
        );
    }
    Ok(bytes::fit_whole(content, old))
}

/// Returns whether a text is nothing but the file's path, as a comment or bare.
fn is_path(content: &str, path: &str) -> bool {
    let bare = content.trim().trim_matches(['#', '/', '-', ';', '<', '>', '!', '*', '`', '"', '\'', ' ']);
    let name =
        bare.split_once(':').map_or(bare, |(label, rest)| if rest.trim().is_empty() { label } else { rest }).trim();
    name == path || path.rsplit('/').next() == Some(name)
}

/// Returns the text of a file that is made.
pub(in crate::edit) fn made(content: &str, edit: &Edit, path: &str) -> String {
    let content = plain(content, edit, path);
    match edit.format {
        Format::WHOLE => without_heading(&content, None, path).to_string(),
        _ => content,
    }
}

/// Decodes entities in content, where they can be nothing else: no bare `<` or `>` stands beside them, and the file is
/// not markup itself.
fn plain(content: &str, edit: &Edit, path: &str) -> String {
    const MARKUP: [&str; 8] = ["html", "htm", "xml", "svg", "md", "vue", "xhtml", "svelte"];
    let markup = path.rsplit_once('.').is_some_and(|(_, ext)| MARKUP.contains(&ext.to_ascii_lowercase().as_str()));
    if edit.format != Format::XML || markup || content.contains(['<', '>']) {
        return content.to_string();
    }
    match entities(content) {
        Some(plain) if plain.contains(['<', '>']) => plain,
        _ => content.to_string(),
    }
}

/// Returns the text without a first line that is nothing but the path in a comment, unless the file has that line. A
/// file that is made may well begin with its path: only a line that says so (`# filepath: a.py`) is none of it.
fn without_heading<'c>(content: &'c str, old: Option<&str>, path: &str) -> &'c str {
    const LABELS: [&str; 4] = ["filepath:", "file path:", "file:", "path:"];
    let Some((first, rest)) = content.split_once('\n') else { return content };
    let bare = first.trim().trim_start_matches(['#', '/', '-', ';', '<', '!', '*', ' ']);
    let bare = bare.trim_end_matches(['-', '>', '*', '/', ' ']);
    let label = LABELS.iter().find(|l| bare.get(..l.len()).is_some_and(|b| b.eq_ignore_ascii_case(l)));
    let name = label.map_or(bare, |l| bare[l.len()..].trim());
    let is_path = name == path || name.strip_prefix("./") == Some(path);
    let said = match old {
        Some(old) => old.lines().next() != Some(first),
        None => label.is_some(),
    };
    if is_path && bare.len() < first.trim().len() && said { rest } else { content }
}
