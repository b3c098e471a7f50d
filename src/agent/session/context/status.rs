//! The parts of a session's status line that are not settings.

use std::sync::Mutex;

use crate::agent::services::lock;
use crate::memory;
use crate::messages::agent as say;
use crate::protocol::{Cost, RuleChip, Status};
use crate::text::number;

/// The parts of a session's status line that are not settings.
#[derive(Default)]
pub struct StatusData(Mutex<StatusValues>);

/// The values that a status line shows.
#[derive(Debug, Default, Clone)]
struct StatusValues {
    rules: Vec<RuleChip>,
    tokens: u64,
    cost: Option<Cost>,
    /// The tokens of the last request by part, as far as they are known, and the window it was made for.
    context: Option<(Vec<RequestPart>, u64)>,
}

/// A part of a request, and its tokens where they are known.
pub type RequestPart = (&'static str, Option<u64>);

/// Returns the parts of a request, those first that are the same in every one.
pub fn request_parts() -> [&'static str; 6] {
    [
        say::system_prompt(),
        say::rules_part(),
        say::tools_part(),
        say::your_messages(),
        say::the_answers(),
        say::results_of_tools(),
    ]
}

/// The number of parts that are the same in every request.
const FIXED: usize = 3;

fn sum(parts: &[RequestPart]) -> u64 {
    parts.iter().filter_map(|(_, tokens)| *tokens).sum()
}

/// Returns what a session cost, for a front end.
pub fn cost_event(totals: &memory::Totals) -> Option<Cost> {
    totals.cost.map(|dollars| Cost { dollars, estimated: totals.estimated, partial: totals.unpriced })
}

impl StatusData {
    /// Puts what is shown now into a status line.
    pub fn fill(&self, status: &mut Status) {
        let StatusValues { rules, tokens, cost, context } = lock(&self.0).clone();
        (status.rules, status.tokens, status.cost) = (rules, tokens, cost);
        status.context = context.map(|(parts, window)| (sum(&parts), window));
    }

    /// Shows the session's tokens and dollars from now on.
    pub fn show_totals(&self, totals: &memory::Totals) {
        let mut status_data = lock(&self.0);
        status_data.tokens = totals.input + totals.output;
        status_data.cost = cost_event(totals);
    }

    /// Records what the request that goes out now holds, in tokens of each of the [`request_parts`], and the window it is
    /// made for.
    pub fn show_context(&self, tokens: &[u64], window: u64) {
        let parts = request_parts().into_iter().zip(tokens.iter().copied().map(Some)).collect();
        lock(&self.0).context = Some((parts, window));
    }

    /// Records the tokens of the last request, of which the parts are not known.
    pub fn show_whole(&self, tokens: u64, window: u64) {
        let fixed = request_parts().into_iter().take(FIXED).map(|name| (name, None));
        let parts = fixed.chain([(say::last_request(), Some(tokens))]).collect();
        lock(&self.0).context = Some((parts, window));
    }

    /// Records what the next request holds beside the parts that are the same in every one, in tokens of the person's
    /// messages, the answers and the results of tools. Where nothing was asked yet there is nothing to show.
    pub fn show_messages(&self, tokens: [u64; 3]) {
        let mut status_data = lock(&self.0);
        let Some((parts, _)) = &mut status_data.context else { return };
        parts.truncate(FIXED);
        parts.extend(request_parts().into_iter().skip(FIXED).zip(tokens.map(Some)));
    }

    /// Counts against this window from now on.
    pub fn show_window(&self, window: u64) {
        if let Some((_, shown)) = &mut lock(&self.0).context {
            *shown = window;
        }
    }

    /// Returns the tokens of the last request by part, in the order of the [`request_parts`]; `None`: they are not known.
    pub fn context_tokens(&self) -> Option<Vec<u64>> {
        lock(&self.0).context.as_ref()?.0.iter().map(|(_, tokens)| *tokens).collect()
    }

    /// Records what the last request held by its server's count, and the answer, which stands behind it from now on.
    pub fn show_counted(&self, input: u64, output: u64) {
        let mut status_data = lock(&self.0);
        let Some((parts, _)) = status_data.context.as_mut().filter(|_| input > 0) else { return };
        let estimate = sum(parts).max(1);
        let counted = |tokens: u64| u64::try_from(u128::from(tokens) * u128::from(input) / u128::from(estimate));
        let known = parts.iter_mut().filter_map(|(_, tokens)| tokens.as_mut());
        known.for_each(|tokens| *tokens = counted(*tokens).unwrap_or(u64::MAX));
        // What rounding left out stands with the answers.
        let rest = input.saturating_sub(sum(parts));
        if let Some((_, Some(answers))) = parts.iter_mut().find(|(name, _)| *name == say::the_answers()) {
            *answers = answers.saturating_add(rest).saturating_add(output);
        }
    }

    /// Returns tokens of the last request that are the same in every one: system prompt and tools.
    pub fn fixed_tokens(&self) -> u64 {
        self.fixed_parts().iter().map(|(_, tokens)| tokens).sum()
    }

    /// Returns the parts that are the same in every request, with their tokens in the last one where they are known.
    pub fn fixed(&self) -> Vec<RequestPart> {
        lock(&self.0).context.as_ref().map_or_else(Vec::new, |(parts, _)| parts.iter().take(FIXED).copied().collect())
    }

    /// Returns the parts that are the same in every request and whose tokens are known.
    pub fn fixed_parts(&self) -> Vec<(&'static str, u64)> {
        self.fixed().into_iter().filter_map(|(name, tokens)| Some((name, tokens?))).collect()
    }

    /// Returns what the last request held, by part, as a table.
    pub fn context_table(&self) -> String {
        let StatusValues { context, rules, .. } = lock(&self.0).clone();
        context.map_or_else(|| say::nothing_asked().into(), |(parts, window)| table(&parts, window, &rules))
    }

    /// Returns the rules that are shown.
    pub fn rules(&self) -> Vec<RuleChip> {
        lock(&self.0).rules.clone()
    }

    /// Returns how long the rules are that are shown, in bytes.
    pub fn rule_bytes(&self) -> usize {
        lock(&self.0).rules.iter().map(|rule| rule.bytes).sum()
    }

    /// Shows these rules from now on. Returns whether they are others than before.
    pub fn show_rules(&self, rules: Vec<RuleChip>) -> bool {
        let mut status_data = lock(&self.0);
        let changed = status_data.rules != rules;
        status_data.rules = rules;
        changed
    }
}

/// Returns the parts of a request in tokens as a table, below the rules' part each of them with its share.
fn table(parts: &[RequestPart], window: u64, rules: &[RuleChip]) -> String {
    let used = sum(parts);
    let bytes: u64 = rules.iter().map(|rule| rule.bytes as u64).sum();
    let share = |tokens: u64| (tokens * 100).checked_div(window).unwrap_or(0);
    let mut text = String::from(say::part_tokens());
    for (name, tokens) in parts {
        let Some(tokens) = tokens else {
            text.push_str(&format!("| {name} | {} | |\n", say::not_known_yet()));
            continue;
        };
        text.push_str(&format!("| {name} | {} | {}% |\n", number::tokens(*tokens), share(*tokens)));
        for rule in rules.iter().filter(|_| *name == say::rules_part()) {
            let own = (tokens * rule.bytes as u64).checked_div(bytes).unwrap_or(0);
            text.push_str(&format!("| · {} | {} | |\n", rule.path, number::tokens(own)));
        }
    }
    text.push_str(&say::together(&number::tokens(used), &number::tokens(window), &share(used)));
    text.push_str(say::counted());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Language, with};

    #[test]
    fn an_answer_joins_what_its_request_held() {
        let (status_data, mut status) = (StatusData::default(), Status::default());
        status_data.show_context(&[10, 0, 0, 0, 5, 0], 1_000);
        status_data.show_counted(30, 7);
        status_data.fill(&mut status);
        assert_eq!(status.context, Some((37, 1_000)));
        assert_eq!(status_data.context_tokens(), Some(vec![20, 0, 0, 0, 17, 0]));
    }

    #[test]
    fn a_summary_and_another_window_are_shown_at_once() {
        let (status_data, mut status) = (StatusData::default(), Status::default());
        status_data.show_context(&[10, 5, 5, 900, 70, 10], 1_000);
        status_data.show_messages([30, 0, 0]);
        status_data.show_window(500);
        status_data.fill(&mut status);
        assert_eq!(status.context, Some((50, 500)));
        assert_eq!(status_data.context_tokens(), Some(vec![10, 5, 5, 30, 0, 0]));
    }

    #[test]
    fn parts_that_are_not_known_are_no_zeros() {
        let (status_data, mut status) = (StatusData::default(), Status::default());
        status_data.show_whole(9_600, 64_000);
        status_data.fill(&mut status);
        assert_eq!(status.context, Some((9_600, 64_000)));
        assert!(status_data.fixed_parts().is_empty() && status_data.context_tokens().is_none());
        assert_eq!(status_data.fixed().len(), 3);
        let text = status_data.context_table();
        assert!(text.contains("| system prompt | not known yet | |") && !text.contains("| 0 |"), "{text}");
    }

    #[test]
    fn each_rule_has_its_share_in_the_table_in_every_language() {
        let rule = |path: &str, bytes| RuleChip { path: path.into(), reason: String::new(), bytes };
        let rules = [rule("AGENTS.md", 300), rule("src/AGENTS.md", 100)];
        for language in [Language::English, Language::Japanese] {
            let text =
                with(language, || table(&[(say::rules_part(), Some(80)), (say::tools_part(), Some(20))], 200, &rules));
            let rows = ["| · AGENTS.md | 60 | |", "| · src/AGENTS.md | 20 | |"];
            assert!(rows.iter().all(|row| text.contains(row)), "{text}");
        }
    }
}
