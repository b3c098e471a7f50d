//! The words that say what of a file may go.

/// The words that were said before an edit.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// The prompt of the person.
    prompt: String,
    /// The lines of answers that stand in no fence.
    prose: String,
}

/// Beginnings of words that say that something goes, or is made anew.
const GOING: &[&str] = &[
    "remov",
    "delet",
    "drop",
    "unused",
    "dead code",
    "clean",
    "simplif",
    "refactor",
    "rewrit",
    "restructur",
    "renam",
    "merg",
    "mov",
    "inlin",
    "split",
    "extract",
    "quita",
    "elimin",
    "borra",
    "entfern",
    "lösch",
    "supprim",
    "enlev",
    "削除",
    "消",
    "リファクタ",
    "書き換",
    "删除",
    "移除",
    "去掉",
    "重构",
    "삭제",
    "удал",
    "убер",
    "убр",
    "лишн",
    "short",
    "duplic",
    "rid of",
    "reduc",
    "combin",
    "consolid",
    "retir",
    "dataclass",
    "take out",
    "took out",
    "weg ",
    "fällt",
    "整理",
    "精简",
];

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
        Wishes { prompt, prose }
    }

    /// Returns those of the definitions of a file (`all`) that are `gone` although nothing says so.
    pub(super) fn unsaid<'n>(&self, gone: &'n [String], all: &[&str]) -> Vec<&'n str> {
        let names =
            |text: &str, name: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
        let goes = |text: &str| {
            let text = text.to_lowercase();
            GOING.iter().any(|word| text.contains(word))
        };
        // What is to go without a name may be anything.
        if goes(&self.prompt) && !all.iter().any(|name| names(&self.prompt, name)) {
            return Vec::new();
        }
        let is_said =
            |name: &str| names(&self.prompt, name) || self.prose.lines().any(|line| names(line, name) && goes(line));
        gone.iter().map(String::as_str).filter(|name| !is_said(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prompt_or_answer_let_go_is_said() {
        let unsaid = |prompt: &str, answer: &str| {
            let wishes = Wishes::new(prompt.to_string(), [answer].into_iter());
            wishes.unsaid(&["rectangle".to_string()], &["rectangle", "square"]).len()
        };
        for (prompt, answer) in [
            ("remove rectangle", ""),
            ("remove what is not needed", ""),
            ("不要な関数を削除して", ""),
            ("make square faster", "I removed `rectangle`, which is not used.\n"),
        ] {
            assert_eq!(unsaid(prompt, answer), 0, "{prompt} {answer}");
        }
        for (prompt, answer) in [
            ("make square faster", "Here it is:\n```python\n# rectangle removed\n```\n"),
            ("make square faster", "The `rectangle` stays."),
            ("remove square", ""),
        ] {
            assert_eq!(unsaid(prompt, answer), 1, "{prompt} {answer}");
        }
    }
}
