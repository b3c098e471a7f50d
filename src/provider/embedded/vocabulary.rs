//! The vocabulary of a model file: text to tokens and tokens to bytes, by byte-pair merges (`gpt2`) or by the scores of
//! SentencePiece (`llama`).

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use super::gguf::{Header, Value};
use super::split::Cuts;

/// The vocabulary of one model.
pub struct Vocabulary {
    texts: Vec<String>,
    ids: HashMap<String, u32>,
    method: Method,
    /// Written before everything else.
    pub first: Option<u32>,
    /// End an answer.
    ends: Vec<u32>,
}

enum Method {
    /// Merges by rank, within the pieces of these cuts.
    Merges(HashMap<(u32, u32), (usize, u32)>, Cuts),
    /// Merges by the score of the merged token.
    Scores {
        /// The score of each token.
        scores: Vec<f32>,
        /// Tokens that text may become: neither marks of a conversation nor bytes.
        ordinary: Vec<bool>,
        /// A blank stands before the text.
        blank: bool,
    },
}

/// Tokens that end an answer, beside those the metadata names.
const ENDS: [&str; 7] =
    ["<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "</s>", "<|end|>", "<|eom_id|>"];
/// The character that SentencePiece writes for a blank.
const BLANK: char = '\u{2581}';

impl Vocabulary {
    /// Reads the vocabulary of a model.
    ///
    /// # Errors
    /// What is missing or of an unknown kind.
    pub fn read(header: &mut Header) -> Result<Self, String> {
        let kind = header.text("tokenizer.ggml.model").unwrap_or_default().to_string();
        let Some(Value::Texts(texts)) = header.metadata.remove("tokenizer.ggml.tokens") else {
            return Err("has no vocabulary".into());
        };
        let ids: HashMap<String, u32> = texts.iter().cloned().zip(0..).collect();
        let method = match kind.as_str() {
            "gpt2" => {
                let merges = header.texts("tokenizer.ggml.merges").ok_or("has no merges for its vocabulary")?;
                let cuts = Cuts::of(header.text("tokenizer.ggml.pre").unwrap_or_default());
                Method::Merges(merges_of(merges, &ids), cuts)
            }
            "llama" => {
                let Some(Value::Floats(scores)) = header.metadata.remove("tokenizer.ggml.scores") else {
                    return Err("has no scores for its vocabulary".into());
                };
                let blank = header.number("tokenizer.ggml.add_space_prefix").unwrap_or(1) != 0;
                Method::Scores { scores, ordinary: ordinary(header, &texts), blank }
            }
            other => return Err(format!("has a vocabulary of kind {other:?}; gpt2 and llama can be read")),
        };
        let id = |key: &str| header.number(key).and_then(|id| u32::try_from(id).ok());
        let named = ENDS.iter().filter_map(|name| ids.get(*name).copied());
        let said = ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"].into_iter().filter_map(id);
        let ends = said.chain(named).collect();
        let adds_first = header.number("tokenizer.ggml.add_bos_token").map_or(kind == "llama", |adds| adds != 0);
        let first = id("tokenizer.ggml.bos_token_id").filter(|_| adds_first);
        let first = first.filter(|id| (*id as usize) < texts.len());
        Ok(Self { texts, ids, method, first, ends })
    }

    /// Returns how many tokens there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns whether a token ends an answer.
    pub fn is_end(&self, token: u32) -> bool {
        self.ends.contains(&token)
    }

    /// Returns the token that is written so in a template: `<|im_start|>`.
    pub fn mark(&self, text: &str) -> Option<u32> {
        self.ids.get(text).copied()
    }

    /// Adds the tokens of a text. Marks in it are text like any other. Where there are more than `most` tokens, the
    /// rest of the text may be left out.
    pub fn encode(&self, text: &str, most: usize, tokens: &mut Vec<u32>) {
        match &self.method {
            Method::Merges(merges, cuts) => {
                let mut known: HashMap<&str, Vec<u32>> = HashMap::new();
                for piece in cuts.pieces(text) {
                    if tokens.len() > most {
                        return;
                    }
                    let made = known.entry(piece).or_insert_with(|| {
                        let bytes = piece.bytes().map(|byte| char_of_byte(byte).to_string());
                        let begun = bytes.filter_map(|one| self.ids.get(&one).copied()).collect();
                        merge(begun, |a, b| merges.get(&(a, b)).map(|(rank, id)| (Reverse(*rank), *id)))
                    });
                    tokens.extend(made.iter());
                }
            }
            Method::Scores { scores, ordinary, blank } => {
                let mut text: String = text.replace(' ', &BLANK.to_string());
                if *blank && !text.is_empty() {
                    text.insert(0, BLANK);
                }
                let is_ordinary = |id: u32| ordinary.get(id as usize) == Some(&true);
                let begun = text.chars().flat_map(|c| self.single(c, is_ordinary)).collect();
                let join = |a: u32, b: u32| {
                    let id = *self.ids.get(&format!("{}{}", self.texts[a as usize], self.texts[b as usize]))?;
                    is_ordinary(id).then_some((Score(*scores.get(id as usize)?), id))
                };
                tokens.extend(merge(begun, join));
            }
        }
    }

    /// Returns the token of one character, else those of its bytes.
    fn single(&self, c: char, is_ordinary: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut buffer = [0; 4];
        let text: &str = c.encode_utf8(&mut buffer);
        match self.ids.get(text) {
            Some(id) if is_ordinary(*id) => vec![*id],
            _ => text.bytes().filter_map(|byte| self.ids.get(&format!("<0x{byte:02X}>")).copied()).collect(),
        }
    }

    /// Returns the bytes a token stands for.
    pub fn bytes(&self, token: u32) -> Vec<u8> {
        let Some(text) = self.texts.get(token as usize) else { return Vec::new() };
        match &self.method {
            Method::Merges(..) => {
                let bytes: Option<Vec<u8>> = text.chars().map(byte_of_char).collect();
                // A token that was added to the vocabulary is written as it is.
                bytes.unwrap_or_else(|| text.clone().into_bytes())
            }
            Method::Scores { .. } => {
                let byte = text.strip_prefix("<0x").and_then(|hex| hex.strip_suffix('>'));
                match byte.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                    Some(byte) => vec![byte],
                    None => text.replace(BLANK, " ").into_bytes(),
                }
            }
        }
    }

    /// Returns whether an answer begins with a blank that nobody wrote.
    pub fn begins_with_blank(&self) -> bool {
        matches!(self.method, Method::Scores { blank: true, .. })
    }
}

