//! The words that decide hunks in line mode: `y 1 3`, `n 2 because …`, `all`, `none`, `show 2`, `undo`.

use std::sync::Arc;

use crate::messages::line as say;
use crate::proposal::{Choice, Consent, Decision, FileDecision, ForeignChoice, Proposal};
use crate::protocol::{HoldCard, Question, Reply};

/// A reply to a proposal. Hunks are numbered from 1 over all files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalReply {
    /// These hunks are to be written.
    Accept(Vec<usize>),
    /// These are not, and why.
    Reject(Vec<usize>, Option<String>),
    /// All that is undecided is written.
    All,
    /// All that is undecided is left as it was, and why.
    None(Option<String>),
    /// A hunk whole.
    Show(usize),
    /// The last decision is undone.
    Undo,
    /// A list of the possible replies.
    Help,
}

impl ProposalReply {
    /// Reads a reply to a proposal of `hunks` hunks.
    ///
    /// # Errors
    /// When a word is not understood; the text names those that are.
    pub fn read(line: &str, hunks: usize) -> Result<ProposalReply, String> {
        let line = line.trim();
        let (said, reason) = match line.split_once(" because ") {
            Some((said, reason)) => (said, Some(reason.trim().to_string()).filter(|r| !r.is_empty())),
            None => (line, None),
        };
        let mut words = said.split_whitespace();
        let first = words.next().unwrap_or_default().to_lowercase();
        let rest: Vec<&str> = words.collect();
        // A word with others behind it is the beginning of a sentence.
        let (alone, reasoned) = (rest.is_empty(), said.len() < line.len());
        match first.as_str() {
            "n" | "no" => Ok(ProposalReply::Reject(numbers(&rest, hunks)?, reason)),
            "none" if alone => Ok(ProposalReply::None(reason)),
            _ if reasoned => Err(say::not_understood(&say::reply_help())),
            "y" | "yes" => Ok(ProposalReply::Accept(numbers(&rest, hunks)?)),
            "all" if alone => Ok(ProposalReply::All),
            "undo" if alone => Ok(ProposalReply::Undo),
            "help" | "/help" | "?" if alone => Ok(ProposalReply::Help),
            "show" => match numbers(&rest, hunks)?.as_slice() {
                [one] => Ok(ProposalReply::Show(*one)),
                _ => Err(say::show_takes_one().into()),
            },
            _ => Err(say::not_understood(&say::reply_help())),
        }
    }
}

/// Reads the choice about a call of a running command that waits: the key of one. No word is the last, which refuses.
///
/// # Errors
/// When it is no key of a choice; the text names those that are.
pub fn hold_choice(line: &str, hold: &HoldCard) -> Result<usize, String> {
    let said = line.to_lowercase();
    let key = match said.as_str() {
        "yes" => "y",
        "" | "no" => "n",
        said => said,
    };
    let chosen = hold.keys.iter().position(|known| key.chars().eq([*known]));
    chosen.ok_or_else(|| say::not_understood(&hold_help(hold)))
}

/// Returns the keys of the choices about a call that waits: `one of y, a, x, n; n is the default`.
pub fn hold_help(hold: &HoldCard) -> String {
    let keys: Vec<String> = hold.keys.iter().map(char::to_string).collect();
    say::hold_help(&keys.join(", "))
}

/// Returns whether a line is meant as the number of a choice and is that of none; a longer number is the person's own words.
pub fn is_no_choice(line: &str, choices: usize) -> bool {
    let short = choices > 0 && line.len() <= choices.to_string().len();
    short && line.parse::<usize>().is_ok_and(|number| number == 0 || number > choices)
}

/// A reply to the question of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreReply {
    /// All of it is written.
    Yes,
    /// Nothing is.
    No,
    /// A hunk whole.
    Show(usize),
    /// A choice for a file that was changed outside nebula, by its number.
    Choose(usize, ForeignChoice),
}

