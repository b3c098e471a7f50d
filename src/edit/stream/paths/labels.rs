//! Labels of blocks that are no edits: how the file was, how it should not be, or another way to write it.

use super::claims::{is_in, plain_words, sentence_ends, sentences};

/// Words for a text that is there already, or that is none to be written.
const PAST: &str = "original previous before old former comparison reference current existing earlier prior wrong incorrect \
    naive instead buggy broken bad faulty flawed problematic outdated deprecated anti-pattern antipattern mistake mistakes pitfall \
    unfixed was";
/// Words that may stand beside those in a label.
const BESIDE: &str = "the a an this that it is was were here here's heres for your our my of code file version content contents \
    text implementation function approach solution looked like used to be had read would have been note so do not use don't common \
    example";
/// Beginnings of words in other languages for such a text; whole words where a space follows.
const PAST_ABROAD: &[&str] = &[
    "vorher",
    "vorig",
    "ursprünglich",
    "bisher",
    "falsch",
    "fehlerhaft",
    "früher",
    "alt ",
    "alte ",
    "alter ",
    "altes ",
    "alten ",
    "avant ",
    "ancien",
    "précédent",
    "incorrect",
    "faux ",
    "fausse",
    "mauvais",
    "antes ",
    "anterior",
    "antig",
    "viej",
    "errón",
    "errad",
    "incorret",
    "original",
    "до ",
    "было ",
    "раньше ",
    "стар",
    "исходн",
    "прежн",
    "неправильн",
    "неверн",
    "ошибочн",
    "이전 ",
    "기존 ",
    "원본 ",
    "원래 ",
    "잘못된 ",
];
/// Words beside those in such a label.
const BESIDE_ABROAD: &str = "der die das den code version fassung datei war hier ist so nicht verwenden le la les du de des c'était voici \
    fichier ne pas utiliser el lo del código versión archivo era fue no usar o a do da versão arquivo não это был была код кода \
    версия файл изменения изменений исправления 코드 버전 파일 수정 변경 전";
/// Parts of labels in Chinese, Japanese and Korean for such a text.
const PAST_SIGNS: &[&str] = &[
    "修改之前",
    "修改前",
    "变更前",
    "更改前",
    "修复前",
    "改进前",
    "之前",
    "以前",
    "原始",
    "原来",
    "原有",
    "原先",
    "原代码",
    "旧",
    "错误示例",
    "错误代码",
    "错误版本",
    "错误写法",
    "错误",
    "反例",
    "変更前",
    "修正前",
    "改善前",
    "変更する前",
    "元の",
    "間違った",
    "誤った",
    "悪い",
    "수정 전",
    "변경 전",
];
/// Parts beside those in such a label.
const BESIDE_SIGNS: &[&str] = &[
    "代码",
    "版本",
    "文件",
    "内容",
    "写法",
    "这是",
    "以下是",
    "如下",
    "的",
    "请勿使用",
    "不要使用",
    "コード",
    "ファイル",
    "例",
    "バージョン",
    "版",
    "状態",
    "こちら",
    "これ",
    "が",
    "は",
    "です",
    "코드",
    "버전",
];
/// Words for a text that is to be written after all.
const ANEW: &str =
    "updated new fixed corrected improved revised changed modified final rewritten refactored correct right";
/// Words for another way.
const WAYS: &str = "option way approach solution possibility alternative version variant";

/// Returns whether a line says that what is below it is how the file was, or is shown for comparison or as wrong.
pub(in crate::edit) fn is_past(said: &str) -> bool {
    let own = words(said);
    let starts = |text: &[&str]| own.iter().zip(text).filter(|(own, text)| own == *text).count() == text.len();
    if own.iter().any(|word| is_in(ANEW, word)) {
        return false;
    }
    let is_heading = sentence_ends(said) || said.trim_start().starts_with(['#', '*']);
    if is_heading && is_past_abroad(said) || own == ["your", "code"] || own == ["your", "version"] {
        return is_heading;
    }
    let is_before = own.iter().any(|word| word == "before");
    let is_known =
        |word: &str| is_in(PAST, word) || is_in(BESIDE, word) || is_before && is_in("fix fixing change changes", word);
    let is_label = own.iter().all(|word| is_known(word) || word.contains('.'));
    if is_label && is_heading && own.iter().any(|word| is_in(PAST, word)) {
        return true;
    }
    let has = |list: &str| own.iter().any(|word| is_in(list, word));
    let is_of_this =
        own.iter().find(|word| !is_in("note the", word)).is_some_and(|word| is_in("this that following it", word));
    let is_wrong = || own.windows(2).any(|two| is_in("be is was", &two[0]) && is_in("wrong incorrect", &two[1]));
    let is_denied = has("not won't doesn't wouldn't") && has("work works") || is_wrong();
    starts(&["for", "comparison"]) || starts(&["for", "reference"]) || is_of_this && is_denied && sentence_ends(said)
}

