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
    /// The tokens of the last request by part, and the window it was made for.
    context: Option<(Vec<(&'static str, u64)>, u64)>,
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
        status.context = context.map(|(parts, window)| (parts.iter().map(|(_, tokens)| tokens).sum(), window));
    }

    /// Shows the session's tokens and dollars from now on.
    pub fn show_totals(&self, totals: &memory::Totals) {
        let mut status_data = lock(&self.0);
        status_data.tokens = totals.input + totals.output;
        status_data.cost = cost_event(totals);
    }

    /// Records what the request that goes out now holds, in tokens, by part, and the window it is made for.
    pub fn show_context(&self, parts: Vec<(&'static str, u64)>, window: u64) {
        lock(&self.0).context = Some((parts, window));
    }

    /// Records what the last request held by its server's count, and the answer, which stands behind it from now on.
    pub fn show_counted(&self, input: u64, output: u64) {
        let mut status_data = lock(&self.0);
        let Some((parts, _)) = status_data.context.as_mut().filter(|_| input > 0) else { return };
        let estimate = parts.iter().map(|(_, tokens)| tokens).sum::<u64>().max(1);
        let counted = |tokens: u64| u64::try_from(u128::from(tokens) * u128::from(input) / u128::from(estimate));
        parts.iter_mut().for_each(|(_, tokens)| *tokens = counted(*tokens).unwrap_or(u64::MAX));
        // What rounding left out stands with the answers.
        let rest = input.saturating_sub(parts.iter().map(|(_, tokens)| tokens).sum());
        if let Some((_, answers)) = parts.iter_mut().find(|(name, _)| *name == say::the_answers()) {
            *answers = answers.saturating_add(rest).saturating_add(output);
        }
    }

    /// Returns tokens of the last request that are the same in every one: system prompt and tools.
    pub fn fixed_tokens(&self) -> u64 {
        self.fixed_parts().iter().map(|(_, tokens)| tokens).sum()
    }

    /// Returns the parts that are the same in every request, with their tokens in the last one.
    pub fn fixed_parts(&self) -> Vec<(&'static str, u64)> {
        lock(&self.0).context.as_ref().map_or_else(Vec::new, |(parts, _)| parts.iter().take(3).cloned().collect())
    }

    /// Returns what the last request held, by part, as a table.
    pub fn context_table(&self) -> String {
        let StatusValues { context, rules, .. } = lock(&self.0).clone();
        context.map_or_else(|| say::nothing_asked().into(), |(parts, window)| table(&parts, window, &rules))
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
fn table(parts: &[(&'static str, u64)], window: u64, rules: &[RuleChip]) -> String {
    let used: u64 = parts.iter().map(|(_, tokens)| tokens).sum();
    let bytes: u64 = rules.iter().map(|rule| rule.bytes as u64).sum();
    let share = |tokens: u64| (tokens * 100).checked_div(window).unwrap_or(0);
    let mut text = String::from(say::part_tokens());
    for (name, tokens) in parts {
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
        status_data.show_context(vec![(say::system_prompt(), 10), (say::the_answers(), 5)], 1_000);
        status_data.show_counted(30, 7);
        status_data.fill(&mut status);
        assert_eq!(status.context, Some((37, 1_000)));
    }

    #[test]
    fn each_rule_has_its_share_in_the_table_in_every_language() {
        let rule = |path: &str, bytes| RuleChip { path: path.into(), reason: String::new(), bytes };
        let rules = [rule("AGENTS.md", 300), rule("src/AGENTS.md", 100)];
        for language in [Language::English, Language::Japanese] {
            let text = with(language, || table(&[(say::rules_part(), 80), (say::tools_part(), 20)], 200, &rules));
            let rows = ["| · AGENTS.md | 60 | |", "| · src/AGENTS.md | 20 | |"];
            assert!(rows.iter().all(|row| text.contains(row)), "{text}");
        }
    }
}
