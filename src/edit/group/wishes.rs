//! The words that say what of a file may go.

use super::going::{Intent, Said};
use crate::edit::format::Format;
use crate::proposal::{PlaceMatch, Rung};

/// The words that were said before an edit.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// The prompt of the person.
    prompt: String,
    /// The lines of answers that stand in no fence.
    prose: String,
    /// The prompt asks for no change: code in an answer to it may only show something.
    are_none: bool,
}

impl Wishes {
    /// Creates the words of a prompt and of answers to it.
    pub fn new<'a>(prompt: String, answers: impl Iterator<Item = &'a str>) -> Self {
        let mut prose = String::new();
        for answer in answers {
            let mut is_fenced = false;
            for line in answer.lines() {
                let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
                is_fenced ^= is_fence;
                if !is_fenced && !is_fence {
                    prose.extend([line, "\n"]);
                }
            }
        }
        Wishes { prompt, prose, are_none: false }
    }

    /// Notes whether the prompt asks for no change.
    pub fn none(self, are_none: bool) -> Self {
        Wishes { are_none, ..self }
    }

    /// Returns how an edit counts that is written as text though the prompt asks for no change.
    pub(super) fn unwanted(&self, format: Format) -> Option<PlaceMatch> {
        let detail = || Some("the prompt asks for no change".to_string());
        (self.are_none && format != Format::TOOLS).then(|| PlaceMatch { rung: Rung::Inexact, detail: detail() })
    }

    /// Returns those of the definitions of a file (`all`) that are `gone` although nothing says so.
    pub(super) fn unsaid<'n>(&self, gone: &'n [String], all: &[&str]) -> Vec<&'n str> {
        if gone.is_empty() {
            return Vec::new();
        }
        let (prompt, prose) = (Said::read(&self.prompt, all), Said::read(&self.prose, all));
        let may_be_any = prompt.lets_anything_go(all);
        // It writes such methods itself.
        let is_written = |name: &str| name.starts_with("__") && self.prompt.to_lowercase().contains("dataclass");
        let is_said = |name: &str| match prompt.of(name) {
            Some(intent) => intent == Intent::Goes,
            None if prompt.names_alone(name) => true,
            None => may_be_any || is_written(name) || prose.of(name) == Some(Intent::Goes),
        };
        gone.iter().map(String::as_str).filter(|name| !is_said(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsaid(prompt: &str, answer: &str) -> usize {
        let wishes = Wishes::new(prompt.to_string(), [answer].into_iter());
        let all = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "main"];
        wishes.unsaid(&["eps".to_string()], &all).len()
    }

    #[test]
    fn what_prompt_or_answer_let_go_is_said() {
        for (prompt, answer) in [
            ("remove eps", ""),
            ("delete alpha, beta and eps", ""),
            ("remove the function eps() from @a.py", ""),
            ("rename eps to epsilon", ""),
            ("replace eps with a lambda", ""),
            ("epsをepsilonに置き換えて", ""),
            ("eps is not needed, remove it", ""),
            ("epsを削除して", ""),
            ("alphaとepsを削除して、betaは残す", ""),
            ("把eps删掉", ""),
            ("entferne eps", ""),
            ("remove what is not needed", ""),
            ("不要な関数を削除して", ""),
            ("make it shorter", ""),
            ("reduce duplication", ""),
            ("refactor this file", ""),
            ("Please simplify the code", ""),
            ("clean up a bit", ""),
            ("get rid of the helper", ""),
            ("combine the helpers", ""),
            ("merge both functions", ""),
            ("consolidate", ""),
            ("weg mit dem Helfer", ""),
            ("Vereinfache das", ""),
            ("undo that", ""),
            ("元に戻して", ""),
            ("tidy up", ""),
            ("整理して", ""),
            ("精简一下", ""),
            ("убери лишнее", ""),
            ("clean up, but keep alpha", ""),
            ("clean up and keep the code readable", ""),
            ("remove all unused code, keep all tests passing", ""),
            ("shorten it but keep all features", ""),
            ("strip out eps", ""),
            ("use zeta instead of eps", ""),
            ("Could you take eps out?", ""),
            ("eps is not needed", ""),
            ("eps isn't used anywhere", ""),
            ("we don't need eps any more", ""),
            ("don't use eps any more", ""),
            ("eps must go", ""),
            ("eps should not exist", ""),
            ("functions to remove: eps", ""),
            ("eps is a leftover, please delete", ""),
            ("when you are done remove eps", ""),
            ("eps raus", ""),
            ("ya no se usa eps", ""),
            ("epsは不要", ""),
            ("eps不需要了", ""),
            ("eps should be called epsilon", ""),
            ("make it a class Stack", ""),
            ("use hooks", ""),
            ("wrap these in a class", ""),
            ("keep only alpha", ""),
            ("remove the comments and the unused functions", ""),
            ("add a docstring to alpha and remove eps", ""),
            ("make alpha faster", "I removed `eps`, which is not used.\n"),
            ("make alpha faster", "I took out eps since nothing calls it."),
            ("make alpha faster", "This gets rid of `eps`."),
            ("make alpha faster", "`eps` fällt weg."),
            ("make alpha faster", "- Removed: `alpha`, `eps`\n"),
            ("make alpha faster", "`alpha` and `eps` are merged."),
        ] {
            assert_eq!(unsaid(prompt, answer), 0, "{prompt} {answer}");
        }
    }

    #[test]
    fn a_dataclass_writes_some_methods_itself() {
        let unsaid = |prompt: &str| {
            let gone = ["__init__", "area"].map(String::from);
            let wishes = Wishes::new(prompt.to_string(), std::iter::empty());
            wishes.unsaid(&gone, &["P", "area"]).join(" ")
        };
        assert_eq!(unsaid("use a dataclass for P"), "area");
        assert_eq!(unsaid("make P faster"), "__init__ area");
    }

    #[test]
    fn a_word_of_going_counts_alone_and_of_what_it_is_said() {
        for prompt in [
            "make alpha faster",
            "sort the movies by year",
            "add a dropdown for the color",
            "add an emergency number",
            "消費税を足して",
            "取消を直して",
            "取り消しを直して",
            "the cleaning cost is missing",
            "fix the removal date",
            "add undelete support",
            "implement undo",
            "add the split bill total",
            "wire up the delete button",
            "move on: the sum is wrong",
            "don't drop precision",
            "make it 1 more, and do not remove anything",
            "simplify alpha without removing any function",
            "make it shorter, but do not remove any function",
            "何も削除しないで速くして",
            "不要删除任何函数，加快速度",
            "entferne nichts",
            "clean up, but keep all functions",
            "把颜色改成红色",
            "make eps return 5 instead of 4",
            "remove alpha",
            "fix eps",
            "use eps in alpha",
            "keep eps as it is, change alpha",
            "clean up, but keep eps",
            "remove alpha, keep eps",
            "alpha is slow, eps is fine",
            "add a test hook after eps",
            "remove the comments in eps.py, and in alpha",
            "faster @eps.py",
            "eps is slow",
            "eps fails for 0, it doesn't handle that",
            "don't change eps",
            "epsを直して",
            "修复eps",
            "add a class Foo",
            "add a function to delete a user",
            "write a method that removes the last item",
            "remove the comments",
            "delete all trailing whitespace",
            "clean up the imports",
            "remove unused imports",
            "实现合并排序",
            "削除ボタンを追加して",
            "删除按钮的颜色不对",
        ] {
            assert_eq!(unsaid(prompt, ""), 1, "{prompt}");
        }
        for answer in [
            "Here it is:\n```python\n# eps removed\n```\n",
            "The `eps` stays.",
            "`eps` was not removed, alpha adds one.",
            "I changed alpha, and left eps alone. Nothing was removed.",
            "I did not touch eps; simplified alpha.",
            "I moved on from eps to alpha.",
            "I replaced the loop with a sum.",
        ] {
            assert_eq!(unsaid("make alpha faster", answer), 1, "{answer}");
        }
    }
}
