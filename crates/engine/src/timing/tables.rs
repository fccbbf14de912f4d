//! Parsing of a device's timing tables from JSON, with errors that name the invalid key.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Error as PathError, Path, Segment};

use super::domains::Domain;
use crate::error::{Error, Result};

/// Text for errors: the values are one number, or a list with one for each kind of page.
const OF_KINDS: &str = "or a list of one value for each kind of page";
/// Most characters of an invalid value that an error shows.
const MOST_SHOWN: usize = 80;

/// Parses tables. The error names the invalid key with its table, and the valid values.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    let json = &mut serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(json).map_err(|error| {
        let value = value_at(text, error.path());
        Error::Spec(sentence_on(&error.path().to_string(), &reason::<T>(text, &error), &value))
    })
}

/// Error of the JSON parser without line and column, because the user has not seen that JSON.
fn reason<T: DeserializeOwned>(text: &str, error: &PathError<serde_json::Error>) -> String {
    let reason = error.inner().to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    if reason != "expected value" {
        return reason.to_owned();
    }
    // The parser lists the valid words of a choice only after an invalid word.
    let mut tables = serde_json::from_str(text).unwrap_or(Value::Null);
    if let Some(value) = slot(&mut tables, error.path()) {
        *value = Value::String(String::new());
    }
    serde_path_to_error::deserialize::<_, T>(&tables)
        .map_or_else(|error| error.inner().to_string(), |_| reason.to_owned())
}

fn slot<'a>(tables: &'a mut Value, path: &Path) -> Option<&'a mut Value> {
    path.iter().try_fold(tables, |value, segment| match segment {
        Segment::Map { key } => value.get_mut(key),
        Segment::Seq { index } => value.get_mut(*index),
        Segment::Enum { .. } | Segment::Unknown => Some(value),
    })
}

/// Value at a path, as shown in errors.
fn value_at(text: &str, path: &Path) -> String {
    let mut tables = serde_json::from_str(text).unwrap_or(Value::Null);
    let shown = slot(&mut tables, path).map_or_else(|| "missing".into(), |value| value.to_string());
    if shown.chars().count() > MOST_SHOWN {
        return shown.chars().take(MOST_SHOWN).chain(['…']).collect();
    }
    shown
}

fn sentence_on(path: &str, reason: &str, value: &str) -> String {
    if path == "." {
        return format!("the timing tables of the device cannot be read: {reason}");
    }
    if let Some(key) = reason.strip_prefix("missing field ") {
        return format!("{path} has no key {}; add it", key.replace('`', ""));
    }
    let expected = reason.split_once(", expected ").map_or(reason, |(_, expected)| expected);
    let words = expected.trim_start_matches("one of ").replace('`', "");
    if reason.starts_with("unknown field ") {
        return format!("{path} is not a key of the device; valid: {words}");
    }
    let domain = Domain::of(path.split('[').next().unwrap_or(path));
    let valid = match (expected, domain) {
        ("a boolean", _) => "true or false".to_owned(),
        ("a sequence", _) => "a list of numbers".to_owned(),
        ("u32" | "u64" | "f64", Some(domain)) => domain.of_what(),
        (OF_KINDS, Some(domain)) => format!("{}, {OF_KINDS}", domain.of_what()),
        _ => words,
    };
    let is_word = reason.starts_with("unknown variant `") && value != "\"\"";
    let value = if is_word { value.trim_matches('"') } else { value };
    format!("{path} is {value}; it must be {valid}")
}

#[cfg(test)]
mod tests {
    use crate::timing::disk::DiskProfile;
    use crate::timing::params::Timing;

    #[test]
    fn a_key_that_cannot_be_is_named_by_its_table_with_what_is_valid() {
        let cases = [
            (
                r#"{"slc": {"size": 5}}"#,
                "slc.size is not a key of the device; valid: static_bytes, d",
            ),
            (r#"{"sl": {}}"#, "sl is not a key of the device; valid: "),
            (
                r#"{"slc": {"static_bytes": -5}}"#,
                "slc.static_bytes is -5; it must be a whole number from 0 to 17592186044416",
            ),
            (
                r#"{"slc": {"when_full": "stop"}}"#,
                "slc.when_full is stop; it must be fold or through",
            ),
            (r#"{"slc": {"when_full": [3]}}"#, "slc.when_full is [3]; it must be fold or through"),
            (
                r#"{"scheduling": {"suspend": 1}}"#,
                "scheduling.suspend is 1; it must be true or false",
            ),
            (
                r#"{"timing": {"read_us": [1, "a"]}}"#,
                "timing.read_us is [1,\"a\"]; it must be a number from 0 to 3.6e9, or a list of \
                 one",
            ),
            (
                r#"{"errors": {"erases": [0, -1]}}"#,
                "errors.erases[1] is -1; it must be a whole number from 0 to 2147483647",
            ),
        ];
        for (text, said) in cases {
            let error = Timing::from_json(text).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
        let error = DiskProfile::from_json(r#"{"disk": {}}"#).unwrap_err().to_string();
        assert_eq!(error, "disk has no key capacity_bytes; add it");
        let error = DiskProfile::from_json(r#"{"disk": {"rpm": "fast"}}"#).unwrap_err().to_string();
        assert!(
            error.starts_with("disk.rpm is \"fast\"; it must be a number from 60 to"),
            "{error}"
        );
    }
}
