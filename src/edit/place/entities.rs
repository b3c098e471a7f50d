//! XML entities, which models write where plain characters are meant.

/// Returns a text with XML's entities read as the characters they stand for; `None` if it has none.
pub(super) fn entities(text: &str) -> Option<String> {
    const ENTITIES: [(&str, &str); 13] = [
        ("&lt;", "<"),
        ("&#60;", "<"),
        ("&gt;", ">"),
        ("&#62;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#x2F;", "/"),
        ("&#38;", "&"),
        ("&#x26;", "&"),
        ("&amp;", "&"),
    ];
    if !ENTITIES.iter().any(|(entity, _)| text.contains(entity)) {
        return None;
    }
    // `&amp;` comes last, so that `&amp;lt;` becomes `&lt;`.
    Some(ENTITIES.iter().fold(text.to_string(), |text, (entity, plain)| text.replace(entity, plain)))
}
