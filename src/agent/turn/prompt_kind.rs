//! Kinds of prompts, by their words: one that asks for no change, or for the last change to be undone.

/// Parts of prompts by which nothing is to be changed, where nothing more follows in their sentence.
const NO_CHANGE: [&str; 34] = [
    "do not change anything",
    "don't change anything",
    "don’t change anything",
    "do not modify anything",
    "don't modify anything",
    "do not edit anything",
    "don't edit anything",
    "without changing anything",
    "change nothing",
    "do not change any file",
    "don't change any file",
    "do not modify any file",
    "don't modify any file",
    "do not make any change",
    "don't make any change",
    "no cambies nada",
    "sin cambiar nada",
    "ändere nichts",
    "nichts ändern",
    "ne change rien",
    "ne modifie rien",
    "不要修改",
    "不要更改",
    "変更せずに",
    "only explain",
    "just explain",
    "explain only",
    "explain it only",
    "no changes",
    "do not touch anything",
    "don't touch anything",
    "only answer",
    "nur erklären",
    "solo explica",
];

/// Parts of Japanese prompts that say the same, whatever follows.
const NO_CHANGE_JAPANESE: [&str; 5] = ["何も変更しない", "何も変えない", "変更はしない", "説明だけ", "説明のみ"];

/// Beginnings of questions about what is there.
const ASKING: [&str; 28] = [
    "what does ",
    "what do ",
    "what is ",
    "what's ",
    "what are ",
    "why ",
    "where ",
    "which ",
    "who ",
    "when ",
    "how does ",
    "how do these ",
    "how many ",
    "does ",
    "is ",
    "are ",
    "explain ",
    "describe ",
    "¿qué hace ",
    "¿qué es ",
    "¿por qué ",
    "was macht ",
    "was ist ",
    "warum ",
    "que fait ",
    "qu'est-ce que ",
    "pourquoi ",
    "explica ",
];

/// Words of a prompt that may ask for a change.
const CHANGING: &str = "add append change create delete edit fix implement improve insert make modify move put refactor remove \
    rename replace rewrite set simplify translate update use write convert extend correct need should must want please \
    añade cambia arregla corrige ändere füge ajoute corrige";