impl RestoreReply {
    /// Reads a reply to a restore of `hunks` hunks with a choice for each of `files` files.
    ///
    /// # Errors
    /// When a word is not understood; nothing is decided then.
    pub fn read(line: &str, hunks: usize, files: usize) -> Result<RestoreReply, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let help = if files > 0 { say::restore_help() } else { say::yes_or_no_help() };
        let choice = |word: &str| match word {
            "keep" => Some(ForeignChoice::Keep),
            "merge" => Some(ForeignChoice::Merge),
            "restore" => Some(ForeignChoice::RestoreVersion),
            _ => None,
        };
        match words.as_slice() {
            [] | ["n" | "no"] => Some(RestoreReply::No),
            ["y" | "yes"] => Some(RestoreReply::Yes),
            ["show", rest @ ..] => match numbers(rest, hunks)?.as_slice() {
                [one] => Some(RestoreReply::Show(*one)),
                _ => return Err(say::show_takes_one().into()),
            },
            [word] if files == 1 => choice(word).map(|choice| RestoreReply::Choose(1, choice)),
            [word, number] => {
                let number = number.parse::<usize>().ok().filter(|n| (1..=files).contains(n));
                choice(word).zip(number).map(|(choice, number)| RestoreReply::Choose(number, choice))
            }
            _ => None,
        }
        .ok_or_else(|| say::not_understood(&help))
    }
}

/// Parses numbers of hunks; an empty list stands for the only one there is.
fn numbers(words: &[&str], hunks: usize) -> Result<Vec<usize>, String> {
    if words.is_empty() && hunks == 1 {
        return Ok(vec![1]);
    }
    if words.is_empty() {
        return Err(say::which_hunks(&hunks, &say::reply_help()));
    }
    let mut all = Vec::new();
    for word in words.iter().flat_map(|w| w.split(',')).filter(|w| !w.is_empty()) {
        let (from, to) = word.split_once('-').unwrap_or((word, word));
        let number = |text: &str| text.parse::<usize>().ok().filter(|n| (1..=hunks).contains(n));
        match (number(from), number(to)) {
            (Some(from), Some(to)) if from <= to => all.extend(from..=to),
            _ => return Err(say::no_hunk(hunks, &word)),
        }
    }
    Ok(all)
}

/// The open question to the person.
pub enum OpenQuestion {
    /// The decision about a proposal.
    Proposal(Box<Pending>),
    /// A question of the model.
    Question(Question),
}

/// A proposal that waits for the person.
pub struct Pending {
    /// The proposal.
    pub proposal: Arc<Proposal>,
    /// The decisions so far.
    pub review: Review,
    /// It restores something: yes or no to all of it.
    pub restore: bool,
    /// The files of it that were changed outside nebula, where the person may choose for each.
    pub foreign: Vec<String>,
}

/// The decisions so far on one proposal.
pub struct Review {
    /// One choice for each hunk, in the order of the numbers.
    said: Vec<Option<Choice>>,
    past: Vec<(Vec<Option<Choice>>, Option<String>)>,
    /// The reason why something was rejected.
    pub reason: Option<String>,
    /// The hunks that are decided with each.
    tied: Vec<Vec<usize>>,
    files: Vec<usize>,
}

impl Review {
    /// Creates the state in which nothing is decided yet.
    pub fn of(proposal: &Proposal) -> Self {
        let files: Vec<usize> = proposal.files.iter().map(|f| f.hunks.len()).collect();
        let begins = |file: usize| files[..file].iter().sum::<usize>();
        let mut tied = Vec::new();
        for (f, file) in proposal.files.iter().enumerate() {
            // The two ends of a move go together.
            let other = file.moved.as_ref().and_then(|path| proposal.files.iter().position(|o| &o.path == path));
            let whole: Vec<usize> = other.map_or(Vec::new(), |o| {
                (begins(f)..begins(f) + files[f]).chain(begins(o)..begins(o) + files[o]).collect()
            });
            tied.extend((0..files[f]).map(|_| whole.clone()));
        }
        Review { said: vec![None; tied.len()], past: Vec::new(), reason: None, tied, files }
    }

    /// Counts undecided hunks.
    pub fn undecided(&self) -> usize {
        self.said.iter().filter(|said| said.is_none()).count()
    }

    /// Counts all hunks.
    pub fn hunks(&self) -> usize {
        self.said.len()
    }

    /// Returns how hunk `number` (from 1) was decided.
    pub fn choice(&self, number: usize) -> Option<Choice> {
        self.said.get(number.wrapping_sub(1)).copied().flatten()
    }

    /// Says something of these hunks.
    pub fn say(&mut self, numbers: &[usize], choice: Choice, reason: Option<String>) {
        self.past.push((self.said.clone(), self.reason.clone()));
        for number in numbers {
            let tied = self.tied[number - 1].clone();
            for at in tied.into_iter().chain([number - 1]) {
                self.said[at] = Some(choice);
            }
        }
        self.reason = reason.or(self.reason.take());
    }

