//! A command that waits for the person: the card that they are shown, and their answer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::judge::JudgedCommand;
use crate::agent::session::approval::run_or_not;
use crate::agent::session::context::SessionContext;
use crate::agent::turn::step::call_item::CallItem;
use crate::git::{self, Repository};
use crate::messages::records::localized;
use crate::messages::{agent as say, card as words, verbs};
use crate::protocol::{
    Approval, CallState, CardPart, CommandCard, CommandClass, CommandDecision, Question, QuestionId,
};
use crate::shell::class::rules::{RuleDecision, prints_keys, proposed};
use crate::shell::class::{Class, ClassifiedCommand, Reason, SearchedKeys, Unknown, document_lines, hidden};
use crate::shell::{Environment, Grant, Keeper};
use crate::text::clean::{clean, numbered};
use crate::text::size;
use crate::tools::CommandCall;

/// The time limit for git to list what it does not have.
const PATIENCE: Duration = Duration::from_millis(500);
/// Files that git does not have, as they are listed.
const LISTED: usize = 6;
/// Lines of a command's text in its question; the whole text is on the card, and below its entry in the conversation.
const QUESTION_LINES: usize = 12;

/// Asks the person about a command, in the place of the card that has this name, and waits; none when interrupted.
/// `said`: what became of the rule that they asked for on the card before.
pub async fn ask(
    context: &Arc<SessionContext>,
    item: &mut CallItem,
    (id, call, said): (QuestionId, &CommandCall, Option<String>),
    judged: &JudgedCommand,
    stop: &CancellationToken,
) -> Option<CommandDecision> {
    let paths: Vec<PathBuf> = judged.met.iter().flat_map(|met| met.paths.clone()).collect();
    let root = judged.around.root.clone();
    let not_in_git = tokio::task::spawn_blocking(move || not_in_git(&root, &paths)).await.unwrap_or_default();
    let approval = context.settings().approval;
    let mut card = card(approval, call, judged, not_in_git);
    card.asks.splice(0..0, said);
    if let Some(why) = &judged.unguarded
        && !context.services.reported_unguarded_policy.swap(true, Ordering::Relaxed)
    {
        let why = localized(why);
        card.asks.push(if approval == Approval::All { words::all_asks(&why) } else { words::review_asks(&why) });
    }
    let card = masked(card, &context.services.shell.environment);
    let text = question(&card);
    let choices = run_or_not();
    item.set(&context.events, CallState::Asking).await;
    let question = Question { id, text, choices, permission: true, card: Some(Arc::new(card)), hold: None };
    context.approvals.ask_command(question, stop).await
}

/// Masks the values of secrets in what a card shows, and notes which lines of that are no commands. The text that would
/// be run, and edited, stays as it is.
fn masked(card: CommandCard, environment: &Environment) -> CommandCard {
    let masked = |text: String| environment.masked(&text);
    let parts = card.parts.into_iter().map(|part| CardPart { text: masked(part.text), ..part }).collect();
    let text = masked(card.text);
    CommandCard {
        document_lines: document_lines(&text),
        text,
        why: card.why.map(masked),
        parts,
        asks: card.asks.into_iter().map(masked).collect(),
        rule: masked(card.rule),
        ..card
    }
}

/// Returns what the person is asked where there is no card: in a line, or a small window.
fn question(card: &CommandCard) -> String {
    let why = card.why.as_ref().map_or(String::new(), |why| format!("\n{why}"));
    let mut bounds = vec![
        words::class_line(&verbs::class(card.class.word()), &card.class_why),
        card.keeper.clone(),
        card.grant.clone(),
    ];
    if card.parts.len() > 1 || card.parts.first().is_some_and(|part| part.note != card.class_why) {
        let part = |part: &CardPart| words::part_line(&verbs::class(part.class.word()), &part.text, &part.note);
        bounds.splice(1..1, card.parts.iter().map(part));
    }
    bounds.splice(1..1, card.asks.iter().cloned());
    bounds.extend(card.not_in_git.iter().map(|(path, size, why)| words::not_in_git_line(path, size, why)));
    bounds.extend(Some(card.not_kept.clone()).filter(|line| !line.is_empty()));
    words::run_this(&why, &shortened(&card.text), &bounds.join("\n"))
}

/// Returns a command's text for a question.
pub fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut lines_shown: Vec<String> =
        lines.iter().take(QUESTION_LINES).map(|line| format!("  $ {}", clean(line))).collect();
    if lines.len() > QUESTION_LINES {
        lines_shown.push(say::more_lines(&(lines.len() - QUESTION_LINES)));
    }
    lines_shown.join("\n")
}

