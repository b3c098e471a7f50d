//! The words by which something goes or stays.

/// Verbs by which something goes, or is made anew.
pub(super) const GOING: &str = "remove removes removed removing delete deletes deleted deleting drop drops dropped dropping eliminate \
    eliminates eliminated eliminating discard discards discarded discarding omit omits omitted omitting clean cleans cleaned cleaning \
    cleanup simplify simplifies simplified simplifying refactor refactors refactored refactoring rewrite rewrites rewrote rewritten \
    rewriting restructure restructures restructured restructuring rename renames renamed renaming merge merges merged merging move \
    moves moved moving inline inlines inlined inlining split splits splitting extract extracts extracted extracting shorten shortens \
    shortened shortening condense condenses condensed combine combines combined combining consolidate consolidates consolidated \
    consolidating unify unifies unified unifying deduplicate deduplicates deduplicated deduplicating dedupe dedup retire retires \
    retired retiring tidy tidied streamline streamlined reorganize reorganise slim undo revert reverts reverted rollback modernize modernise";
/// Verbs by which something is made.
pub(super) const MAKING: &str =
    "add adds adding implement implements create creates write writes provide introduce build need needs";
/// Words between what is made and the verb of what it does.
pub(super) const PURPOSES: &str = "to that which can could lets";
/// Words for what is part of definitions, or beside them.
pub(super) const LESSER: &str = "comment comments docstring docstrings whitespace whitespaces space spaces tab tabs newline newlines \
    semicolon semicolons comma commas import imports print prints log logs logging console hints annotation annotations warning warnings \
    trailing blank empty emoji emojis";
/// The number of words behind a verb among which the one stands for what it lets go.
pub(super) const OBJECT: usize = 4;
/// Words for what nobody needs.
pub(super) const WASTE: &str = "unused redundant unnecessary superfluous unneeded obsolete duplication duplications duplicated \
    boilerplate shorter leaner simpler weg";
/// Verbs by which something that they name may go.
pub(super) const CHANGING: &str = "replace replaces replaced replacing convert converts converted converting turn turns turned turning substitute \
    cut cuts superseded";
/// Beginnings of those in other languages.
pub(super) const CHANGING_ABROAD: &[&str] = &["ersetz", "reemplaz", "remplac", "замен"];
/// Parts of words of languages without spaces that say the same.
pub(super) const CHANGING_SIGNS: &[&str] = &["置き換", "置換", "替换", "改成", "改为", "바꿔", "바꾸", "교체"];
/// Beginnings of verbs by which something goes in other languages.
pub(super) const GOING_ABROAD: &[&str] = &[
    "quita",
    "elimin",
    "borra",
    "borre",
    "limpia",
    "simplifi",
    "reescrib",
    "acort",
    "refactor",
    "refaktor",
    "entfern",
    "lösch",
    "vereinfach",
    "aufräum",
    "räum",
    "kürz",
    "umbenenn",
    "umbenannt",
    "zusammenfass",
    "supprim",
    "enlev",
    "enlèv",
    "retirer",
    "réécri",
    "nettoie",
    "nettoy",
    "raccourci",
    "fusionn",
    "renomm",
    "renombr",
    "удал",
    "убер",
    "убр",
    "лишн",
    "упрост",
    "объедин",
    "сократ",
    "переиме",
    "перепис",
];
/// Two words that say so together.
pub(super) const PAIRS: &[(&str, &str)] = &[
    ("rid", "of"),
    ("take takes took taken taking leave leaves left leaving cut throw throws threw", "out away"),
    ("dead duplicate", "code"),
    ("it", "short"),
    ("less", "code"),
    ("fewer", "lines functions"),
    ("from", "scratch"),
    ("start", "over"),
    ("fällt fallen", "weg"),
];
/// Parts of words of languages without spaces by which something goes.
pub(super) const GOING_SIGNS: &[&str] = &[
    "削除",
    "消して",
    "消す",
    "消した",
    "除去",
    "取り除",
    "取り払",
    "取り消して",
    "元に戻",
    "撤销",
    "되돌",
    "外して",
    "省いて",
    "リファクタ",
    "書き換",
    "書き直",
    "整理",
    "簡潔",
    "簡素",
    "シンプル",
    "統合",
    "まとめて",
    "短く",
    "重複",
    "リネーム",
    "名前を変",
    "改名",
    "删除",
    "刪除",
    "删掉",
    "删了",
    "移除",
    "去掉",
    "去除",
    "重构",
    "重構",
    "重写",
    "重命名",
    "简化",
    "簡化",
    "精简",
    "精簡",
    "合并",
    "合併",
    "삭제",
    "제거",
    "정리",
    "리팩터",
    "리팩토",
    "합쳐",
    "간단",
];
/// Texts right before such a part where it is denied, or is another word.
pub(super) const DENIED_BEFORE: &[&str] = &["不要", "别", "勿", "不", "没有", "没", "未", "取り", "沒有"];
/// Texts right behind such a part where it is denied, or is part of another word.
pub(super) const DENIED_BEHIND: &[&str] = &[
    "しない",
    "しなく",
    "せず",
    "しません",
    "されない",
    "されません",
    "されてい",
    "してはいけ",
    "しては",
    "はしない",
    "はせず",
    "하지",
    "排序",
    "按钮",
    "按鈕",
    "功能",
    "ボタン",
    "機能",
    "メソッド",
    " 버튼",
    " 기능",
];