    /// Says it of all that is undecided.
    pub fn say_rest(&mut self, choice: Choice, reason: Option<String>) {
        let open: Vec<usize> = (1..=self.said.len()).filter(|n| self.choice(*n).is_none()).collect();
        self.say(&open, choice, reason);
    }

    /// Takes the last decision back; `false`: there is none.
    pub fn undo(&mut self) -> bool {
        let Some((said, reason)) = self.past.pop() else { return false };
        (self.said, self.reason) = (said, reason);
        true
    }

    /// Returns the decision of the person; what is undecided counts as rejected.
    pub fn decision(&self) -> Decision {
        let mut decision = Decision::new(self.files(), Consent::Person);
        decision.reason.clone_from(&self.reason);
        decision
    }

    /// Returns one entry a file; what is undecided counts as rejected.
    fn files(&self) -> Vec<FileDecision> {
        let mut said = self.said.iter().map(|said| said.unwrap_or(Choice::Reject));
        let file = |hunks: &usize| FileDecision { hunks: said.by_ref().take(*hunks).collect(), edited: None };
        self.files.iter().map(file).collect()
    }
}

/// Returns the reply to a question of the model or of nebula.
///
/// # Errors
/// Why a text is none; nothing, where it is empty.
pub fn answer(question: &Question, text: &str) -> Result<Reply, Option<String>> {
    let most = question.choices.len();
    match (&question.hold, text) {
        (Some(hold), text) => hold_choice(text, hold).map(Reply::Choice).map_err(Some),
        (None, "") if !question.permission => Err(None),
        (None, text) if !question.permission && is_no_choice(text, most) => Err(Some(say::no_choice(&text, &most))),
        (None, text) => Ok(reply(question, text)),
    }
}

/// The number of hunks up to which a line that answers no open question may name them.
const HUNKS: usize = 999;

/// Returns whether a line reads like the answer to some question, as a key, a number or a word of the replies: meant for a
/// question, it is no message.
pub fn reads_like_answer(line: &str) -> bool {
    let is_number = line.bytes().all(|byte| byte.is_ascii_digit());
    let decides = |hunks| ProposalReply::read(line, hunks).is_ok() || RestoreReply::read(line, hunks, hunks).is_ok();
    line.chars().count() == 1 || !line.is_empty() && (is_number || [1, HUNKS].into_iter().any(decides))
}