fn card(
    approval: Approval,
    call: &CommandCall,
    judged: &JudgedCommand,
    not_in_git: Vec<(String, String, String)>,
) -> CommandCard {
    let (found, judgement) = (&judged.found, &judged.judgement);
    let asking = judgement.rules.iter().flatten().find(|rule| rule.decision == RuleDecision::Ask);
    let is_new = matches!(approval, Approval::Ask | Approval::Edits);
    let known = found.parts.iter().zip(&judgement.rules);
    let first = known.clone().find(|(part, rule)| part.needs_rule() && rule.is_none());
    let prints_keys = prints_keys(found, &judgement.rules);
    let all: Vec<String> =
        first.map(|(part, _)| part.words.iter().map_while(Clone::clone).collect()).unwrap_or_default();
    // No rule and no policy runs it unasked where it was to be previewed.
    let may_run_unasked = judged.lacks_preview.is_none();
    let count = (asking.is_none() && !found.secrets && may_run_unasked)
        .then(|| proposed(found, &judgement.rules))
        .flatten()
        .map_or(0, |prefix| prefix.len());
    CommandCard {
        text: printable(&call.text),
        document_lines: Default::default(),
        source: call.text.clone(),
        why: call.why.as_ref().map(|why| clean(why).into_owned()),
        class: class(found.class),
        class_why: match &found.unknown {
            Some(unknown) => unknown_words(unknown),
            None if prints_keys => words::secrets().into(),
            None if found.parts.len() > 1 => words::worst_decides().into(),
            None => reason_words(found.reason()).into(),
        },
        parts: parts(judged),
        not_in_git,
        grant: grant_words(judged, call),
        keeper: keeper_words(judged),
        not_kept: cannot_be_undone(judged),
        has_usual_bounds: judged.keeper == Keeper::Guard
            && !judged.is_own_unprotected
            && judged.lacks_preview.is_none()
            && found.class < Class::Reach
            && found.excluded.is_empty(),
        asks: asks(judged),
        rule: match asking {
            Some(rule) => words::rule_asks(&rule.words()),
            None => rule_note(judged),
        },
        prefix: if count == 0 { (Vec::new(), 0) } else { (all, count) },
        may_network: judged.has_sandbox && judgement.grant != Grant::Online,
        no_preview: no_preview(judged, call),
        may_review: is_new
            && may_run_unasked
            && judged.is_guarded()
            && found.class < Class::Reach
            && asking.is_none()
            && !prints_keys,
    }
}

/// Returns that no rule meets a text, or which of its parts have none yet.
fn rule_note(judged: &JudgedCommand) -> String {
    let parts = judged.found.parts.iter().zip(&judged.judgement.rules).filter(|(part, _)| part.needs_rule());
    let (with, without): (Vec<_>, Vec<_>) = parts.partition(|(_, rule)| rule.is_some());
    if with.is_empty() || without.is_empty() {
        return words::no_rule().into();
    }
    let first_line = |(part, _): &(&ClassifiedCommand, _)| printable(part.text.lines().next().unwrap_or_default());
    words::no_rule_yet(&without.iter().map(first_line).collect::<Vec<_>>().join(", "))
}

/// Returns why there is no preview of a command; none: there may be one.
fn no_preview(judged: &JudgedCommand, call: &CommandCall) -> Option<String> {
    match judged.found.class {
        _ if call.background => Some(words::is_job().into()),
        Class::Reach | Class::Final => Some(words::sends().into()),
        _ if judged.judgement.grant == Grant::Online => Some(words::sends().into()),
        _ => judged.lacks_preview.as_ref().or(judged.no_view.as_ref()).map(|why| localized(why).into_owned()),
    }
}

fn parts(judged: &JudgedCommand) -> Vec<CardPart> {
    let part = |(i, part): (usize, &ClassifiedCommand)| {
        let met = judged.met.get(i).filter(|met| met.files > 0);
        let note = match met {
            Some(met) if met.more => words::more_than(met.files, &size::words(met.bytes)),
            Some(met) => words::meets(met.files, &size::words(met.bytes)),
            None => reason_words(part.reason).into(),
        };
        CardPart { class: class(part.class), text: printable(part.text.lines().next().unwrap_or_default()), note }
    };
    judged.found.parts.iter().enumerate().map(part).collect()
}

fn class(class: Class) -> CommandClass {
    match class {
        Class::Read => CommandClass::Read,
        Class::Work => CommandClass::Work,
        Class::Harm => CommandClass::Harm,
        Class::Reach => CommandClass::Reach,
        Class::Final => CommandClass::Final,
    }
}

/// Shows what is not seen.
fn printable(text: &str) -> String {
    let one = |c: char| match hidden(c) {
        true => numbered(c),
        false => c.to_string(),
    };
    text.chars().map(one).collect()
}

fn grant_words(judged: &JudgedCommand, call: &CommandCall) -> String {
    let limit = if call.background { say::in_background().into() } else { say::limit(&call.limit.as_secs()) };
    let bounds = match (judged.no_sandbox(), judged.judgement.grant) {
        (Some(words), _) => words,
        (None, Grant::Read) => words::grant_read(),
        (None, Grant::Workspace) => say::grant_workspace(),
        (None, Grant::Online) => say::grant_online(),
    };
    format!("{bounds} · {limit}")
}

