//! The effort that a model is asked for when it thinks, and the form in which it takes that.

/// The efforts of thinking before an answer, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// No thinking.
    None,
    /// A small effort.
    Low,
    /// A medium effort.
    Medium,
    /// A large effort.
    High,
    /// A very large effort.
    XHigh,
    /// The largest effort.
    Max,
}

impl Effort {
    /// All of them, in ascending order.
    pub const ALL: [Effort; 6] = [Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::XHigh, Effort::Max];

    /// Returns its name in the configuration and in most wire formats.
    pub fn word(self) -> &'static str {
        match self {
            Effort::None => "none",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::XHigh => "xhigh",
            Effort::Max => "max",
        }
    }

    /// Returns the effort of this name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.word() == word)
    }

    /// Returns this one, or the next lower one among `offered`; the lowest of them where none is lower.
    pub fn within(self, offered: &[Effort]) -> Effort {
        let lower = offered.iter().copied().filter(|effort| *effort <= self).max();
        lower.or_else(|| offered.iter().copied().min()).unwrap_or(self)
    }
}

/// The form in which a model takes the effort of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thinking {
    /// It does not think.
    None,
    /// The model decides by itself, within an effort (newer Claude).
    Adaptive,
    /// A number of tokens (older Claude, Gemini 2.5).
    Budget,
    /// A level (Gemini 3).
    Level,
    /// An effort, or on and off.
    Effort,
    /// Thinking is on, by one of several words.
    Words,
}

impl Thinking {
    /// Returns its name in the configuration and in the table.
    pub fn word(self) -> &'static str {
        match self {
            Thinking::None => "none",
            Thinking::Adaptive => "adaptive",
            Thinking::Budget => "budget",
            Thinking::Level => "level",
            Thinking::Effort => "effort",
            Thinking::Words => "words",
        }
    }

    /// Creates the form of this name.
    pub fn parse(word: &str) -> Option<Self> {
        use Thinking::{Adaptive, Budget, Effort, Level, None as Nothing, Words};
        [Nothing, Adaptive, Budget, Level, Effort, Words].into_iter().find(|thinking| thinking.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_lacks_becomes_the_next_lower_one_it_has() {
        let offered = [Effort::Low, Effort::High];
        assert_eq!(Effort::Max.within(&offered), Effort::High);
        assert_eq!(Effort::Medium.within(&offered), Effort::Low);
        assert_eq!(Effort::None.within(&offered), Effort::Low);
        assert_eq!(Effort::Max.within(&[]), Effort::Max);
    }
}
