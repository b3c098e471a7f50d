//! The words by which prose above a block is told apart, each list in small letters.

/// Words that say that a file is made. Between them and its path stand none but [`BETWEEN`].
pub const MAKE: &str = "create creates created creating make makes new add adds added adding save saved write writes wrote \
    writing put paste place placed named called copy copied rename renamed move moved into generate generated store stored \
    implement implemented extract extracted separate another";
/// Words that say that a file is changed.
pub const CHANGE: &str = "update updates updated updating change changes changed modify modified edit edited fix fixed rewrite \
    replace replaced";
/// Words of a last sentence that speaks of a text that is there already, so that none before it says which file it is.
pub const PRESENT: &str = "updated modified changed fixed corrected improved revised rewritten refactored";
/// Words before one of [`EXAMPLE`] for a text that is shown as a wrong one.
pub const BAD: &str = "wrong incorrect bad broken buggy";
/// Labels of such a text in Japanese and Chinese.
pub const BAD_EXAMPLES: &[&str] =
    &["悪い例", "間違った例", "誤った例", "ダメな例", "错误示例", "错误的例子", "反例", "错误写法"];
/// Words for a text that is shown.
pub const EXAMPLE: &str = "version example implementation solution way";
/// Verbs of a sentence that leads to what is below it though no colon ends it: `Let me create new.py.`
pub const BEGIN_TO_MAKE: &str = "create make add save write put generate";
/// Words that may stand before those.
pub const LET_ME: &str =
    "now first next then finally and please let let's lets me us i i'm i'll am we we're we'll are will going to";
/// Words behind that path, after `with`, for what is below it.
pub const WITH_THIS: &[&str] = &[
    "this",
    "the following",
    "this content",
    "the following content",
    "the following contents",
    "this code",
    "the following code",
    "the code below",
    "the content below",
];
/// Words between one of those and the path.
pub const BETWEEN: &str = "a an the this that these it them all following below code content contents text file files script module \
    function functions class logic implementation version solution to as in at under inside and with of everything";
/// Words before a path that say that it is where something comes from, or what is run, and not what is written.
pub const SOURCE: &str = "from like on than by via using use uses see run runs python python3 node pytest npx import imports \
    touch cat against per because unlike without check open read keep test tests with after";
/// Words before `of` that leave the path what something comes from.
pub const PART_OF: &str = "copy version instead part";
/// Words that say that a sentence is about what does not change.
pub const NOT: &str = "not no never cannot can't won't unable refuse avoid against without unchanged untouched stays don't \
    doesn't needn't unaffected";
/// Words behind a path that begins a sentence about its text.
pub const TAIL: &str = "is becomes will should must would could can may has holds contains looks now then you write put add as \
    like so below reads use with";
/// Words before a path that begins a sentence all the same.
pub const LEAD: &str = "in for to into then and next now";
/// Words that present what follows them, or stand between them and its path.
pub const PRESENTS: &str = "here here's heres is are this below following a an the your our new complete completed full whole entire \
    final updated helper helpers utility utilities tests code content contents text source implementation listing version module script file component class program \
    for in to then next now of and e.g i.e";
/// Japanese and Chinese words that present the path behind them.
pub const PRESENTS_BEFORE: &[&str] =
    &["こちらが", "これが", "以下が", "以下は", "下記が", "下記は", "次が", "次は", "以下是", "下面是", "这是", "這是"];
/// Words before a path at the end of a sentence that leave it a mention where the sentence tells of a [`CHANGE`] or has one
/// of [`MENTIONS`].
pub const PLACES: &str = "in for of to with at on as";
/// Words of a sentence that tells why a text is as it is, or where it is used.
pub const MENTIONS: &str = "fixes solves resolves avoids prevents handles rewrote use used uses using asked needed";
/// Words before a path in which something is put.
pub const INSIDE: &str = "in into to inside under at as";
/// Words of a sentence in which a file that was changed is an aside.
pub const ASIDE: &str = "also too additionally";
/// Japanese and Chinese words before the path of a file that is made.
pub const NEW_BEFORE: &[&str] = &[
    "新しいファイル",
    "新規ファイル",
    "新ファイル",
    "创建",
    "新建",
    "创建文件",
    "新建文件",
    "新文件",
    "保存为",
    "写入",
];
/// Words in German, French, Spanish, Portuguese, Russian and Korean for a file that is made: before its path, with others of
/// [`FILE_ABROAD`] between.
pub const NEW_ABROAD: &str = "neu neue neuen neuer erstelle erstellen erstellt anlegen lege nouveau nouvelle créer créez crée créons nuevo nueva crear \
    crea cree creamos novo nova criar crie cria новый новая новом создать создай создайте создаём создаем новый 새 새로운 새파일 생성";
/// Words between one of those and the path.
pub const FILE_ABROAD: &str = "die der das eine einer ein datei namens le la les un une fichier nommé appelé el los una archivo fichero llamado \
    o a um uma arquivo chamado ficheiro файл файла с именем 파일 파일을 파일인 folgende";
/// Words and brackets behind such a path.
pub const NEW_BEHIND: &[&str] = &[
    "(new",
    "（new",
    "(created",
    "(新",
    "（新",
    "を作",
    "を新",
    "を追加",
    "に保存",
    "として",
    "という",
    "に書",
    "文件",
];
/// Words behind the path of a file that is changed.
pub const CHANGE_BEHIND: &[&str] = &["を更新", "を修正", "を変更", "を以下", "を次", "を書き換", "を置き換"];
/// Words behind a path that begins a sentence about its text.
pub const TAIL_BEHIND: &[&str] = &["は", "の中身", "の内容", "の全", "如下", "的内容"];
/// Parts of sentences about what does not change.
pub const NOT_ANYWHERE: &[&str] = &["n't ", "作成しな", "作らな", "変更な", "変更しな", "変更せ", "不要", "そのまま"];
