//! Forms of names, as `grep`, `diff` and `find` read them.

use globset::{Glob, GlobBuilder, GlobMatcher};

/// Returns a matcher of a form: what is wanted fits no less than for the program, what is left out no more. None: nothing is
/// left out for sure.
pub fn matcher(form: &str, is_wanted: bool, is_insensitive: bool) -> Option<GlobMatcher> {
    let built = readable(form, is_wanted).and_then(|form| {
        let mut builder = GlobBuilder::new(&form);
        builder.case_insensitive(is_wanted || is_insensitive).literal_separator(false).backslash_escape(true);
        builder.empty_alternates(true);
        builder.build().ok()
    });
    let all = || Glob::new("*").ok().filter(|_| is_wanted);
    built.or_else(all).map(|glob| glob.compile_matcher())
}

/// Returns a form as the matcher reads it: several stars are one, and braces are no more than themselves in what is left out,
/// but the shell may have read them in what is wanted. None: it holds what the matcher reads in another way.
fn readable(form: &str, is_wanted: bool) -> Option<String> {
    if is_wanted && form.contains('{') && form.contains("..") {
        return None;
    }
    let (mut read, mut chars, mut is_star) = (String::new(), form.chars(), false);
    while let Some(c) = chars.next() {
        let was_star = std::mem::replace(&mut is_star, c == '*');
        match c {
            '\\' => read.extend(['\\', chars.next()?]),
            '{' | '}' if !is_wanted => read.extend(['\\', c]),
            '*' if was_star => {}
            '[' if chars.as_str().contains(['[', '\\', '{', '}']) => return None,
            _ => read.push(c),
        }
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_is_not_read_alike_fits_all_or_nothing() {
        let fits = |form: &str, name: &str, is_wanted| {
            matcher(form, is_wanted, false).is_some_and(|matcher| matcher.is_match(name))
        };
        for (form, is_wanted, is_left_out) in [
            (".e*", true, true),
            (".e**", true, true),
            (".e[m-o]v", true, true),
            ("\\.env", true, true),
            ("*.py", false, false),
            ("{.env,x}", true, false),
            (".env{,.local}", true, false),
            ("*{,.py}", true, false),
            ("{,*}.env", true, false),
            (".e{m..o}v", true, false),
            ("{.a,x}", false, false),
            (".ENV", true, false),
            ("[[:punct:]]env", true, false),
            ("[\\.]env", true, false),
            ("[", true, false),
            (".env\\", true, false),
        ] {
            assert_eq!((fits(form, ".env", true), fits(form, ".env", false)), (is_wanted, is_left_out), "{form}");
        }
        // A star stands for a folder here that may be none for other readers.
        assert!(!fits("a/**/.env", "a/.env", false) && fits("a/**/.env", "a/b/c/.env", false));
        assert!(matcher(".ENV", false, true).is_some_and(|matcher| matcher.is_match(".env")));
    }
}
