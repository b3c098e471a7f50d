//! `check` and `fix`.

use std::collections::HashSet;
use std::io::{BufRead, IsTerminal, Write};

use serde_json::{Value, json};

use super::Session;
use super::args;
use super::out::Out;
use super::read::select;
use crate::strand::check::{Checks, Diagnostic, render};
use crate::strand::findings::findings;
use crate::strand::id::DefId;
use crate::strand::issue::{self, Draft, Refusal};
use crate::strand::store::Error;

/// Whether the flags ask for a code.
fn wanted(args: &args::Check, code: &str) -> bool {
    if !(args.types || args.refs || args.effects || args.a11y) {
        return true;
    }
    let types = ["E0002", "E0101", "E0201", "E0202", "E0203", "E0204", "E0401", "E0402", "E0403", "E0404"];
    let refs = ["E0101", "E0102", "E0103", "E0104", "E0105", "E0106", "E0306", "E0501", "E0502"];
    let effects = ["E0301", "E0302", "E0303", "E0304", "E0305", "E0601"];
    args.types && types.contains(&code)
        || args.refs && refs.contains(&code)
        || args.effects && effects.contains(&code)
        || args.a11y && code == "E0701"
}

pub(super) fn check(s: &mut Session, out: &mut Out, args: &args::Check) -> Result<u8, Error> {
    let state = s.store.state();
    let scope: Option<HashSet<DefId>> = match &args.scope {
        Some(selector) => Some(select(state, selector)?.iter().map(|view| view.id).collect()),
        None => None,
    };
    let checks = Checks::full(state, &s.store.config().capabilities);
    let found = checks.all(state).filter(|found| scope.as_ref().is_none_or(|scope| scope.contains(&found.def)));
    let mut faults = render(state, found.filter(|found| wanted(args, found.fault.code().0)));
    let all_kinds = !(args.types || args.refs || args.effects || args.a11y);
    let hidden = hidden_findings(s);
    let merged = if all_kinds && scope.is_none() { findings(state) } else { Vec::new() };
    let merged: Vec<_> =
        merged.into_iter().filter(|finding| finding.is_notable() && !hidden.contains(&finding.id())).collect();
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

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The findings a person has put aside in this store.
pub fn hidden_findings(s: &Session) -> HashSet<String> {
    let conflicts = s.store.conflicts().unwrap_or_default();
    conflicts.into_iter().filter(|conflict| conflict.kind == "finding").map(|conflict| conflict.id).collect()
}

/// Faults with a patch, of one code or id if given.
fn patchable(faults: Vec<Diagnostic>, which: Option<&str>) -> Vec<Diagnostic> {
    let fits = |fault: &Diagnostic| which.is_none_or(|which| fault.code == which || fault.id == which);
    faults.into_iter().filter(|fault| fits(fault) && !fault.auto_patch.is_null()).collect()
}

pub(super) fn fix(s: &mut Session, out: &mut Out, args: &args::Fix) -> Result<u8, Error> {
    let which = args.which.as_deref().or(args.auto_patch.as_deref());
    if args.interactive {
        return interactive(s, out, which);
    }
    if args.apply {
        return apply(s, out, which);
    }
    if args.auto_patch.is_none() {
        return Err(Refusal::Usage("fix needs --auto-patch <code|id>, --apply or --interactive".to_owned()).into());
    }
    let patches = patchable(s.store.check(), which);
    patches.iter().for_each(|fault| out.value(&fault.auto_patch));
    Ok(0)
}

fn apply(s: &mut Session, out: &mut Out, which: Option<&str>) -> Result<u8, Error> {
    let mut applied = 0;
    for _ in 0..10 {
        let round = patchable(s.store.check(), which);
        let made = apply_round(s, &round)?;
        applied += made;
        if made == 0 {
            break;
        }
    }
    let fits = |fault: &Diagnostic| which.is_none_or(|which| fault.code == which || fault.id == which);
    let left = s.store.check().iter().filter(|fault| fits(fault)).count();
    out.answer(&format!("fixed {applied}, left {left}"), || json!({"applied": applied, "left": left}));
    Ok(0)
}

/// Applies the patches of one round as one bundle. A patch that an earlier one made void waits
/// for the next round. Returns how many were applied.
fn apply_round(s: &mut Session, faults: &[Diagnostic]) -> Result<usize, Error> {
    if faults.is_empty() {
        return Ok(0);
    }
    let issuer = s.issuer.bundled();
    let mut count = 0;
    s.store.transact(false, |state| {
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
    Ok(count)
}

fn interactive(s: &mut Session, out: &mut Out, which: Option<&str>) -> Result<u8, Error> {
    if !std::io::stdin().is_terminal() {
        return Err(Refusal::Usage("fix --interactive needs a terminal; use --apply".to_owned()).into());
    }
    let (mut refused, mut all) = (HashSet::new(), false);
    loop {
        let faults = patchable(s.store.check(), which);
        let Some(fault) = faults.into_iter().find(|fault| !refused.contains(&fault.id)) else { break };
        out.text(&out.fault(&fault));
        show_change(s, out, &fault.auto_patch);
        let answer = if all { "y".to_owned() } else { ask("apply? [y/n/a/q] ")? };
        match answer.as_str() {
            "y" | "a" => {
                all |= answer == "a";
                if apply_round(s, std::slice::from_ref(&fault))? == 0 {
                    refused.insert(fault.id);
                }
            }
            "q" => break,
            _ => {
                refused.insert(fault.id);
            }
        }
    }
    let left = s.store.check().len();
    out.line(&format!("{left} left"));
    Ok(0)
}

/// The definition before and after a patch, only the lines that differ.
fn show_change(s: &Session, out: &Out, patch: &Value) {
    let Ok(draft) = Draft::from_json(patch) else { return };
    let mut after = crate::strand::state::State::new();
    after.apply(s.store.ops());
    let Ok(ops) = issue::issue(&mut after, &draft, &s.issuer) else { return };
    let Some(def) = ops.first().map(crate::strand::op::Op::target) else { return };
    let old = s.store.state().view(def).map_or("", |view| view.text.as_str());
    let new = after.view(def).map_or("", |view| view.text.as_str());
    old.lines().filter(|line| !new.lines().any(|other| other == *line)).for_each(|line| out.line(&format!("- {line}")));
    new.lines().filter(|line| !old.lines().any(|other| other == *line)).for_each(|line| out.line(&format!("+ {line}")));
}

fn ask(question: &str) -> Result<String, Error> {
    let at = |error| Error::io("read", std::path::Path::new("stdin"), error);
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(question.as_bytes()).and_then(|()| stdout.flush()).map_err(at)?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(at)?;
    Ok(if line.is_empty() { "q".to_owned() } else { line.trim().to_lowercase() })
}
