//! Specs: texts that name a policy or workload with its parameters.
//! They are the same in the command line, TOML files and the library.
//!
//! A spec is `name` or `name:key=value,key=value`. A nested spec is `name(key=value,key=value)`, as
//! in `mix:sizes=0.1/0.9,weights=0.9/0.1,of=uniform/zipf(s=1.2)`. Lists are separated by `/`.

use crate::error::{Error, Result};

/// A parsed spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Name of the registry entry.
    pub name: String,
    /// Explicit parameters with their values, in order.
    pub parameters: Vec<(String, String)>,
}

impl Spec {
    /// Parses `text`. Error messages call it `what`, such as "victim policy".
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
        let mut parameters: Vec<(String, String)> = Vec::new();
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
            if parameters.iter().any(|(k, _)| k == key) {
                return Err(bad(&format!("'{key}' is given twice")));
            }
            parameters.push((key.to_owned(), value.to_owned()));
        }
        Ok(Spec { name: name.trim().to_owned(), parameters })
    }
}

/// Splits a list of specs at the commas between them. Error messages call a spec `what`.
///
/// A comma in parentheses separates parameters. A comma followed by a bare `key=value` continues
/// the spec before it. Both `hcwf-swap:d=5,d_swap=9,single` and `hcwf-swap(d=5,d_swap=9),single`
/// are two specs.
pub fn split_specs(what: &str, text: &str) -> Result<Vec<String>> {
    let pieces = split(text, ',').ok_or_else(|| {
        Error::Spec(format!("cannot read {what} list '{text}': parentheses do not match"))
    })?;
    let mut specs: Vec<String> = Vec::new();
    for piece in pieces.into_iter().map(str::trim) {
        if piece.is_empty() {
            return Err(Error::Spec(format!(
                "'{text}' has an empty item between commas; name a {what} there"
            )));
        }
        match specs.last_mut() {
            Some(last) if is_parameter(piece) => {
                if last.find([':', '(']).is_none_or(|at| last.as_bytes()[at] != b':') {
                    let name = last.split('(').next().unwrap_or_default();
                    return Err(Error::Spec(format!(
                        "'{piece}' follows '{last}' without a colon; write parameters as in \
                         {name}:{piece}"
                    )));
                }
                last.push(',');
                last.push_str(piece);
            }
            _ => specs.push(piece.to_owned()),
        }
    }
    if specs.is_empty() {
        return Err(Error::Spec(format!("'{text}' contains no {what}; name at least one")));
    }
    Ok(specs)
}

/// True for `key=value`, but not for a spec, whose name ends with a colon or a parenthesis.
fn is_parameter(piece: &str) -> bool {
    piece.find([':', '(', '=']).is_some_and(|at| piece.as_bytes()[at] == b'=')
}

/// Splits at `separator` outside parentheses. Returns None if parentheses do not match.
/// Empty text has no items.
pub fn split(text: &str, separator: char) -> Option<Vec<&str>> {
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
        let parameters = vec![("d".to_owned(), "7".to_owned())];
        let expected = Spec { name: "d-choices".to_owned(), parameters };
        assert_eq!(read("d-choices:d=7"), Ok(expected.clone()));
        assert_eq!(read(" d-choices( d = 7 )"), Ok(expected));
        assert_eq!(read("greedy"), Ok(Spec { name: "greedy".to_owned(), parameters: Vec::new() }));
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

    #[test]
    fn a_list_of_specs_splits_between_them_and_not_within_one() {
        let split = |text| split_specs("block manager", text);
        for text in ["hcwf-swap(d=5,d_swap=9),single", " hcwf-swap(d=5,d_swap=9) , single "] {
            assert_eq!(split(text).unwrap(), ["hcwf-swap(d=5,d_swap=9)", "single"]);
        }
        assert_eq!(
            split("hcwf-swap:d=5, d_swap=9,single").unwrap(),
            ["hcwf-swap:d=5,d_swap=9", "single"]
        );
        assert_eq!(
            split("mix:of=zipf(s=1,t=2)/uniform,sizes=1/1,single").unwrap(),
            ["mix:of=zipf(s=1,t=2)/uniform,sizes=1/1", "single"]
        );
        assert_eq!(split("d=5").unwrap(), ["d=5"], "which no registry knows");
    }

    #[test]
    fn a_bad_list_of_specs_is_refused_in_a_sentence() {
        for (text, words) in [
            ("single,d=5", "without a colon; write parameters as in single:d=5"),
            ("hcwf(d=5),d_swap=9", "write parameters as in hcwf:d_swap=9"),
            ("single,,sepgc", "an empty item between commas"),
            ("single,", "an empty item between commas"),
            ("hcwf(d=5,single", "parentheses do not match"),
            ("hcwf)d=5(,single", "parentheses do not match"),
            ("", "name at least one"),
        ] {
            let message = split_specs("block manager", text).expect_err(text).to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }
}