/// Returns a prompt in small letters, without the files that it mentions.
fn plain(prompt: &str) -> String {
    let words = prompt.split_whitespace().filter(|word| !word.starts_with('@'));
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns whether a prompt asks for no change: it says so, or is nothing but a question about what is there.
pub fn wants_no_change(prompt: &str) -> bool {
    let prompt = plain(prompt);
    // `do not change anything else` wants a change.
    let is_over =
        |rest: &str| rest.trim_start_matches('s').trim_start().chars().next().is_none_or(|c| !c.is_alphanumeric());
    let says = |part: &&str| prompt.match_indices(*part).any(|(at, part)| is_over(&prompt[at + part.len()..]));
    if NO_CHANGE.iter().any(says) || NO_CHANGE_JAPANESE.iter().any(|part| prompt.contains(part)) {
        return true;
    }
    let is_asking = ASKING.iter().any(|begins| prompt.starts_with(begins)) && prompt.ends_with(['?', '？', '.']);
    let mut words = prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    is_asking && !words.any(|word| CHANGING.split_whitespace().any(|own| own == word))
}

/// Returns whether a prompt may be answered by the name of a file: it is a question, or asks to find or name something.
pub fn may_want_name(prompt: &str) -> bool {
    const FINDING: &str = "find name tell list show give locate search which where what who in on";
    const OTHER_LANGUAGES: [&str; 14] = [
        "か。",
        "吗",
        "哪",
        "どこ",
        "どの",
        "어느",
        "어디",
        "welche",
        "wo ",
        "dónde",
        "qué archivo",
        "où ",
        "quel",
        "где",
    ];
    let prompt = plain(prompt);
    let first = prompt.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_finding = FINDING.split(' ').any(|word| word == first) || prompt.ends_with('か');
    prompt.contains(['?', '？']) || is_finding || OTHER_LANGUAGES.iter().any(|word| prompt.contains(word))
}

/// Returns whether a prompt is nothing but the request to undo the last change.
pub fn is_undo(prompt: &str) -> bool {
    const UNDO: [&str; 4] = ["undo", "revert", "roll back", "rollback"];
    const WHAT: [&str; 12] = [
        "",
        "that",
        "this",
        "it",
        "that change",
        "this change",
        "last change",
        "the last change",
        "the change",
        "your change",
        "your last change",
        "everything",
    ];
    const OTHER_LANGUAGES: [&str; 13] = [
        "元に戻して",
        "元に戻してください",
        "取り消して",
        "取り消してください",
        "deshazlo",
        "deshaz eso",
        "deshaz el cambio",
        "mach das rückgängig",
        "mache das rückgängig",
        "annule ça",
        "annule cela",
        "撤销",
        "되돌려줘",
    ];
    let prompt = plain(prompt);
    let prompt = prompt.trim_end_matches(['.', '!', '。', '！']);
    let prompt = prompt.strip_prefix("please ").or(prompt.strip_suffix(" please")).unwrap_or(prompt).trim();
    let is_it = |verb: &&str| prompt.strip_prefix(*verb).is_some_and(|what| WHAT.contains(&what.trim()));
    OTHER_LANGUAGES.contains(&prompt) || UNDO.iter().any(is_it)
}

/// Returns whether a prompt wants a file without text: `make an empty file new.py`.
pub fn wants_empty_file(prompt: &str) -> bool {
    const OTHER_LANGUAGES: [&str; 13] = [
        "leere datei",
        "leeren datei",
        "leeres modul",
        "fichier vide",
        "archivo vacío",
        "archivo vacio",
        "空のファイル",
        "空ファイル",
        "空文件",
        "空的文件",
        "空白文件",
        "빈 파일",
        "пустой файл",
    ];
    let prompt = plain(prompt);
    let words: Vec<&str> = prompt.split_whitespace().map(|word| word.trim_matches(['`', ',', '"', '.', ':'])).collect();
    let is_file =
        |word: &str| matches!(word, "file" | "files" | "module" | "package" | "document") || word.contains('.');
    let is_empty = |two: &[&str]| matches!(two[0], "empty" | "blank") && is_file(two[1]);
    words.windows(2).any(is_empty) || OTHER_LANGUAGES.iter().any(|part| prompt.contains(part))
}

/// Returns whether a prompt only agrees to what was said before it: `yes, go on`.
pub fn agrees(prompt: &str) -> bool {
    const WORDS: &str = "yes y yep yeah ok okay sure go on ahead do it that so please continue proceed thanks right correct fine good \
        great now then exactly ja gerne bitte weiter mach oui vas y continue sí si dale adelante sigue да давай продолжай";
    const SIGNS: [&str; 20] = [
        "はい",
        "お願いします",
        "おねがいします",
        "続けて",
        "ください",
        "進めて",
        "そうして",
        "了解",
        "好的",
        "好",
        "继续",
        "可以",
        "请",
        "是的",
        "是",
        "行",
        "네",
        "계속",
        "해줘",
        "예",
    ];
    let prompt = SIGNS.iter().fold(plain(prompt), |prompt, sign| prompt.replace(sign, " yes "));
    let words = || prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    (1..=8).contains(&words().count()) && words().all(|word| WORDS.split_whitespace().any(|own| own == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_text_may_be_wanted() {
        for prompt in ["make an empty file new.py", "create an empty `new.py`", "空のファイル new.py を作って"]
        {
            assert!(wants_empty_file(prompt), "{prompt}");
        }
        for prompt in ["handle the empty list in a.py", "empty the cart", "make new.py"] {
            assert!(!wants_empty_file(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_prompt_may_only_agree() {
        for prompt in ["yes, go on", "Yes.", "ok do it", "はい、お願いします。", "继续", "ja, mach weiter", "Go ahead!"]
        {
            assert!(agrees(prompt), "{prompt}");
        }
        for prompt in ["yes, but keep eps", "go on with beta", "はい、速くして", "", "fix it"] {
            assert!(!agrees(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_question_may_be_answered_by_a_name() {
        for prompt in [
            "find alpha",
            "In welcher Datei steht alpha?",
            "alpha はどのファイルにありますか",
            "alpha 在哪个文件里？",
            "Tell me the path of the file that holds alpha",
        ] {
            assert!(may_want_name(prompt), "{prompt}");
        }
        for prompt in ["make alpha faster", "add a test for alpha @a.py", "alpha を速くして"] {
            assert!(!may_want_name(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_prompt_tells_that_no_change_is_wanted() {
        for prompt in [
            "What does frequency do? Do not change anything.",
            "What does frequency do?",
            "What does frequency do? @src/main.rs",
            "Explain the class Library.",
            "Why is the list sorted here?",
            "frequencyは何をしますか？何も変更しないでください。",
            "¿Qué hace frequency?",
            "Look at the parser, but do not make any changes.",
            "How would I make it faster? Only explain.",
            "Explain @m.py, no changes.",
            "どうすれば速くなりますか？説明だけしてください。",
        ] {
            assert!(wants_no_change(prompt), "{prompt}");
        }
        for prompt in [
            "Add a test. Do not change main.rs.",
            "What is missing? Add it.",
            "Why does it fail? Fix it.",
            "How can I make it faster?",
            "Can you rename circle?",
            "undo that",
            "Make it blue",
            "The button should be blue.",
            "Rename circle and do not change anything else.",
            "Fix it. Don't change any file in vendor.",
        ] {
            assert!(!wants_no_change(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_prompt_tells_that_the_last_change_is_to_be_undone() {
        for prompt in [
            "undo that",
            "undo that @a.rs",
            "Undo.",
            "Revert the last change",
            "please undo it",
            "元に戻してください。",
        ] {
            assert!(is_undo(prompt), "{prompt}");
        }
        for prompt in ["やり直して", "undo that, and count characters", "add undo", "undo the button", "revert to tabs"]
        {
            assert!(!is_undo(prompt), "{prompt}");
        }
    }
}
