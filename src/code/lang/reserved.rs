//! The words that no definition may be called by, and those by which a language finds a definition itself. A grammar takes
//! both for names, so parsing alone does not tell.

use super::language::SourceLanguage;

const RUST: &str = "\
    Self _ abstract as async await become box break const continue crate do dyn else enum extern false final fn \
    for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct super \
    trait true try type typeof unsafe unsized use virtual where while yield";

const PYTHON: &str = "\
    False None True _ __debug__ and as assert async await break class continue def del elif else except finally \
    for from global if import in is lambda nonlocal not or pass raise return try while with yield";

/// With those of strict mode, and the names of types that are built in.
const TYPESCRIPT: &str = "\
    any arguments async await bigint boolean break case catch class const constructor continue debugger default \
    delete do else enum eval export extends false finally for function if implements import in instanceof \
    interface let never new null number object package private protected public return static string super switch \
    symbol this throw true try typeof undefined unknown var void while with yield";

const GO: &str = "\
    _ break case chan const continue default defer else fallthrough for func go goto if import interface map package \
    range return select struct switch type var";

/// Words of Go whose meaning a definition of the package would hide in all of it.
const PREDECLARED: &str = "\
    any append bool byte cap clear close comparable complex complex128 complex64 copy delete error false float32 float64 \
    imag init int int16 int32 int64 int8 iota len make max min new nil panic print println real recover rune string true \
    uint uint16 uint32 uint64 uint8 uintptr";

/// Returns whether a language keeps a word for itself, so that no definition may be called so; `is_member`: none that
/// belongs to a type.
pub fn is_reserved(language: SourceLanguage, word: &str, is_member: bool) -> bool {
    let words: &[&str] = match language {
        SourceLanguage::Rust => &[RUST],
        SourceLanguage::Python => &[PYTHON],
        SourceLanguage::TypeScript | SourceLanguage::Tsx if is_member => &["constructor"],
        SourceLanguage::TypeScript | SourceLanguage::Tsx => &[TYPESCRIPT],
        SourceLanguage::Go if is_member => &[GO],
        SourceLanguage::Go => &[GO, PREDECLARED],
    };
    words.iter().flat_map(|words| words.split_whitespace()).any(|own| own == word)
}

/// Methods that the standard library of Go looks for in a value.
const GO_METHODS: &str = "\
    As Close Error Format GoString Is Len Less MarshalBinary MarshalJSON MarshalText Read Scan ServeHTTP String Swap \
    UnmarshalBinary UnmarshalJSON UnmarshalText Unwrap Write";

/// Returns whether a language, or its standard library, finds a definition of this name by it: with another name the
/// program does something else, though nothing mentions it. `is_member`: one that belongs to a type.
pub fn is_found_by_name(language: SourceLanguage, word: &str, is_member: bool) -> bool {
    let words = match language {
        SourceLanguage::Python => return word.len() > 4 && word.starts_with("__") && word.ends_with("__"),
        SourceLanguage::Rust if is_member => "",
        SourceLanguage::Rust => "main",
        SourceLanguage::TypeScript | SourceLanguage::Tsx if is_member => "constructor then toJSON toString valueOf",
        SourceLanguage::TypeScript | SourceLanguage::Tsx => "",
        SourceLanguage::Go if is_member => GO_METHODS,
        SourceLanguage::Go => "init main",
    };
    words.split_whitespace().any(|own| own == word)
}