/// Returns of each token whether text may become it: tokens of the kind "normal" (1), and those of the kind "user
/// defined" (4) that are white space. Without the list of kinds, all but what is written in angle brackets.
fn ordinary(header: &mut Header, texts: &[String]) -> Vec<bool> {
    let kinds = match header.metadata.remove("tokenizer.ggml.token_type") {
        Some(Value::Numbers(kinds)) => kinds,
        _ => Vec::new(),
    };
    let is_blank = |text: &str| text.chars().all(|c| c == BLANK || c.is_whitespace());
    let ordinary = |(at, text): (usize, &String)| match kinds.get(at) {
        Some(1) => true,
        Some(4) => is_blank(text),
        Some(_) => false,
        None => !(text.len() > 2 && text.starts_with('<') && text.ends_with('>')),
    };
    texts.iter().enumerate().map(ordinary).collect()
}

/// Returns the pairs of tokens that merge: their rank, and the merged token.
fn merges_of(merges: &[String], ids: &HashMap<String, u32>) -> HashMap<(u32, u32), (usize, u32)> {
    let merge = |(rank, merge): (usize, &String)| {
        let (a, b) = merge.split_once(' ')?;
        let made = ids.get(&format!("{a}{b}"))?;
        Some(((*ids.get(a)?, *ids.get(b)?), (rank, *made)))
    };
    merges.iter().enumerate().filter_map(merge).collect()
}

/// A score that can be compared; no model has one that is no number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Score(f32);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Merges neighbours, the best pair first and of equal ones the leftmost, until none can be merged.
fn merge<B: Ord>(mut tokens: Vec<u32>, join: impl Fn(u32, u32) -> Option<(B, u32)>) -> Vec<u32> {
    /// Stands where a token was merged into the one before it.
    const GONE: u32 = u32::MAX;
    let mut next: Vec<usize> = (1..=tokens.len()).collect();
    let mut before: Vec<Option<usize>> = (0..tokens.len()).map(|at| at.checked_sub(1)).collect();
    let mut pairs = BinaryHeap::new();
    let propose = |tokens: &[u32], a: usize, b: usize| {
        let (from, with) = (*tokens.get(a)?, *tokens.get(b)?);
        join(from, with).map(|(best, made)| (best, Reverse(a), (from, with, made)))
    };
    pairs.extend((1..tokens.len()).filter_map(|b| propose(&tokens, b - 1, b)));
    while let Some((_, Reverse(a), (from, with, made))) = pairs.pop() {
        let b = next[a];
        // What was merged meanwhile is no longer this pair.
        if tokens[a] != from || tokens.get(b) != Some(&with) {
            continue;
        }
        (tokens[a], tokens[b], next[a]) = (made, GONE, next[b]);
        if let Some(before) = before.get_mut(next[a]) {
            *before = Some(a);
        }
        let around = before[a].and_then(|left| propose(&tokens, left, a)).into_iter();
        pairs.extend(around.chain(propose(&tokens, a, next[a])));
    }
    tokens.retain(|token| *token != GONE);
    tokens
}

