//! The keys of the context in focus, from the table that binds them.

use super::page::{Content, KeyRow, Page};
use crate::messages::{hints, pages as say};
use crate::tui::action::{Action, Context};
use crate::tui::key_groups::{GROUPS, Group};
use crate::tui::keys::Keys;
use crate::tui::pane::id::PaneId;

/// Cells of the keys' column.
const KEYS: usize = 14;

/// Returns the help page for `context`, which `name` calls by its words. `session_diff`: the diff is that of the session,
/// of which nothing is decided and everything can be undone.
pub fn help(table: &Keys, context: Context, name: &str, session_diff: bool) -> Page {
    let left_out = if session_diff { hints::decide() } else { hints::undo() };
    let offered = |action| !(session_diff && context.decides(action));
    let mut sections: Vec<(String, Vec<KeyRow>)> = Vec::new();
    for around in std::iter::once(&context).chain(context.outer()) {
        let here = |g: &&Group| g.context != Context::Diff || g.section() != left_out;
        for group in GROUPS.iter().filter(|g| is_listed(g, context, *around)).filter(here) {
            let labels: Vec<String> =
                group.actions.iter().filter_map(|a| key(table, context, *around, *a, offered)).collect();
            // A context's own words for a key come before the general ones.
            let said = sections.iter().flat_map(|(_, rows)| rows).any(|r| r.keys == labels.join(" "));
            if labels.is_empty() || said {
                continue;
            }
            let mut keys = labels.join(" ");
            // Two long keys say their modifier once; time has its arrows.
            if let [one, other] = group.actions
                && (keys.len() > KEYS || *one == Action::BackInTime)
            {
                keys = table.pair(context, [*one, *other]).unwrap_or(keys);
            }
            let row = KeyRow { keys, help: group.help().into() };
            match sections.iter_mut().find(|(s, _)| s == group.section()) {
                Some((_, rows)) => rows.push(row),
                None => sections.push((group.section().into(), vec![row])),
            }
        }
    }
    // What works everywhere comes last.
    sections.sort_by_key(|(s, _)| s == hints::everywhere());
    Page::new(say::keys_of(&name), say::from_keys_toml().into(), Content::Keys(sections, context == Context::Diff))
}

/// Puts the keys of an open question, each with what it does, before the others of a help page.
pub fn with_choices(mut page: Page, choices: Vec<(String, String)>) -> Page {
    if let Content::Keys(sections, _) = &mut page.content
        && let Some((_, rows)) = sections.first_mut()
    {
        rows.splice(0..0, choices.into_iter().map(|(keys, help)| KeyRow { keys, help }));
    }
    page
}

/// Returns the actions whose keys the help of a context lists.
pub fn listed(context: Context) -> Vec<Action> {
    let around = std::iter::once(&context).chain(context.outer());
    let groups = around.flat_map(|c| GROUPS.iter().filter(move |g| is_listed(g, context, *c)));
    groups.flat_map(|g| g.actions.iter().copied()).collect()
}

/// Returns whether the help of `inner` has a line for a group of `around`.
fn is_listed(group: &Group, inner: Context, around: Context) -> bool {
    group.context == around && !group.section().is_empty() && (around == inner || reaches(inner, group.actions[0]))
}

/// Returns whether a key that is bound everywhere does something where the keys go to `inner`: before a session is open
/// there are neither panes nor a mode.
fn reaches(inner: Context, action: Action) -> bool {
    match inner {
        Context::Sessions => !matches!(action, Action::NextPane | Action::Escape),
        Context::Review | Context::Graph | Context::Timeline | Context::Blame => {
            !matches!(action, Action::NextPane | Action::Escape)
        }
        Context::NoModel => action != Action::Escape,
        Context::Form if action == Action::Help => true,
        // A line, a list, a form and a page take every key but those of the terminal.
        Context::Line if PaneId::leads_away(action) => true,
        Context::Line | Context::List | Context::Form | Context::Viewer => {
            matches!(action, Action::Cancel | Action::Suspend | Action::Redraw)
        }
        // What fills the body has no column beside it.
        Context::Diff => !matches!(action, Action::Narrower | Action::Wider),
        Context::Archive => {
            !matches!(action, Action::FoldAll | Action::Copy | Action::NextMatch | Action::PreviousMatch)
        }
        _ => true,
    }
}