/// Returns the reply that a line is to a question that is not about a call of a command.
pub fn reply(question: &Question, text: &str) -> Reply {
    let number = text.parse::<usize>().ok();
    let chosen = number.map(|n| n.wrapping_sub(1)).filter(|index| *index < question.choices.len());
    let yes = matches!(text.to_lowercase().as_str(), "y" | "yes");
    let no = matches!(text.to_lowercase().as_str(), "n" | "no");
    match (chosen, question.permission) {
        (_, true) if yes => Reply::Choice(0),
        // Other words go to the model, as the reason.
        (_, true) if !text.is_empty() && number.is_none() && !no => Reply::Text(text.to_string()),
        // No is the default of what is to be permitted.
        (_, true) => Reply::Choice(question.choices.len().saturating_sub(1)),
        (Some(index), _) => Reply::Choice(index),
        (None, _) => question.typed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_chat_are_read() {
        assert_eq!(ProposalReply::read("y 1 3", 3), Ok(ProposalReply::Accept(vec![1, 3])));
        assert_eq!(ProposalReply::read("y 1-2,3", 3), Ok(ProposalReply::Accept(vec![1, 2, 3])));
        assert_eq!(ProposalReply::read("y", 1), Ok(ProposalReply::Accept(vec![1])));
        let reason = Some("operations sets the pool size".to_string());
        assert_eq!(
            ProposalReply::read("n 2 because operations sets the pool size", 3),
            Ok(ProposalReply::Reject(vec![2], reason))
        );
        assert_eq!(ProposalReply::read(" ALL ", 3), Ok(ProposalReply::All));
        assert_eq!(ProposalReply::read("none because no", 3), Ok(ProposalReply::None(Some("no".into()))));
        assert_eq!(ProposalReply::read("show 2", 3), Ok(ProposalReply::Show(2)));
    }

    #[test]
    fn a_call_that_waits_takes_the_keys_of_its_choices_alone() {
        // What cannot be kept has no `y`: to go on without it is said by its own key.
        let hold = HoldCard { keys: vec!['g', 'x', 'n'], ..HoldCard::default() };
        for (line, index) in [("g", 0), ("X", 1), ("n", 2), ("no", 2), ("", 2)] {
            assert_eq!(hold_choice(line, &hold), Ok(index), "{line}");
        }
        for line in ["y", "yes", "a", "1", "gx", "go on", "n because it is mine"] {
            let why = hold_choice(line, &hold).expect_err("no choice");
            assert_eq!(why, "not understood, and nothing was decided: one of g, x, n; n is the default", "{line}");
        }
    }

    #[test]
    fn a_number_of_no_choice_answers_nothing() {
        assert!(["0", "4", "9"].iter().all(|line| is_no_choice(line, 3)) && is_no_choice("13", 12));
        for (line, choices) in [("1", 3), ("3", 3), ("8080", 3), ("euros", 3), ("", 3), ("9", 0)] {
            assert!(!is_no_choice(line, choices), "{line}");
        }
    }

    #[test]
    fn a_hunk_that_is_not_there_is_told_with_those_that_are() {
        let why = |line, hunks| ProposalReply::read(line, hunks).expect_err("no hunk");
        assert_eq!(why("y please", 1), "please is no hunk: the only one is 1; nothing was decided");
        assert_eq!(why("y 4", 3), "4 is no hunk: there are 1 to 3; nothing was decided");
    }

    #[test]
    fn what_was_meant_as_text_decides_nothing() {
        for text in ["", "y", "yes please do it", "n", "y 4", "y 0", "y 2-1", "what does hunk 2 do?", "show"] {
            assert!(ProposalReply::read(text, 3).is_err(), "{text}");
        }
        for text in [
            "All of this looks too hasty, explain first",
            "all because the second is right",
            "all right, but rename it",
            "none of them",
            "none of this because it is too hasty",
            "Undo the second and explain",
            "undo because it was wrong",
            "help me with hunk 2",
            "? which one",
            "yes because it is right",
            "y 1 because it is right",
            "no way",
            "show me hunk 2",
        ] {
            for hunks in [1, 3] {
                assert!(ProposalReply::read(text, hunks).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn the_words_of_a_restore_are_read() {
        use ForeignChoice::{Keep, Merge, RestoreVersion};
        let read = |line| RestoreReply::read(line, 2, 2);
        assert_eq!((read(" Y "), read("")), (Ok(RestoreReply::Yes), Ok(RestoreReply::No)));
        assert_eq!(read("show 2"), Ok(RestoreReply::Show(2)));
        assert_eq!(read("merge 1"), Ok(RestoreReply::Choose(1, Merge)));
        assert_eq!(read("restore 2"), Ok(RestoreReply::Choose(2, RestoreVersion)));
        assert_eq!(RestoreReply::read("keep", 0, 1), Ok(RestoreReply::Choose(1, Keep)));
        for text in ["yes but not that", "keep", "keep 3", "merge it 1", "restore everything", "all", "no, wait"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(RestoreReply::read("keep 1", 2, 0).is_err());
    }

    proptest::proptest! {
        /// A sentence decides nothing, whatever it begins with.
        #[test]
        fn no_sentence_decides(first in "(?i)(all|none|undo|y|yes|n|no|help|show)", rest in "( [a-z]{2,9}){1,6}[.?!]?") {
            proptest::prop_assume!(!rest.starts_with(" because "));
            let line = first + &rest;
            proptest::prop_assert!(ProposalReply::read(&line, 1).is_err());
        }
    }

    #[test]
    fn an_answer_is_no_message() {
        for line in ["y", "Y", "n", "yes", "no", "a", "x", "all", "None", "none because no", "n 2 because of it"] {
            assert!(reads_like_answer(line), "{line}");
        }
        for line in ["y 1 3", "y 1-3", "show 2", "keep", "merge 1", "restore 12", "3", "12", "undo", "?"] {
            assert!(reads_like_answer(line), "{line}");
        }
        for line in ["", "yes please", "all right, go on", "no way", "keep it simple", "2 more tests", "fix it"] {
            assert!(!reads_like_answer(line), "{line}");
        }
    }
}
