//! The words that name a policy or workload and its parameters, the same in CLI, TOML and library.
//!
//! `name`, `name:key=value,key=value`, or `name(key=value,key=value)` where specs nest, as in
//! `mix:sizes=0.1/0.9,weights=0.9/0.1,of=uniform/zipf(s=1.2)`. Lists are separated by `/`.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A parameter that an entry of a registry accepts.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    /// The value when it is not given; empty if it must be given.
    pub default: &'static str,
    pub help: &'static str,
}

/// What a registry knows of one entry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub summary: &'static str,
    pub params: &'static [Param],
    /// A complete spec with which the conformance tests build the entry.
    pub example: &'static str,
}

/// The entries of types that implement `$registered`, a trait with the constants of an [`Entry`].
macro_rules! entries {
    ($registered:ident: $($entry:ty),+) => {
        &[$($crate::spec::Entry {
            name: <$entry as $registered>::NAME,
            summary: <$entry as $registered>::SUMMARY,
            params: <$entry as $registered>::PARAMS,
            example: <$entry as $registered>::EXAMPLE,
        }),+]
    };
}
pub(crate) use entries;

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

    /// Finds the entry of that name and checks that every parameter given is one of its own.
    pub fn resolve<'a>(&self, what: &str, entries: &'a [Entry]) -> Result<(&'a Entry, Params<'_>)> {
        let Some(entry) = entries.iter().find(|e| e.name == self.name) else {
            let names: Vec<&str> = entries.iter().map(|e| e.name).collect();
            return Err(Error::unknown(what, &self.name, &names));
        };
        let known: Vec<&str> = entry.params.iter().map(|p| p.name).collect();
        for (key, _) in &self.given {
            if !known.contains(&key.as_str()) {
                return Err(Error::unknown(
                    &format!("parameter of {what} {}", entry.name),
                    key,
                    &known,
                ));
            }
        }
        Ok((entry, Params { spec: self, entry: *entry }))
    }
}

/// The parameters of one resolved spec, with defaults and domains.
#[derive(Debug, Clone, Copy)]
pub struct Params<'a> {
    spec: &'a Spec,
    entry: Entry,
}

impl Params<'_> {
    /// The text given for `name`, or its default.
    pub fn text(&self, name: &str) -> Result<String> {
        if let Some((_, value)) = self.spec.given.iter().find(|(k, _)| k == name) {
            return Ok(value.clone());
        }
        let param =
            self.entry.params.iter().find(|p| p.name == name).expect("a declared parameter");
        if param.default.is_empty() {
            let entry = self.entry.name;
            return Err(Error::Spec(format!(
                "{entry} needs {name}= ({}), as in {}",
                param.help, self.entry.example
            )));
        }
        Ok(param.default.to_owned())
    }

    /// True if the spec gives `name` rather than leaving it at its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.spec.given.iter().any(|(key, _)| key == name)
    }

    /// A whole number within `domain`; `1e6` counts as one.
    pub fn integer(&self, name: &str, domain: RangeInclusive<u64>) -> Result<u64> {
        let text = self.text(name)?;
        let value = integer(&text);
        value.filter(|v| domain.contains(v)).ok_or_else(|| {
            self.outside(
                name,
                &text,
                &format!("a whole number from {} to {}", domain.start(), domain.end()),
            )
        })
    }

    /// A number that satisfies `accept`; `domain` says in words which do.
    pub fn number(&self, name: &str, domain: &str, accept: impl Fn(f64) -> bool) -> Result<f64> {
        let text = self.text(name)?;
        f64::from_str(&text)
            .ok()
            .filter(|v| v.is_finite() && accept(*v))
            .ok_or_else(|| self.outside(name, &text, domain))
    }

    /// A list of texts separated by `/`.
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        let text = self.text(name)?;
        split(&text, '/').map(|items| items.into_iter().map(str::to_owned).collect()).ok_or_else(
            || self.outside(name, &text, "a list separated by '/' with matching parentheses"),
        )
    }

    /// A list of numbers separated by `/`, each of which satisfies `accept`.
    pub fn numbers(
        &self,
        name: &str,
        domain: &str,
        accept: impl Fn(f64) -> bool,
    ) -> Result<Vec<f64>> {
        self.list(name)?
            .iter()
            .map(|item| {
                f64::from_str(item)
                    .ok()
                    .filter(|v| v.is_finite() && accept(*v))
                    .ok_or_else(|| self.outside(name, item, domain))
            })
            .collect()
    }

    /// The error for a value outside its domain.
    pub fn outside(&self, name: &str, value: &str, domain: &str) -> Error {
        Error::Spec(format!("{}: {name}={value} is not valid; {name} is {domain}", self.entry.name))
    }
}