/// Returns the text of the key for an action, unless an inner context takes the key.
fn key(
    keys: &Keys,
    inner: Context,
    bound: Context,
    action: Action,
    offered: impl Fn(Action) -> bool,
) -> Option<String> {
    match action {
        Action::Mention => Some("@".into()),
        Action::Commands if bound == Context::Input => Some("/".into()),
        // A context may have words of its own for a key that is bound around it.
        _ => std::iter::once(&bound).chain(bound.outer()).find_map(|c| keys.visible(inner, *c, action, &offered)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Language, with};
    use crate::text::width::cells;

    #[test]
    fn every_context_has_its_keys() {
        let keys = Keys::default();
        for (context, _) in Context::ALL.iter().copied() {
            let Content::Keys(sections, _) = help(&keys, context, "x", false).content else { panic!("keys") };
            assert!(!sections.is_empty(), "{context:?}");
        }
        let Content::Keys(sections, _) = help(&keys, Context::Diff, "the diff", false).content else { panic!("keys") };
        let all: Vec<&KeyRow> = sections.iter().flat_map(|(_, r)| r).collect();
        assert!(all.iter().any(|r| r.keys == "] [" && r.help == "next, previous hunk"));
        // Enter writes here, so it is not said to open what is selected.
        assert_eq!(all.iter().filter(|r| r.keys == "Enter").count(), 1);
        assert_eq!(all.iter().filter(|r| r.keys == "Esc").count(), 1);
    }

    /// The lines of the help of a context.
    fn lines(context: Context) -> Vec<(String, String)> {
        let Content::Keys(sections, _) = help(&Keys::default(), context, "x", false).content else { panic!("keys") };
        sections.into_iter().flat_map(|(_, rows)| rows).map(|r| (r.keys, r.help)).collect()
    }

    #[test]
    fn no_line_is_cut_in_two_columns() {
        let languages = [Language::English, Language::Japanese];
        for (language, (context, _)) in languages.into_iter().flat_map(|l| Context::ALL.iter().map(move |c| (l, *c))) {
            for (keys, help) in with(language, || lines(context)) {
                assert!(cells(&help) <= 33, "{context:?} {keys}: {help}");
            }
        }
    }

    #[test]
    fn only_keys_that_do_something_are_listed() {
        for (context, not) in [(Context::Sessions, "Tab"), (Context::NoModel, "Esc"), (Context::Line, "Tab")] {
            assert!(!lines(context).iter().any(|(keys, _)| keys == not), "{context:?} {not}");
        }
        assert!(lines(Context::Diff).iter().any(|(keys, _)| keys == "Tab"));
        let time = ("Left/Right".to_string(), "earlier, later version".to_string());
        assert!(lines(Context::Archive).contains(&time));
    }

    #[test]
    fn the_sessions_diff_lists_what_undoes_and_a_proposal_what_decides() {
        let with = |session_diff| {
            let page = help(&Keys::default(), Context::Diff, "x", session_diff);
            let Content::Keys(sections, _) = page.content else { panic!("keys") };
            let rows = sections.into_iter().flat_map(|(_, rows)| rows);
            rows.map(|row| format!("{} {}", row.keys, row.help)).collect::<Vec<_>>()
        };
        let (proposal, session) = (with(false), with(true));
        let has = |rows: &[String], row: &str| rows.iter().any(|r| r == row);
        assert!(has(&proposal, "u undo the last decision") && !has(&proposal, "t undo the turn that made it"));
        assert!(has(&session, "u undo the hunk or the file") && has(&session, "t undo the turn that made it"));
        assert!(has(&proposal, "Ctrl-N N next, previous match") && has(&session, "n N next, previous match"));
        assert!(!session.iter().any(|row| row.starts_with("y ") || row.starts_with("Enter ")), "{session:?}");
    }
}
