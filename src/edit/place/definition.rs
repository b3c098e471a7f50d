//! Edits of one definition of a source file, guarded by its hash.

use super::splice::{Done, TargetText};
#[cfg(feature = "code")]
use super::splice::{Splice, sure};
#[cfg(feature = "code")]
use crate::code::{self, SourceFile};

/// Places the replacement of the definition of this name. It stands in that one place, or nowhere. The error is for the
/// model.
#[cfg(feature = "code")]
pub(super) fn place(target: &TargetText, path: &str, name: &str, expect: &str, text: &str) -> Result<Done, String> {
    let file = SourceFile::read(path, target.text.as_bytes()).map_err(|fault| fault.to_string())?;
    let at = (0..file.nodes.len()).find(|at| file.name(*at) == name);
    let at = at.ok_or_else(|| format!("nothing in it is called {name} any more: look at its outline"))?;
    let new = code::replace(&file, at, text).map_err(|fault| fault.to_string());
    if let Err(stale) = file.expect(at, expect) {
        // Unless what stands there since it was viewed is this very text.
        let stands = new.is_ok_and(|new| new.file.text == file.text);
        let done = Done { stages: Vec::new(), found: sure(true), stands };
        return stands.then_some(done).ok_or_else(|| stale.to_string());
    }
    let new = new?;
    let splice = Splice { range: file.nodes[at].range.clone(), new: new.file.text[new.range].to_string() };
    Ok(Done { stages: vec![vec![splice]], found: sure(true), stands: false })
}

/// Says that this program reads no definitions.
#[cfg(not(feature = "code"))]
pub(super) fn place(_: &TargetText, _: &str, _: &str, _: &str, _: &str) -> Result<Done, String> {
    Err("this program was built without definitions of source files".to_string())
}
