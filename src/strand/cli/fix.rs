//! `check` and `fix`.

use std::collections::HashSet;
use std::io::{BufRead, IsTerminal, Write};

use serde_json::{Value, json};

use super::args;
use super::out::{Writer, plural};
use super::read::select;
use super::session::Session;
use crate::strand::check::{Diagnostic, render};
use crate::strand::conflicts::PutAside;
use crate::strand::findings::{Finding, findings};
use crate::strand::id::{DefId, OpId};
use crate::strand::issue::{self, Draft, Refusal};
use crate::strand::state::View;
use crate::strand::store::Error;

const TYPES: [&str; 10] = ["E0002", "E0101", "E0201", "E0202", "E0203", "E0204", "E0401", "E0402", "E0403", "E0404"];
const REFS: [&str; 9] = ["E0101", "E0102", "E0103", "E0104", "E0105", "E0106", "E0306", "E0501", "E0502"];
const EFFECTS: [&str; 6] = ["E0301", "E0302", "E0303", "E0304", "E0305", "E0601"];
const A11Y: [&str; 1] = ["E0701"];
const MERGING: [&str; 6] = ["W0901", "W0902", "W0903", "W0904", "W0905", "W0906"];
/// The codes of all faults that a store can have.
const CODES: [&[&str]; 5] = [&TYPES, &REFS, &EFFECTS, &A11Y, &MERGING];

/// Returns whether the flags ask for a code.
fn wanted(args: &args::Check, code: &str) -> bool {
    if !(args.types || args.refs || args.effects || args.a11y) {
        return true;
    }
    args.types && TYPES.contains(&code)
        || args.refs && REFS.contains(&code)
        || args.effects && EFFECTS.contains(&code)
        || args.a11y && A11Y.contains(&code)
}

pub(super) fn check(s: &mut Session, out: &mut Writer, args: &args::Check) -> Result<u8, Error> {
    let scope: Option<HashSet<DefId>> = match &args.scope {
        Some(selector) => Some(select(s.store.state(), selector)?.iter().map(|view| view.id).collect()),
        None => None,
    };
    let checks = s.store.checks()?;
    let state = s.store.state();
    let found = checks.all(state).filter(|found| scope.as_ref().is_none_or(|scope| scope.contains(&found.def)));
    let mut faults = render(state, found.filter(|found| wanted(args, found.fault.code().0)));
    let all_kinds = !(args.types || args.refs || args.effects || args.a11y);
    let hidden = PutAside::of(&s.store)?;
    let merged = if all_kinds && scope.is_none() { findings(state, args.all) } else { Vec::new() };
    let is_reported = |finding: &Finding| !hidden.has(finding);
    let merged: Vec<_> = merged.into_iter().filter(is_reported).collect();
    let errors = faults.iter().filter(|fault| !fault.warning).count();
    let warnings = faults.len() - errors + merged.len();
    if out.json {
        let with_warnings = args.a11y || args.deny_warnings || args.all;
        faults.retain(|fault| with_warnings || !fault.warning);
        faults.iter().for_each(|fault| out.value(&fault.to_json()));
        if with_warnings {
            merged.iter().for_each(|finding| out.value(&finding.to_json()));
        }
    } else {
        faults.iter().for_each(|fault| out.text(&out.fault(fault)));
        for finding in &merged {
            out.line(&format!("warning[{}] {}: {}", finding.code, finding.location, finding.message));
        }
        out.line(&format!("{}, {}", plural(errors, "error"), plural(warnings, "warning")));
    }
    if args.stats {
        let stats = checks.stats;
        out.note(&format!(
            "checked {}, reused {}, rehashed {}, rounds {}",
            stats.checked, stats.reused, stats.rehashed, stats.rounds
        ));
    }
    let counted = args.deny_warnings || args.a11y;
    Ok(u8::from(errors > 0 || (counted && warnings > 0)))
}

/// Returns faults with a patch, of one code or id if given.
fn patchable(faults: Vec<Diagnostic>, which: Option<&str>) -> Vec<Diagnostic> {
    let fits = |fault: &Diagnostic| which.is_none_or(|which| fault.code == which || fault.id == which);
    faults.into_iter().filter(|fault| fits(fault) && !fault.auto_patch.is_null()).collect()
}

pub(super) fn fix(s: &mut Session, out: &mut Writer, args: &args::Fix) -> Result<u8, Error> {
    let which = args.which.as_deref().or(args.auto_patch.as_deref());
    if let Some(which) = which {
        known(which)?;
    }
    if args.interactive {
        return interactive(s, out, which);
    }
    if args.apply {
        return apply(s, out, which);
    }
    if args.auto_patch.is_none() {
        return Err(Refusal::Usage("fix needs --auto-patch <code|id>, --apply or --interactive".to_owned()).into());
    }
    let patches = patchable(s.store.check()?, which);
    patches.iter().for_each(|fault| out.value(&fault.auto_patch));
    let wanted = |finding: &&Finding| which.is_some_and(|which| finding.code == which || finding.id() == which);
    let merged = findings(s.store.state(), false);
    let drafts: Vec<&Value> = merged.iter().filter(wanted).map(|finding| &finding.draft).collect();
    drafts.iter().filter(|draft| !draft.is_null()).for_each(|draft| out.value(draft));
    if patches.is_empty() && drafts.iter().all(|draft| draft.is_null()) {
        out.note(&format!("nothing that {} names has an auto-patch", which.unwrap_or_default()));
    }
    Ok(0)
}