fn keeper_words(judged: &JudgedCommand) -> String {
    let keeper = match (judged.keeper, judged.is_own_unprotected) {
        (Keeper::Guard, false) => say::guard(),
        (Keeper::Guard, true) => say::guard_not_strict(),
        (Keeper::Scan, false) => say::scan(),
        (Keeper::Scan, true) => say::scan_unprotected(),
        (Keeper::None | Keeper::View, _) => say::no_keeper(),
    };
    match judged.found.excluded.is_empty() || !matches!(judged.keeper, Keeper::Guard | Keeper::Scan) {
        true => keeper.into(),
        false => words::keeper_but(&keeper, &judged.found.excluded_words()),
    }
}

/// Returns what of the command no policy accepts.
fn asks(judged: &JudgedCommand) -> Vec<String> {
    let found = &judged.found;
    let named = |paths: &[String]| {
        let first = paths.iter().take(LISTED).map(|path| clean(path).into_owned()).collect::<Vec<_>>().join(", ");
        let more = paths.len().saturating_sub(LISTED);
        if more > 0 { format!("{first} {}", words::more_files(more)) } else { first }
    };
    let later = (!found.acts_later.is_empty()).then(|| words::asks_acts_later(&named(&found.acts_later)));
    let paths: Vec<String> = found.excluded.iter().map(|(path, _)| path.clone()).collect();
    let excluded = (!paths.is_empty()).then(|| words::excluded_own(&named(&paths)));
    let unkept = found.unkept.as_ref().map(|why| localized(why).into_owned());
    let searched = found.searched.as_ref().filter(|_| prints_keys(found, &judged.judgement.rules));
    let searched = searched.map(|keys| match keys {
        SearchedKeys::Found(path) => words::asks_searched(&clean(path)),
        SearchedKeys::Unseen => words::asks_unseen().into(),
    });
    let private = found.private.as_ref().map(|path| words::asks_private(&clean(path)));
    let lacking = judged.lacks_preview.as_ref().map(|why| words::asks_no_preview(&localized(why)));
    lacking.into_iter().chain(later).chain(excluded).chain(unkept).chain(private).chain(searched).collect()
}

/// Returns in one line the effects that could not be undone.
fn cannot_be_undone(judged: &JudgedCommand) -> String {
    let words = match judged.found.class {
        Class::Final => words::final_not_undone(),
        Class::Reach => words::reach_not_undone(),
        _ => words::derived_not_kept(),
    };
    match judged.leaves_out.is_empty() || !matches!(judged.keeper, Keeper::Guard | Keeper::Scan) {
        true => words.into(),
        false => words::not_kept_and_excluded(&words, &judged.leaves_out.join(", ")),
    }
}

fn reason_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Reads => words::reads(),
        Reason::Secrets => words::secrets(),
        Reason::Searches => words::searches(),
        Reason::Runs => words::runs(),
        Reason::Writes => words::writes(),
        Reason::Sets => words::sets(),
        Reason::Removes => words::removes(),
        Reason::Overwrites => words::overwrites(),
        Reason::History => words::history(),
        Reason::Network => words::network(),
        Reason::Others => words::others(),
        Reason::Outside => words::outside(),
        Reason::Final => words::is_final(),
        Reason::Unclear => words::unclear(),
    }
}

fn unknown_words(unknown: &Unknown) -> String {
    match unknown {
        Unknown::Syntax => words::unknown_syntax().into(),
        Unknown::Name => words::unknown_name().into(),
        Unknown::Meaning(what) => words::unknown_meaning(what),
        Unknown::Hidden => words::unknown_hidden().into(),
        Unknown::Depth => words::unknown_depth().into(),
    }
}

/// Returns the files at and below these paths that git does not have: the path, its size, and why.
fn not_in_git(root: &std::path::Path, paths: &[PathBuf]) -> Vec<(String, String, String)> {
    let Ok(repository) = Repository::find(root) else { return Vec::new() };
    let untracked = match repository.not_tracked(paths, PATIENCE) {
        Ok(untracked) => untracked,
        Err(git::Error::NoRepository) => return Vec::new(),
        Err(error) => return vec![(words::git_did_not_tell(&error), String::new(), String::new())],
    };
    let row = |(path, ignored): &(String, bool)| {
        let bytes = repository.top().join(path).symlink_metadata().map_or(0, |about| about.len());
        let why = if *ignored { words::ignored() } else { words::untracked() };
        (clean(path).into_owned(), size::words(bytes), why.to_string())
    };
    let mut rows: Vec<_> = untracked.files.iter().take(LISTED).map(row).collect();
    let more = match (untracked.files.len().saturating_sub(LISTED), untracked.whole) {
        (0, true) => None,
        (n, true) => Some(words::more_files(n)),
        (n, false) => Some(words::more_than_files(n)),
    };
    rows.extend(more.map(|words| (words, String::new(), String::new())));
    rows
}
