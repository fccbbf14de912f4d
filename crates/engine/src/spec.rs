//! The words that name a policy or workload and its parameters, the same in CLI, TOML and library.
//!
//! `name`, `name:key=value,key=value`, or `name(key=value,key=value)` where specs nest, as in
//! `mix:sizes=0.1/0.9,weights=0.9/0.1,of=uniform/zipf(s=1.2)`. Lists are separated by `/`.

use crate::error::{Error, Result};

/// A parsed spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub name: String,
    pub given: Vec<(String, String)>,
}

impl Spec {
    /// Parses `text`; `what` names the kind of thing in errors ("victim policy").
    pub fn parse(what: &str, text: &str) -> Result<Self> {
        let text = text.trim();
        let bad = |why: &str| {
            Error::Spec(format!(
                "cannot read {what} '{text}': {why}; write name or name:key=value,key=value"
            ))
        };
        let (name, params) = match text.find([':', '(']) {
            None => (text, ""),
            Some(at) if text.as_bytes()[at] == b':' => (&text[..at], &text[at + 1..]),
            Some(at) => {
                let inner = text[at + 1..]
                    .strip_suffix(')')
                    .ok_or_else(|| bad("a parenthesis is not closed"))?;
                (&text[..at], inner)
            }
        };
        if name.is_empty() {
            return Err(bad("the name is missing"));
        }
        let mut given: Vec<(String, String)> = Vec::new();
        if text.len() > name.len() && params.is_empty() && text.ends_with(':') {
            return Err(bad("nothing follows the colon"));
        }
        for pair in split(params, ',').ok_or_else(|| bad("parentheses do not match"))? {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| bad(&format!("'{pair}' is not key=value")))?;
            let (key, value) = (key.trim(), value.trim());
            if key.is_empty() || value.is_empty() {
                return Err(bad(&format!("'{pair}' is not key=value")));
            }
            if given.iter().any(|(k, _)| k == key) {
                return Err(bad(&format!("'{key}' is given twice")));
            }
            given.push((key.to_owned(), value.to_owned()));
        }
        Ok(Spec { name: name.trim().to_owned(), given })
    }
}

/// Splits at `separator` outside parentheses; `None` if they do not match. Empty text is no items.
pub(crate) fn split(text: &str, separator: char) -> Option<Vec<&str>> {
    let mut items = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if c == separator && depth == 0 => {
                items.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    if depth != 0 {
        return None;
    }
    if !text.is_empty() {
        items.push(&text[start..]);
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Spec> {
        Spec::parse("victim policy", text)
    }

    #[test]
    fn parameters_follow_a_colon_or_stand_in_parentheses() {
        let given = vec![("d".to_owned(), "7".to_owned())];
        let expected = Spec { name: "d-choices".to_owned(), given };
        assert_eq!(read("d-choices:d=7"), Ok(expected.clone()));
        assert_eq!(read(" d-choices( d = 7 )"), Ok(expected));
        assert_eq!(read("greedy"), Ok(Spec { name: "greedy".to_owned(), given: Vec::new() }));
    }

    #[test]
    fn bad_specs_are_refused_in_a_sentence() {
        for text in [
            "",
            ":d=1",
            "d-choices:",
            "d-choices:d",
            "d-choices:d=",
            "d-choices:d=1,d=2",
            "d-choices(d=1",
            "d-choices:d=(1",
            "d-choices:,",
        ] {
            let message = read(text).expect_err(text).to_string();
            assert!(message.contains("write name or name:key=value"), "{text}: {message}");
        }
    }

    #[test]
    fn lists_split_outside_parentheses_only() {
        assert_eq!(split("a/b(x=1/2)/c", '/'), Some(vec!["a", "b(x=1/2)", "c"]));
        assert_eq!(split("a)(b", '/'), None);
    }
}