/// Checks that a code exists, alone or with a place, so that a typing mistake is not taken for a clean program.
fn known(which: &str) -> Result<(), Refusal> {
    let code = which.split_once('@').map_or(which, |(code, _)| code);
    if CODES.iter().any(|codes| codes.contains(&code)) {
        return Ok(());
    }
    Err(Refusal::Usage(format!("there is no code '{code}'; 'strand check' tells the codes and ids of all faults")))
}

fn apply(s: &mut Session, out: &mut Writer, which: Option<&str>) -> Result<u8, Error> {
    let mut ids = Vec::new();
    let mut applied = 0;
    for _ in 0..10 {
        let round = patchable(s.store.check()?, which);
        let (made, ops) = apply_round(s, &round)?;
        applied += made;
        ids.extend(ops);
        if made == 0 {
            break;
        }
    }
    let fits = |fault: &Diagnostic| which.is_none_or(|which| fault.code == which || fault.id == which);
    let left = s.store.check()?.iter().filter(|fault| fits(fault)).count();
    let value = || json!({"applied": applied, "left": left, "op-ids": ids});
    let lines: Vec<String> = ids.iter().map(OpId::to_string).chain([format!("fixed {applied}, left {left}")]).collect();
    out.answer(&lines.join("\n"), value);
    Ok(0)
}

/// Applies the patches of one round as one bundle. A patch that an earlier one made void waits
/// for the next round. Returns how many were applied, and their ops.
fn apply_round(s: &mut Session, faults: &[Diagnostic]) -> Result<(usize, Vec<OpId>), Error> {
    if faults.is_empty() {
        return Ok((0, Vec::new()));
    }
    let issuer = s.issuer.bundled();
    let mut count = 0;
    let written = s.store.transact(false, |state| {
        let mut ops = Vec::new();
        for fault in faults {
            let draft = Draft::from_json(&fault.auto_patch)?;
            if let Ok(made) = issue::issue(state, &draft, &issuer.because(&format!("fix:{}", fault.code))) {
                count += 1;
                ops.extend(made);
            }
        }
        Ok(ops)
    })?;
    Ok((count, written.ops.iter().map(|op| op.id).collect()))
}

fn interactive(s: &mut Session, out: &mut Writer, which: Option<&str>) -> Result<u8, Error> {
    if !std::io::stdin().is_terminal() {
        return Err(Refusal::Usage("fix --interactive needs a terminal; use --apply".to_owned()).into());
    }
    let (mut passed, mut all, mut fixed) = (HashSet::new(), false, 0);
    loop {
        let faults = patchable(s.store.check()?, which);
        let Some(fault) = faults.into_iter().find(|fault| !passed.contains(&fault.id)) else { break };
        out.text(&out.fault(&fault));
        show_change(s, out, &fault.auto_patch);
        let answer = if all { Answer::Yes } else { ask()? };
        match answer {
            Answer::Yes | Answer::All => {
                all |= answer == Answer::All;
                match apply_round(s, std::slice::from_ref(&fault))?.0 {
                    0 => out.line("this patch does not apply any more"),
                    made => fixed += made,
                }
                // A fault that reappeared would be offered for ever.
                passed.insert(fault.id);
            }
            Answer::No => {
                passed.insert(fault.id);
            }
            Answer::Quit => break,
        }
        out.line("");
    }
    let fits = |fault: &Diagnostic| which.is_none_or(|which| fault.code == which || fault.id == which);
    let left = s.store.check()?.iter().filter(|fault| fits(fault)).count();
    out.line(&format!("fixed {fixed}, left {left}"));
    Ok(0)
}

/// Prints the definition before and after a patch, only the lines that differ.
fn show_change(s: &mut Session, out: &Writer, patch: &Value) {
    let Ok(draft) = Draft::from_json(patch) else { return };
    // One that is to come back has no text now.
    let targets =
        |view: Option<&View>| view.filter(|view| view.visible()).map_or(String::new(), |view| view.text().to_owned());
    let issuer = &s.issuer;
    let made = s.store.rehearse_write(
        |state| issue::issue(state, &draft, issuer),
        |state, ops| ops.first().map(|op| (op.target(), targets(state.view(op.target())))),
    );
    let Ok((_, Some((def, after)))) = made else { return };
    out.text(&out.change(&targets(s.store.state().view(def)), &after));
}

/// The answer of a person to a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    All,
    Quit,
}

/// Asks until there is an answer. The end of input is a no to all that is left.
fn ask() -> Result<Answer, Error> {
    let at = |error| Error::io("read", std::path::Path::new("stdin"), error);
    loop {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(b"apply? [y/n/a/q] ").and_then(|()| stdout.flush()).map_err(at)?;
        drop(stdout);
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map_err(at)?;
        return Ok(match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Answer::Yes,
            "n" | "no" => Answer::No,
            "a" | "all" => Answer::All,
            "q" | "quit" => Answer::Quit,
            _ if line.is_empty() => Answer::Quit,
            _ => {
                println!("answer y, n, a or q: yes, no, all that are left, or quit");
                continue;
            }
        });
    }
}