/// A whole number, also in the forms `1e6` and `2.5e6`.
pub fn integer(text: &str) -> Option<u64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let value: f64 = text.parse().ok()?;
    // Above 2^53 a float no longer names one whole number.
    (value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value))
        .then_some(value as u64)
}

/// Splits a list of specs at the commas between them; `what` names the kind of thing in errors.
///
/// A comma in parentheses separates parameters, and one that a bare `key=value` follows continues
/// the spec before it: `hcwf-swap:d=5,d_swap=9,single` are two, as are
/// `hcwf-swap(d=5,d_swap=9),single`.
pub fn split_specs(what: &str, text: &str) -> Result<Vec<String>> {
    let pieces = split(text, ',').ok_or_else(|| {
        Error::Spec(format!("cannot read {what} list '{text}': parentheses do not match"))
    })?;
    let mut specs: Vec<String> = Vec::new();
    for piece in pieces.into_iter().map(str::trim) {
        if piece.is_empty() {
            return Err(Error::Spec(format!(
                "'{text}' has an empty place between its commas; name a {what} there"
            )));
        }
        match specs.last_mut() {
            Some(last) if is_parameter(piece) => {
                if last.find([':', '(']).is_none_or(|at| last.as_bytes()[at] != b':') {
                    let name = last.split('(').next().unwrap_or_default();
                    return Err(Error::Spec(format!(
                        "'{piece}' follows '{last}' without a colon; parameters go as in \
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
        return Err(Error::Spec(format!("there is no {what} in '{text}'; name at least one")));
    }
    Ok(specs)
}

/// True of `key=value`, and not of a spec, whose name ends with a colon or a parenthesis.
fn is_parameter(piece: &str) -> bool {
    piece.find([':', '(', '=']).is_some_and(|at| piece.as_bytes()[at] == b'=')
}

/// Splits at `separator` outside parentheses; `None` if they do not match. Empty text is no items.
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

    const ENTRIES: &[Entry] = &[Entry {
        name: "d-choices",
        summary: "",
        params: &[Param { name: "d", default: "10", help: "blocks drawn" }],
        example: "d-choices:d=10",
    }];

    fn d(text: &str) -> Result<u64> {
        let spec = Spec::parse("victim policy", text)?;
        spec.resolve("victim policy", ENTRIES)?.1.integer("d", 1..=100)
    }

    #[test]
    fn parameters_take_their_value_or_default() {
        assert_eq!(d("d-choices:d=7"), Ok(7));
        assert_eq!(d("d-choices(d=1e1)"), Ok(10));
        assert_eq!(d("d-choices"), Ok(10));
    }

    #[test]
    fn bad_specs_are_refused_in_a_sentence() {
        for text in [
            "",
            ":d=1",
            "d-choices:",
            "d-choices:d",
            "d-choices:d=",
            "d-choices:d=0",
            "d-choices:d=1,d=2",
            "d-choices:d=x",
            "d-choices:e=1",
            "d-choises",
            "d-choices(d=1",
            "d-choices:d=(1",
            "d-choices:,",
        ] {
            let message = d(text).expect_err(text).to_string();
            assert!(
                message.contains("valid") || message.contains("write name"),
                "{text}: {message}"
            );
        }
        assert!(d("d-choises").unwrap_err().to_string().contains("did you mean 'd-choices'?"));
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
            ("single,d=5", "without a colon; parameters go as in single:d=5"),
            ("hcwf(d=5),d_swap=9", "parameters go as in hcwf:d_swap=9"),
            ("single,,sepgc", "an empty place between its commas"),
            ("single,", "an empty place between its commas"),
            ("hcwf(d=5,single", "parentheses do not match"),
            ("hcwf)d=5(,single", "parentheses do not match"),
            ("", "name at least one"),
        ] {
            let message = split_specs("block manager", text).expect_err(text).to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }
}
