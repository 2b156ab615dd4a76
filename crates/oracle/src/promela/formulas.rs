//! The `ltl` formulas of a text, as they are written, and texts with claims in their place.
//!
//! Found by looking for words and braces outside of comments, strings and `#if 0`, without the parser that is
//! judged.

use std::ops::Range;

/// A formula of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The formula, without braces.
    pub formula: String,
    /// Where it is in the text, with the word `ltl`.
    pub range: Range<usize>,
}

/// The formulas of a text, in their order.
pub fn formulas(text: &str) -> Vec<Written> {
    let plain = without_comments(text);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = plain[from..].find("ltl").map(|at| at + from) {
        from = at + 3;
        let bytes = plain.as_bytes();
        let is_part = (at > 0 && is_word(bytes[at - 1])) || bytes.get(from).is_some_and(|&b| is_word(b));
        let Some((head, rest)) = plain[from..].split_once('{').filter(|_| !is_part) else { continue };
        if !head.bytes().all(|b| is_word(b) || b.is_ascii_whitespace()) {
            continue;
        }
        let mut depth = 1;
        let is_end = |c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        };
        let Some(length) = rest.find(is_end) else { continue };
        let name = Some(head.trim().to_owned()).filter(|name| !name.is_empty());
        let end = from + head.len() + 1 + length + 1;
        found.push(Written { name, formula: rest[..length].trim().to_owned(), range: at..end });
        from = end;
    }
    found
}

/// The text without its formulas, followed by claims.
pub fn with_claims(text: &str, claims: &str) -> String {
    let mut left = without_comments(text);
    for written in formulas(text).iter().rev() {
        let lines = "\n".repeat(left[written.range.clone()].matches('\n').count());
        left.replace_range(written.range.clone(), &lines);
    }
    format!("{left}\n{claims}")
}

/// The text with blanks in the place of comments and of what is switched off; every byte stays where it is.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("#if 0") {
            rest.find("#endif").map_or(rest.len(), |end| end + 6)
        } else if first == '"' {
            let length = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        out.extend(rest[..length].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_found_and_replaced() {
        let text = "byte ltl_x; /* ltl no { p } */\n#if 0\nltl off { p }\n#endif\nltl p1 { [] (x\n == 1) }\nltl{ <> y } init { skip }";
        let found = formulas(text);
        let names: Vec<_> = found.iter().map(|w| (w.name.as_deref(), &*w.formula)).collect();
        assert_eq!(names, [(Some("p1"), "[] (x\n == 1)"), (None, "<> y")]);
        let replaced = with_claims(text, "never p1 { skip }");
        assert!(formulas(&replaced).is_empty() && replaced.contains("init { skip }\nnever p1"), "{replaced}");
        assert_eq!(replaced.lines().count(), text.lines().count() + 1);
    }
}
