//! The options of programs, as far as they take a value: what is no option and no value is an operand.

/// The options of a program that take a value.
#[derive(Clone, Copy)]
pub struct ValuedOptions {
    /// Their letters, each with the long name; NUL for a long name without a letter.
    pub valued: &'static [(char, &'static str)],
    /// The letter whose value stands in the same word, or is not given.
    pub ends: Option<char>,
    /// A long name stands whole: it is not cut short.
    pub whole: bool,
}

impl ValuedOptions {
    /// Returns whether a long name that was given means this one.
    pub fn means(&self, given: &str, known: &str) -> bool {
        if self.whole { given == known } else { known.starts_with(given) }
    }
}

/// The options and operands that a program is given.
#[derive(Default)]
pub struct GivenOptions {
    /// The values of options, each with the option's letter.
    pub values: Vec<(char, String)>,
    /// The places of the operands.
    pub operands: Vec<usize>,
    /// The letters of short options.
    pub letters: Vec<char>,
    /// The names of long options, as they are given.
    pub names: Vec<String>,
}

/// Returns the values of a program's options, each with the option's letter, and the places of its operands.
pub fn apart(arguments: &[&str], options: ValuedOptions) -> (Vec<(char, String)>, Vec<usize>) {
    let GivenOptions { values, operands, .. } = given(arguments, options);
    (values, operands)
}

/// Reads the options and operands of a program.
pub fn given(arguments: &[&str], options: ValuedOptions) -> GivenOptions {
    let mut found = GivenOptions::default();
    let mut rest = arguments.iter().enumerate();
    while let Some((at, text)) = rest.next() {
        let mut taken = |letter, attached: Option<&str>| {
            let value = attached.or_else(|| rest.next().map(|(_, word)| *word));
            found.values.extend(value.map(|value| (letter, value.to_string())));
        };
        if *text == "--" {
            found.operands.extend(rest.map(|(at, _)| at));
            break;
        } else if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            if let Some((letter, _)) = options.valued.iter().find(|(_, known)| options.means(name, known)) {
                taken(*letter, value);
            }
            found.names.push(name.to_string());
        } else if let Some(short) = text.strip_prefix('-').filter(|short| !short.is_empty()) {
            let ends =
                |letter: char| options.ends == Some(letter) || options.valued.iter().any(|(own, _)| *own == letter);
            let last = short.char_indices().find(|(_, letter)| ends(*letter));
            if let Some((at, letter)) = last.filter(|(_, letter)| options.ends != Some(*letter)) {
                let attached = &short[at + letter.len_utf8()..];
                taken(letter, Some(attached).filter(|attached| !attached.is_empty()));
            }
            let end = last.map_or(short.len(), |(at, letter)| at + letter.len_utf8());
            found.letters.extend(short[..end].chars());
        } else {
            found.operands.push(at);
        }
    }
    found
}