/// Words that deny one of the next ones.
pub(super) const NOT: &str = "not don't dont doesn't didn't never without no nothing cannot can't won't isn't wasn't weren't aren't \
    shouldn't mustn't wouldn't avoid rather";
/// The number of words that may stand between.
pub(super) const DENYING: usize = 3;
/// Words behind those with which they say that something is of no use.
pub(super) const NOT_NEEDED: &str = "used needed longer called necessary required referenced only just";
/// Words of other languages that deny what stands anywhere in their clause.
pub(super) const NOT_ABROAD: &str =
    "nicht nichts kein keine keinen ohne rien pas aucun aucune sans nada sin ninguna ninguno не ничего без";

/// Words by which something is of no use where they are denied.
pub(super) const NEEDING: &str = "use used uses using need needed needs call called calls exist exists required require referenced want \
    wanted necessary braucht gebraucht brauchen benötigt usa usan falta besoin utilisé нужна нужен нужно";
/// Signs that say the same in languages without spaces.
pub(super) const NO_USE_SIGNS: &[&str] = &["不要", "いらない", "使わない", "不需要", "没用", "필요 없", "필요없"];
/// Words for what is to be done with something that stays, or for what is wrong with it.
pub(super) const WORKING: &str = "fix fixes fixing use uses using call calls calling change changes changing make makes making add adds \
    adding test tests testing document documents describe explain improve improves speed optimise optimize faster fast slow slower handle \
    handles return returns update updates extend after before below above behind in inside from like crash crashes fail fails failing \
    broken wrong bug bugs error errors raise raises print prints type types check checks support comment comments docstring docstrings \
    let also new parameter parameters argument arguments works work repariere korrigiere benutze ändere ergänze corrige cambia usa \
    mejora arregla corriger utilise change améliore исправь измени используй";
/// Beginnings of such words.
pub(super) const WORKING_ABROAD: &[&str] = &["verbesser", "schneller", "dokumentier", "optimi"];
/// Signs that say the same in languages without spaces.
pub(super) const WORKING_SIGNS: &[&str] = &[
    "直し",
    "直す",
    "修正",
    "使って",
    "使う",
    "呼",
    "追加",
    "変更",
    "速く",
    "高速",
    "テスト",
    "修复",
    "修改",
    "使用",
    "调用",
    "添加",
    "增加",
    "优化",
    "改进",
    "加快",
    "测试",
    "고쳐",
    "수정",
    "사용",
    "추가",
    "빠르",
    "개선",
];
/// Words beside which one of [`STYLES`] says that code gets another style.
pub(super) const RESTYLING: &str = "use make turn wrap convert put group into object";
/// Styles in which some definitions are part of others.
pub(super) const STYLES: &str = "class record struct enum component hooks lombok oriented parametrize";
/// Words for what a text is made of.
pub(super) const DEFINITIONS: &str = "function functions method methods definition definitions code everything alles alle tout toutes todo \
    todas всё все";

/// Words by which something stays.
pub(super) const KEEPING: &str = "keep keeps kept keeping leave leaves leaving left stay stays stayed preserve preserves preserved \
    retain retains retained untouched unchanged intact fine behalte behalten bleibt bleiben lass lasse lassen conserva conservar \
    mantén mantener deja garde garder laisse laisser оставь оставить";
/// Two words that say so together.
pub(super) const KEEPING_PAIRS: &[(&str, &str)] = &[("as", "is it"), ("not don't didn't", "touch change")];
/// Two words that let all go but what they name.
pub(super) const KEEPING_ONLY: &[(&str, &str)] = &[("only just", "keep leave"), ("keep leave", "only just")];
pub(super) const STAYING_SIGNS: &[&str] =
    &["残し", "残す", "そのまま", "維持", "保留", "不变", "不變", "不动", "유지", "그대로", "남겨"];

/// Words before a verb that is a noun there.
pub(super) const BEFORE_NOUNS: &str = "the a an this that these those each every its their his her my your our of for with add adds \
    added adding fix show support supports supporting allow allows allowing enable implement implements undo when der die das den dem \
    ein eine einen le la les un une el los las una";
/// Words that begin a condition.
pub(super) const CONDITIONS: &str =
    "if when once after before while unless until wenn falls sobald nachdem si cuando quand если когда";
/// Words that join the clauses of a sentence.
pub(super) const JOINING: &str = "and but then while which so und aber y e pero et mais и но а";
/// Words beside the names of a list.
pub(super) const BESIDE: &str = "the a an old also both all any or as well too function functions method methods class classes helper \
    helpers def constant constants variable variables test tests";
/// Signs beside the names of a list.
pub(super) const MOST_SIGNS: usize = 2;
/// Words for what was named before.
pub(super) const IT: &str = "it them both those";
/// Words for all that there is, of which nothing is to go.
pub(super) const ANYTHING: &str =
    "anything nothing any function functions method methods definition definitions code nichts rien nada ничего";
/// Words for all of it, which stays.
pub(super) const ALL: &str = "all every everything alles alle tout toutes todo todas всё все";
pub(super) const ANYTHING_SIGNS: &[&str] = &["何も", "なにも", "任何", "関数", "函数", "아무"];
