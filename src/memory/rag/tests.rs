use super::*;

fn indexed(path: &str, mtime: i64) -> IndexedFile {
    IndexedFile { path: path.into(), mtime_ns: mtime, size: 1 }
}

fn found(rag: &Rag, words: &str) -> Vec<String> {
    rag.search("/p", words, 5).unwrap().into_iter().map(|f| format!("{}:{}-{}", f.path, f.lines.0, f.lines.1)).collect()
}

fn filled(dir: &Path) -> (Rag, SourceId) {
    let rag = Rag::open(&dir.join("rag.db")).unwrap();
    let source = rag.add("/p", "/p").unwrap();
    let other = rag.add("/q", "/q").unwrap();
    rag.put(other, &[(&indexed("other.md", 1), "rounding elsewhere")]).unwrap();
    rag.put(
        source,
        &[
            (&indexed("src/money.rs", 1), "fn roundHalfEven() {}\n// amounts in cents\n"),
            (&indexed("docs/価格.md", 1), "在庫の価格表を丸める規則について\n"),
            (&indexed("a.bin", 1), ""),
            (&indexed("long.txt", 1), &format!("{}\nneedle prices\n", "filler\n".repeat(60))),
        ],
    )
    .unwrap();
    (rag, source)
}

#[test]
fn passages_are_found_by_words_and_parts() {
    let dir = tempfile::tempdir().unwrap();
    let (rag, _) = filled(dir.path());
    assert_eq!(found(&rag, "how do we round an amount?"), ["src/money.rs:1-2"]);
    assert_eq!(found(&rag, "価格 丸め"), ["docs/価格.md:1-1"]);
    assert_eq!(found(&rag, "規"), ["docs/価格.md:1-1"]);
    assert_eq!(found(&rag, "price"), ["long.txt:51-62"], "stems");
    assert_eq!(found(&rag, "undHalf"), ["src/money.rs:1-2"], "parts of words");
    assert_eq!(found(&rag, "money.rs"), ["src/money.rs:1-2"], "paths");
    assert_eq!(found(&rag, "elsewhere"), [""; 0], "other projects");
    assert_eq!(found(&rag, "the of \" * -"), [""; 0]);
}

#[test]
fn only_what_changed_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let (rag, source) = filled(dir.path());
    let now = [indexed("src/money.rs", 1), indexed("long.txt", 2), indexed("new.md", 1)];
    let plan = rag.plan(source, &now).unwrap();
    assert_eq!(plan, UpdatePlan { read: vec![1, 2], gone: vec!["a.bin".into(), "docs/価格.md".into()] });
    rag.put(source, &[(&now[1], "now short"), (&now[2], "new words")]).unwrap();
    rag.forget(source, &plan.gone).unwrap();
    rag.updated(source).unwrap();
    assert_eq!(rag.plan(source, &now).unwrap(), UpdatePlan::default());
    assert_eq!(found(&rag, "needle 価格"), [""; 0]);
    assert_eq!(found(&rag, "short"), ["long.txt:1-1"]);
    let listed = rag.sources("/p").unwrap();
    assert_eq!((listed.len(), listed[0].files, listed[0].passages), (1, 3, 3));
    assert!(listed[0].updated.is_some());
}

#[test]
fn a_source_is_forgotten_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (rag, _) = filled(dir.path());
    assert!(rag.remove("/p", "/p").unwrap());
    assert!(!rag.remove("/p", "/p").unwrap());
    assert_eq!(found(&rag, "round"), [""; 0]);
    assert!(rag.sources("/p").unwrap().is_empty());
}

#[test]
fn a_useless_index_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rag.db");
    fs::write(&path, "no database at all, and long enough to be read as a header of one".repeat(80)).unwrap();
    let rag = Rag::open(&path).unwrap();
    rag.add("/p", "/p").unwrap();
    drop(rag);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    assert!(Rag::open(&path).unwrap().sources("/p").unwrap().is_empty());
}

#[test]
fn what_another_process_indexed_meanwhile_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (rag, source) = filled(dir.path());
    let other = Rag::open(&dir.path().join("rag.db")).unwrap();
    let file = indexed("new.md", 7);
    rag.put(source, &[(&file, "first words")]).unwrap();
    other.put(source, &[(&file, "never read")]).unwrap();
    assert_eq!(found(&rag, "first"), ["new.md:1-1"]);
    other.put(source, &[(&indexed("new.md", 8), "second words")]).unwrap();
    assert_eq!((found(&rag, "first").len(), found(&rag, "second").len()), (0, 1));
}

#[cfg(unix)]
#[test]
fn the_index_is_the_persons_own() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("home/rag.db");
    drop(Rag::open(&path).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}
