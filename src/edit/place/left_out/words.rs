//! The words by which a line says that lines of the old text stay.

/// The kind of a line that may stand for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Omission {
    /// Dots in a comment or in brackets, before words such as `existing code`: nobody writes them into a file.
    Dotted,
    /// Words such as `rest of the code unchanged`, or dots alone before them.
    Said,
    /// Dots in a comment, without words.
    Dots,
    /// Words such as `other settings`, with dots behind them or not, or dots alone: a file may well have such a line.
    Vague,
    /// Dots inside of a line.
    Inside,
}

/// Words that say by themselves that lines stay.
const STAYS: [&str; 8] = ["unchanged", "unmodified", "same", "existing", "truncated", "omitted", "snip", "snipped"];
/// Words for what is not written out.
const REST: [&str; 3] = ["rest", "remaining", "remainder"];
/// Words that may say either.
const MORE: [&str; 13] = [
    "remains",
    "remain",
    "stay",
    "stays",
    "other",
    "others",
    "more",
    "etc",
    "previous",
    "keep",
    "continue",
    "continues",
    "everything",
];
/// Words for what a text consists of.
const PARTS: [&str; 33] = [
    "code",
    "file",
    "lines",
    "line",
    "content",
    "contents",
    "function",
    "functions",
    "method",
    "methods",
    "class",
    "classes",
    "settings",
    "imports",
    "implementation",
    "logic",
    "definitions",
    "config",
    "configuration",
    "options",
    "values",
    "entries",
    "rules",
    "items",
    "tests",
    "fields",
    "properties",
    "script",
    "program",
    "module",
    "document",
    "section",
    "sections",
];
/// Words between those.
const BETWEEN: [&str; 36] = [
    "the", "of", "your", "my", "our", "this", "that", "here", "goes", "go", "as", "is", "it", "and", "so", "on", "all",
    "with", "in", "from", "to", "be", "are", "no", "changes", "change", "for", "before", "above", "below", "todo",
    "original", "else", "was", "were", "brevity",
];
/// Words of other languages that say the same.
const FOREIGN: [&str; 10] =
    ["省略", "変更なし", "変更無し", "残りの", "残りは", "既存の", "其余", "不变", "剩余", "이하 동일"];

/// Returns whether a text in small letters says so in another language.
pub(super) fn says_foreign(lower: &str) -> bool {
    FOREIGN.iter().any(|word| lower.contains(word))
}

/// Returns what the words of a line say; `begins`: behind dots, `ends`: with dots behind them.
pub(super) fn said(lower: &str, (begins, ends): (bool, bool), is_quoted: bool) -> Option<Omission> {
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let lists: [&[&str]; 5] = [&STAYS, &REST, &MORE, &PARTS, &BETWEEN];
    let is_known =
        |word: &&str| lists.iter().any(|list| list.contains(word)) || word.bytes().all(|b| b.is_ascii_digit());
    let so_on = lower.contains("and so on") || lower.contains("as is") || lower.contains("as before");
    if !(so_on || lists[..3].iter().any(|list| has(list))) {
        return None;
    }
    let all_known = words.iter().all(is_known);
    // `...rest` spreads a variable.
    let is_apart = is_quoted || words.len() > 1 || !lower.trim_start_matches('.').starts_with(char::is_alphanumeric);
    let says = has(&STAYS) || (has(&REST) && (!is_quoted || has(&["code", "file"]) || so_on));
    match all_known {
        true if !is_apart => None,
        true if begins && is_quoted => Some(Omission::Dotted),
        true if says => Some(Omission::Said),
        true if words.len() > 1 || begins || ends || words == ["etc"] => Some(Omission::Vague),
        false if is_quoted && words.len() <= 8 && (has(&REST) || has(&MORE)) && has(&STAYS) => Some(Omission::Vague),
        _ => None,
    }
}

/// Words for what is left out, which say less by themselves, and their beginnings in other languages.
const OTHERS: [&str; 16] = [
    "previous",
    "same",
    "rest",
    "remaining",
    "remainder",
    "other",
    "others",
    "more",
    "weitere",
    "andere",
    "gleich",
    "reste",
    "resto",
    "igual",
    "autre",
    "demás",
];
/// Beginnings of words of other languages that say that something stays, in letters.
const STAYING: [&str; 12] = [
    "bestehend",
    "unveränder",
    "unveraender",
    "bleibt",
    "bleiben",
    "vorhanden",
    "übrig",
    "restlich",
    "inchang",
    "existant",
    "existente",
    "restant",
];
/// Words that say so together.
const TOGETHER: [&str; 10] = [
    "as before",
    "as is",
    "as above",
    "no change",
    "not changed",
    "wie bisher",
    "wie zuvor",
    "wie gehabt",
    "sin cambios",
    "sans changement",
];
/// Words of languages that have no space between them.
const STAYING_SIGNS: [&str; 14] = [
    "不变",
    "现有",
    "原有",
    "已有",
    "省略",
    "同上",
    "既存",
    "変更なし",
    "変更無し",
    "以前と同",
    "従来",
    "기존",
    "생략",
    "동일",
];
const OTHER_SIGNS: [&str; 11] =
    ["其他", "其它", "其余", "剩余", "保持", "その他", "残り", "他の", "同じ", "나머지", "다른"];

/// Returns whether a comment says that something stays as it is: surely so, or by words that may say anything. A longer one
/// explains what it stands above.
pub(super) fn says_staying(comment: &str) -> Option<bool> {
    const LONGEST: usize = 8;
    let lower = comment.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let begins = |list: &[&str]| words.iter().any(|word| list.iter().any(|begin| word.starts_with(begin)));
    let holds = |list: &[&str]| list.iter().any(|part| lower.contains(part));
    if words.len() > LONGEST || lower.chars().count() > LONGEST * LONGEST {
        return None;
    }
    let is_alone = |word: &str| words == [word];
    let is_said = words.iter().any(|word| STAYS.contains(word) && *word != "same");
    if is_said || is_alone("same") || begins(&STAYING) || holds(&TOGETHER) || holds(&STAYING_SIGNS) {
        return Some(true);
    }
    // An interface is called so, too.
    let is_name = comment.contains("REST") && !has(&["other", "others", "remaining", "same"]);
    ((has(&OTHERS) || holds(&OTHER_SIGNS)) && !is_name).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_says_that_something_stays_in_any_language() {
        for said in [
            "existing routes",
            "handlers as before",
            "head unchanged",
            "existing env vars",
            "现有路由",
            "既存のルート",
            "bestehende Routen",
            "Rest bleibt unverändert",
            "rutas existentes",
            "기존 코드",
            "same",
        ] {
            assert_eq!(says_staying(said), Some(true), "{said}");
        }
        for said in
            ["rest of the function", "other cases", "其他路由", "残りのルート", "weitere Routen", "the same routes"]
        {
            assert_eq!(says_staying(said), Some(false), "{said}");
        }
        for said in [
            "REST endpoints",
            "adds two numbers",
            "restore the state",
            "no such user",
            "an existing user is never replaced by a new one",
        ] {
            assert_eq!(says_staying(said), None, "{said}");
        }
    }
}