/// Returns whether a label consists of such words in another language.
fn is_past_abroad(said: &str) -> bool {
    let label = sentences(said).pop().unwrap_or_default().to_lowercase();
    let words: Vec<&str> =
        label.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is_past = |word: &str| PAST_ABROAD.iter().any(|own| format!("{word} ").starts_with(own));
    let is_beside = |word: &str| is_in(BESIDE_ABROAD, word) || is_in(BESIDE, word);
    if words.iter().any(|word| is_past(word)) && words.iter().all(|word| is_past(word) || is_beside(word)) {
        return true;
    }
    let without = |text: String, signs: &[&str]| signs.iter().fold(text, |text, sign| text.replace(sign, " "));
    let rest = without(label.clone(), PAST_SIGNS);
    rest != label && !without(rest, BESIDE_SIGNS).contains(char::is_alphanumeric)
}

/// Returns whether a line says that what is below it is another way to write what is above it.
pub(in crate::edit) fn is_other_way(said: &str) -> bool {
    let own = words(said);
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    match &own[..] {
        ["alternatively" | "or" | "alternative", ..] | ["an" | "the" | "one", "alternative", ..] => true,
        ["option", number, ..] => !is_in("1 a", number),
        ["another" | "other" | "second", way, ..] => is_in(WAYS, way),
        ["if", "you", "prefer" | "like" | "want", ..] => true,
        ["you", "could" | "can", "also" | "alternatively", ..] => true,
        _ => false,
    }
}

/// Returns the words of the last sentence of a line.
fn words(said: &str) -> Vec<String> {
    plain_words(sentences(said).pop().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_of_the_past_or_of_what_is_wrong_is_told() {
        for line in [
            "The previous version was:",
            "Original code:",
            "**Before:**",
            "### Original code",
            "For comparison:",
            "For comparison, a version that takes the absolute value:",
            "For reference, the original code was:",
            "Here's the original for reference:",
            "This would be wrong:",
            "Note: the following would not work:",
            "Instead of:",
            "It is done. The old `calc.py` was:",
            "修改前：",
            "変更前：",
            "原始代码：",
            "元のコード：",
            "Vorherige Version:",
            "Ursprünglicher Code:",
            "Falsch:",
            "**Vorher**",
            "Version précédente :",
            "Código anterior:",
            "Código original:",
            "Исходный код:",
            "Было:",
            "수정 전:",
            "기존 코드:",
            "Problematic code:",
            "Buggy version (do not use):",
            "Anti-pattern:",
            "Common mistake:",
            "Was:",
            "Before fix:",
            "Code before the change:",
            "Before (buggy):",
            "Your code:",
        ] {
            assert!(is_past(line), "{line}");
        }
        for line in [
            "Wait, the previous version was wrong. Here is the corrected version:",
            "Here is the corrected version:",
            "The updated file:",
            "For reference, here is the updated file:",
            "This fixes the wrong sign:",
            "I kept the original code and added a check:",
            "修改后：",
            "変更後：",
            "Neue Version:",
            "Korrigierte Version des alten Codes:",
            "Nouvelle version:",
            "Código corregido:",
            "Новый код:",
            "수정 후:",
            "原始文件已更新：",
            "Your updated code:",
            "Here is the fix for the old code:",
            "Change this:",
            "Here is the code:",
            "Do it so:",
            "Then:",
            "",
        ] {
            assert!(!is_past(line), "{line}");
        }
    }

    #[test]
    fn a_label_of_another_way_is_told() {
        for line in [
            "Alternatively, you can use the absolute value:",
            "Alternatively:",
            "Another option is to use abs():",
            "If you prefer, you can also use abs():",
            "Or, without an exception:",
            "You could also write it like this:",
            "**Option 2:**",
            "**Alternative solution:**",
        ] {
            assert!(is_other_way(line), "{line}");
        }
        for line in ["Option 1:", "Another change:", "You can run it:", "Wait, here is the corrected version:"] {
            assert!(!is_other_way(line), "{line}");
        }
    }
}
