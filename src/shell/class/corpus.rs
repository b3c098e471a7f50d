//! The corpus: real command lines and the class of each.

use super::disk;
use super::{Around, Class, assess};

const LINES: &str = include_str!("../../../tests/fixtures/commands/classes.tsv");

#[test]
fn every_line_of_the_corpus_has_its_class() {
    let root = tempfile::tempdir().expect("a folder");
    for name in ["a", "a.txt", "b", "meta.json", "out.txt"] {
        std::fs::write(root.path().join(name), "x\n").expect("written");
    }
    let around = Around { root: root.path().into(), folder: root.path().into(), ..Around::default() };
    let lines: Vec<_> = LINES.lines().filter_map(|line| line.split_once('\t')).collect();
    assert!(lines.len() >= 400, "{}", lines.len());
    let wrong: Vec<String> = lines
        .into_iter()
        .filter_map(|(class, text)| {
            let mut found = assess(text, &around, false);
            disk::look(&mut found, &around, "/usr/bin:/bin");
            (found.class.word() != class).then(|| format!("{text}: {} and not {class}", found.class.word()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_line_that_does_more_than_read_reads_once_it_is_wrapped() {
    // What reads runs unasked.
    let root = tempfile::tempdir().expect("a folder");
    let around = Around { root: root.path().into(), folder: root.path().into(), ..Around::default() };
    let lines = LINES.lines().filter_map(|line| line.split_once('\t'));
    for (_, text) in lines.filter(|(class, _)| *class != Class::Read.word()) {
        let quoted = text.replace('\'', "'\\''");
        for wrapped in [
            format!("ls; {text}"),
            format!("echo $({text})"),
            format!("cat <({text})"),
            format!("{{ {text}\n}}"),
            format!("if ls; then {text}\nfi"),
            format!("sh -c '{quoted}'"),
            format!("ls | xargs -I% sh -c '{quoted}'"),
        ] {
            let found = assess(&wrapped, &around, false).class;
            assert_ne!(found, Class::Read, "{wrapped}");
        }
    }
}
