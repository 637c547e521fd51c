//! Text that is safe inside HTML.

/// Escapes text for HTML elements and quoted attributes. Characters that are not allowed in a
/// document become U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Names in a sentence, escaped: `a, b and c`, at most `most` of them.
pub(super) fn listed(names: &[String], most: usize) -> String {
    let bold = |name: &String| format!("<b>{}</b>", escape(name));
    let mut parts: Vec<String> = names.iter().take(most).map(bold).collect();
    if names.len() > most {
        parts.push(format!("{} more", names.len() - most));
    }
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        last => last.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names = ["a", "<b>", "c"].map(str::to_owned);
        assert_eq!(listed(&names, 3), "<b>a</b>, <b>&lt;b&gt;</b> and <b>c</b>");
        assert_eq!(listed(&names, 1), "<b>a</b> and 2 more");
        assert_eq!(listed(&names[..1], 3), "<b>a</b>");
    }

    #[test]
    fn html_is_escaped() {
        assert_eq!(
            escape("<a b='c' d=\"e\">&\u{0}é"),
            "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\u{fffd}é"
        );
    }
}
