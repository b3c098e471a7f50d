//! The context window that a refusal for length names, in the words of the servers that name one.

use std::ops::Range;

/// Words behind which the window stands, the surest first.
const BEHIND: [&str; 19] = [
    "maximum context length",
    "maximum prompt length",
    "context length",
    "context size",
    "context window",
    "n_ctx",
    "n_ctx =",
    "n_ctx:",
    "maximum number of tokens allowed",
    "limit of",
    "token limit:",
    "input length should be [1,",
    "must have less than",
    "maximum length",
    "max_seq_len",
    "(tpm): limit",
    "up to",
    "<=",
    ">",
];
/// Words that may lie between those and the number.
const LINKS: [&str; 5] = ["is", "of", "only", "allowed", "for this model"];
/// The bytes before and behind a number in which a word says what it counts.
const NEAR: usize = 32;
/// The smallest window of any model, in tokens.
const SMALLEST: u32 = 256;

/// Returns the window, in tokens: the number that the words name as such, else the smallest number that
/// is neither the limit of the answer nor the difference of two others.
pub(super) fn named_window(message: &str) -> Option<u32> {
    let text = message.to_lowercase();
    let numbers: Vec<(Range<usize>, u32)> = placed(&text).filter(|(_, n)| *n >= SMALLEST).collect();
    let behind = |words: &&str| numbers.iter().find(|(at, _)| stands_behind(&text[..at.start], words));
    let before = || numbers.iter().find(|(at, _)| text[at.end..].trim_start().starts_with("maximum"));
    if let Some((_, window)) = BEHIND.iter().find_map(behind).or_else(before) {
        return Some(*window);
    }
    let sizes = numbers.iter().filter(|(at, _)| !is_of_answer(&text, at));
    let mut sizes: Vec<u32> = sizes.map(|(_, n)| *n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    match sizes.as_slice() {
        [] => None,
        [one] => text.contains("maximum").then_some(*one),
        [least, ..] => Some(*least),
    }
}

/// Returns the tokens of the prompt as a refusal counts them, where the window that it names takes the prompt and only an
/// answer of the `asked` tokens is too long beside it.
pub(in crate::provider) fn counted_prompt(message: &str, asked: u32) -> Option<u32> {
    const ANSWER: [&str; 4] = ["max_tokens", "completion", "output", "new_tokens"];
    let window = named_window(message)?;
    let text = message.to_lowercase();
    if !ANSWER.iter().any(|word| text.contains(word)) {
        return None;
    }
    let numbers: Vec<(Range<usize>, u32)> = placed(&text).collect();
    let is_sum = |sum: u32| numbers.iter().any(|(_, n)| *n == sum);
    // A prompt as long as the answer stands there as such only where their sum does.
    let is_asked = |n: u32| n == asked && !is_sum(asked.saturating_mul(2));
    let is_prompt = |n: u32| n < window && n.saturating_add(asked) > window && !is_asked(n);
    let found = numbers.iter().find(|(at, n)| is_prompt(*n) && !is_of_answer(&text, at));
    found.map(|(_, prompt)| *prompt)
}

/// Returns the tokens of the prompt as a refusal counts them, where they are more than the window that it names and it
/// names them as such. `asked`: the tokens of the answer, which some sums hold.
pub(in crate::provider) fn counted_long_prompt(message: &str, asked: u32) -> Option<u32> {
    const PROMPT: [&str; 6] = ["prompt", "input", "message", "conversation", "request", "sent"];
    let window = named_window(message)?;
    let text = message.to_lowercase();
    let numbers: Vec<(Range<usize>, u32)> = placed(&text).collect();
    let is_sum =
        |n: u32| asked > 0 && n.checked_sub(asked).is_some_and(|rest| numbers.iter().any(|(_, other)| *other == rest));
    let is_prompt = |at: &Range<usize>| {
        let before = &text[text.floor_char_boundary(at.start.saturating_sub(NEAR))..at.start];
        let behind = &text[at.end..text.ceil_char_boundary((at.end + NEAR).min(text.len()))];
        let behind = behind.split([',', '.', ';', '>']).next().unwrap_or_default();
        !before.trim_end().ends_with("requested") && PROMPT.iter().any(|word| [before, behind].concat().contains(word))
    };
    let long = numbers.iter().filter(|(at, n)| *n > window && !is_sum(*n) && !is_of_answer(&text, at));
    long.filter(|(at, _)| is_prompt(at)).map(|(_, n)| *n).min()
}

/// Returns whether a text ends in `words`, with nothing but links behind them.
fn stands_behind(text: &str, words: &str) -> bool {
    let mut text = text;
    loop {
        text = text.trim_end_matches(|c: char| c.is_whitespace() || "(`'\"~".contains(c));
        if text.ends_with(words) {
            return true;
        }
        let link = |link: &&str| text.strip_suffix(*link).filter(|rest| rest.ends_with(char::is_whitespace));
        match LINKS.iter().find_map(link) {
            Some(rest) => text = rest,
            None => return false,
        }
    }
}

/// Returns whether a number is the room for the answer, or by how much something is too long.
fn is_of_answer(text: &str, at: &Range<usize>) -> bool {
    const ANSWER: [&str; 4] = ["completion", "output", "max_tokens", "new_tokens"];
    let next = text[at.end..].split(|c: char| c.is_ascii_digit() || ".,;)".contains(c)).next().unwrap_or_default();
    let before = text[..at.start].trim_end_matches(|c: char| c.is_whitespace() || ":=`'\"".contains(c));
    let before = before.strip_suffix(" is").unwrap_or(before);
    let before = before.strip_suffix(" too large").map_or(before, |rest| rest.trim_end_matches(" is"));
    let before = before.trim_end_matches(['`', '\'', '"']);
    ANSWER.iter().any(|word| next.contains(word)) || before.ends_with("_tokens") || before.ends_with(" by")
}

/// Returns the whole numbers in a text, each with its place, with or without commas between their digits.
fn placed(text: &str) -> impl Iterator<Item = (Range<usize>, u32)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(|c: char| c.is_ascii_digit())?;
        let rest = &text[start..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches(',');
        from = start + end;
        Some((start..start + number.len(), number.replace(',', "").parse().unwrap_or(0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_fits_beside_a_shorter_answer_is_counted_in_many_words() {
        for (message, asked, prompt) in [
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 7776. This model's maximum context length is \
                 16384 tokens and your request has 9516 input tokens (7776 > 16384 - 9516). None",
                7_776,
                Some(9_516),
            ),
            (
                "This model's maximum context length is 16384 tokens. However, you requested 17292 tokens (9516 in the \
                 messages, 7776 in the completion). Please reduce the length of the messages or completion.",
                7_776,
                Some(9_516),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (5000 in the \
                 messages, 5000 in the completion).",
                5_000,
                Some(5_000),
            ),
            (
                "You passed 9517 input tokens and requested 7776 output tokens. However, the model's context length \
                 is only 16384 tokens, resulting in a maximum input length of 8608 tokens.",
                7_776,
                Some(9_517),
            ),
            ("input length and `max_tokens` exceed context limit: 188240 + 64000 > 200000", 64_000, Some(188_240)),
            ("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 19000 `inputs` tokens and 512", 512, None),
            ("Input tokens exceed the configured limit of 272000 tokens. You sent 300000 tokens.", 16_384, None),
            ("Request too large for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 41000.", 4_096, None),
            ("prompt is too long: 210000 tokens > 200000 maximum", 64_000, None),
        ] {
            assert_eq!(counted_prompt(message, asked), prompt, "{message}");
        }
    }

    #[test]
    fn a_prompt_that_is_longer_than_the_window_is_counted_in_many_words() {
        for (message, asked, prompt) in [
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4257. This model's maximum context length is \
                 8192 tokens and your request has 8602 input tokens (4257 > 8192 - 8602). None",
                4_257,
                Some(8_602),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 12859 tokens (8602 in the \
                 messages, 4257 in the completion). Please reduce the length of the messages or completion.",
                4_257,
                Some(8_602),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 9422 tokens (6956 in the \
                 messages, 2466 in the completion).",
                2_466,
                None,
            ),
            ("This model's maximum context length is 16384 tokens. However, you requested 63012 tokens", 512, None),
            ("request (16800 tokens) exceeds the available context size (16384 tokens)", 512, Some(16_800)),
            ("prompt is too long: 210000 tokens > 200000 maximum", 64_000, Some(210_000)),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                1,
                Some(1_200_000),
            ),
            ("Request too large for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 41000.", 4_096, None),
            ("too many tokens", 512, None),
        ] {
            assert_eq!(counted_long_prompt(message, asked), prompt, "{message}");
        }
    }

    #[test]
    fn a_refusal_for_length_names_the_window_in_many_words() {
        for (message, window) in [
            (
                "This model's maximum context length is 16384 tokens. However, you requested 16800 tokens (16288 in the \
                 messages, 512 in the completion). Please reduce the length of the messages or completion.",
                Some(16_384),
            ),
            (
                "This model's maximum context length is 16384 tokens. However, you requested 20288 tokens (16288 in \
                 the messages, 4000 in the completion).",
                Some(16_384),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 16000. This model's maximum context length is \
                 16384 tokens and your request has 900 input tokens (16000 > 16384 - 900). (parameter=max_tokens, \
                 value=16000)",
                Some(16_384),
            ),
            ("This model's maximum context length is 16,384 tokens. However, you requested 63012 tokens", Some(16_384)),
            ("the request exceeds the available context size. try increasing it", None),
            (
                "request (16800 tokens) exceeds the available context size (16384 tokens), try increasing it",
                Some(16_384),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            (
                "input length and `max_tokens` exceed context limit: 188240 + 64000 > 200000, decrease input length or \
                 `max_tokens` and try again",
                Some(200_000),
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", Some(32_768)),
            ("However, the model is loaded with context length of only 4096 tokens, given 5000", Some(4_096)),
            ("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` and 512", Some(8_193)),
            ("Input tokens exceed the configured limit of 272000 tokens. You sent 300000 tokens.", Some(272_000)),
            ("maximum prompt length is 131072 but the request contains 140000 tokens", Some(131_072)),
            ("prompt too long; exceeded max context length by 600 tokens", None),
            ("too many tokens: 9000 in the messages, 512 in the completion, 8192 in all", Some(8_192)),
            ("max_tokens is 512 and the conversation of 9000 tokens is over 8192", Some(8_192)),
            ("Range of input length should be [1, 30720]", Some(30_720)),
            ("Invalid request: Your request exceeded model token limit: 8192 (requested: 9121)", Some(8_192)),
            ("Input validation error: `inputs` must have less than 8192 tokens. Given: 9000", Some(8_192)),
            ("Input length 140000 exceeds the maximum length 131072", Some(131_072)),
            ("max_total_tokens (40000) must be less than or equal to max_seq_len (32768)", Some(32_768)),
            ("invalid params, context window exceeds limit (2013)", None),
            ("too many tokens", None),
        ] {
            assert_eq!(named_window(message), window, "{message}");
        }
    }
}
