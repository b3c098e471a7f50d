//! Replaces every definition of the source files below some folders by itself, and removes nothing: not a byte may differ.
//!
//!     cargo bench --bench corpus -- FOLDER…
//!
//! `CORPUS_FILES` is the number of files at most, spread evenly over what is found; files over `CORPUS_LARGEST` bytes (131,072) are left out,
//! since each definition takes a parse of its file. Prints one line a language; ends with 1 if a byte
//! differed, or a definition was refused that does not share its text with another. Without a folder it does nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nebula::code::{CodeFault, SourceFile, SourceLanguage, replace};

#[derive(Default)]
struct Tally {
    files: usize,
    broken: usize,
    definitions: usize,
    shared: usize,
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    let folders = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let mut paths = Vec::new();
    folders.for_each(|folder| gather(Path::new(&folder), &mut paths));
    paths.sort();
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|set| set.parse().ok()).unwrap_or(usual);
    let (most, largest) = (number("CORPUS_FILES", usize::MAX), number("CORPUS_LARGEST", 128 << 10));
    let found = paths.len();
    paths.retain(|path| path.metadata().is_ok_and(|meta| meta.len() <= largest as u64));
    println!("{found} files, {} of them over {largest} bytes", found - paths.len());
    let step = paths.len().div_ceil(most.max(1)).max(1);
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for path in paths.iter().step_by(step) {
        let name = path.to_string_lossy();
        let Some(language) = SourceLanguage::of_path(&name) else { continue };
        let Ok(file) =
            std::fs::read(path).map_err(drop).and_then(|bytes| SourceFile::read(&name, &bytes).map_err(drop))
        else {
            continue;
        };
        each(&file, tallies.entry(format!("{language:?}")).or_default());
    }
    for (language, tally) in &tallies {
        let Tally { files, broken, definitions, shared, wrong } = tally;
        println!(
            "{language}: {files} files ({broken} with syntax errors), {definitions} definitions, {shared} share their text with another, {} wrong",
            wrong.len()
        );
        wrong.iter().take(20).for_each(|line| println!("  {line}"));
    }
    ExitCode::from(u8::from(tallies.values().any(|tally| !tally.wrong.is_empty())))
}

/// Gathers the source files below a folder; links are not followed.
fn gather(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => gather(&entry.path(), paths),
            Ok(kind) if kind.is_file() && SourceLanguage::of_path(&entry.path().to_string_lossy()).is_some() => {
                paths.push(entry.path());
            }
            _ => {}
        }
    }
}

/// Replaces each definition of a file by itself.
fn each(file: &SourceFile, tally: &mut Tally) {
    tally.files += 1;
    tally.broken += usize::from(!file.errors.is_empty());
    for at in 0..file.nodes.len() {
        tally.definitions += 1;
        match replace(file, at, file.text_of(at)) {
            Ok(new) if new.file.text == file.text && new.at == at => {}
            Ok(_) => tally.wrong.push(format!("{}: other bytes", file.id(at))),
            Err(CodeFault::Others { .. }) if shares(file, at) => tally.shared += 1,
            Err(fault) => tally.wrong.push(format!("{}: {fault}", file.id(at))),
        }
    }
}

/// Returns whether another definition has the same bytes: `a, b = 1, 2`.
fn shares(file: &SourceFile, at: usize) -> bool {
    (0..file.nodes.len()).any(|other| other != at && file.nodes[other].range == file.nodes[at].range)
}