/// Returns the character that stands for a byte in byte-pair vocabularies: itself where it is printed, else one from
/// 256 on.
pub(super) fn char_of_byte(byte: u8) -> char {
    let shift = match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => return char::from(byte),
        0..=0x20 => u32::from(byte),
        0x7f..=0xa0 => u32::from(byte) - 0x7f + 0x21,
        0xad => 0x43,
    };
    char::from_u32(256 + shift).unwrap_or(' ')
}

/// Returns the byte that a character stands for.
fn byte_of_char(c: char) -> Option<u8> {
    (0..=u8::MAX).find(|byte| char_of_byte(*byte) == c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(kind: &str, tokens: &[&str], more: &[(&str, Value)]) -> Vocabulary {
        let mut header = Header::default();
        let texts = Value::Texts(tokens.iter().map(|text| text.to_string()).collect());
        header.metadata.insert("tokenizer.ggml.tokens".into(), texts);
        header.metadata.insert("tokenizer.ggml.model".into(), Value::Text(kind.into()));
        for (key, value) in more {
            header.metadata.insert(format!("tokenizer.ggml.{key}"), value.clone());
        }
        Vocabulary::read(&mut header).expect("a vocabulary")
    }

    fn encoded(vocabulary: &Vocabulary, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        vocabulary.encode(text, usize::MAX, &mut tokens);
        tokens.iter().map(|token| String::from_utf8_lossy(&vocabulary.bytes(*token)).into_owned()).collect()
    }

    #[test]
    fn bytes_and_their_characters_are_one_to_one() {
        for byte in 0..=u8::MAX {
            assert_eq!(byte_of_char(char_of_byte(byte)), Some(byte));
        }
        assert_eq!((char_of_byte(b' '), char_of_byte(b'\n'), char_of_byte(0xad)), ('Ġ', 'Ċ', 'Ń'));
        assert_eq!(char_of_byte(0x7f), 'ġ');
    }

    #[test]
    fn pairs_merge_by_rank_and_within_pieces() {
        let tokens = ["a", "b", "c", "Ġ", "ab", "bc", "Ġab", "abc", "<|im_end|>"];
        let merges = ["b c", "a b", "Ġ ab", "a bc"].map(String::from).to_vec();
        let made =
            vocabulary("gpt2", &tokens, &[("merges", Value::Texts(merges)), ("pre", Value::Text("qwen2".into()))]);
        assert_eq!(encoded(&made, "abc ab"), ["abc", " ab"]);
        assert_eq!(encoded(&made, "abab"), ["ab", "ab"]);
        assert!(made.is_end(8) && !made.is_end(0) && made.first.is_none());
        // What is written like a mark is no mark.
        assert!(!encoded(&made, "<|im_end|>a").concat().contains("im_end"));
    }

    #[test]
    fn scores_choose_the_merge_and_bytes_stand_for_the_unknown() {
        let tokens = ["<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "▁", "h", "i", "hi", "▁h", "▁hi"];
        let scores = vec![0.0, 0.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0, -2.0, -3.0, -4.0];
        let more = [("scores", Value::Floats(scores)), ("bos_token_id", Value::Number(1))];
        let made = vocabulary("llama", &tokens, &more);
        assert_eq!(encoded(&made, "hi"), [" hi"]);
        let mut tokens = Vec::new();
        made.encode("é", usize::MAX, &mut tokens);
        assert_eq!(tokens, [5, 3, 4]);
        assert_eq!(made.first, Some(1));
    }

    #[test]
    fn marks_in_a_text_are_text() {
        let tokens = ["<unk>", "<s>", "</s>", "▁", "<", "/", "s", ">", "</", "s>", "▁▁", "[INST]"];
        let scores = Value::Floats(vec![0.0, 0.0, 0.0, -1.0, -1.0, -1.0, -1.0, -1.0, -2.0, -3.0, -4.0, 0.0]);
        let kinds = Value::Numbers(vec![2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 4, 4]);
        for more in [vec![("scores", scores.clone())], vec![("scores", scores), ("token_type", kinds)]] {
            let made = vocabulary("llama", &tokens, &more);
            let mut ids = Vec::new();
            made.encode("</s><s> ", usize::MAX, &mut ids);
            assert!(!ids.contains(&2) && !ids.contains(&1), "{ids:?}");
            assert!(ids.contains(&8) && ids.contains(&9), "{ids:?}");
        }
    }

    #[test]
    fn long_texts_take_no_longer_than_their_length_asks() {
        let tokens = ["▁", "a", "aa", "aaaa", "<unk>"];
        let scores = Value::Floats(vec![-1.0, -1.0, -2.0, -3.0, 0.0]);
        let made = vocabulary("llama", &tokens, &[("scores", scores)]);
        assert_eq!(encoded(&made, &"a".repeat(400_000)).concat().len(), 400_001);
    }
}
