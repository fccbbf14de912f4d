//! Tables of a device's times from JSON, and the sentence on a key that cannot be.

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Kinds of numbers, in words.
const WORDS: [(&str, &str); 5] = [
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number, 0 or more"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
];

/// Reads tables; an error names the key that is wrong by its table, and what is valid.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    let json = &mut serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(json).map_err(|error| {
        // The text is made from a profile, where its columns mean nothing.
        let found = error.inner().to_string();
        let sentence = found.split(" at line ").next().unwrap_or_default();
        Error::Spec(sentence_on(&error.path().to_string(), sentence))
    })
}

fn sentence_on(path: &str, found: &str) -> String {
    let Some((what, expected)) = found.split_once(", expected ") else {
        return format!("{path} of the device: {found}");
    };
    if what.starts_with("unknown field ") {
        let valid = expected.trim_start_matches("one of ").replace('`', "");
        return format!("{path} is no key of the device; valid: {valid}");
    }
    let prefixes = ["invalid type: ", "invalid value: ", "unknown variant "];
    let what = prefixes.iter().find_map(|prefix| what.strip_prefix(prefix)).unwrap_or(what);
    // Of "integer `-5`" and its like, the value.
    let value = what.split_once('`').map_or(what, |(_, value)| value.trim_end_matches('`'));
    let words = WORDS.iter().find(|(kind, _)| *kind == expected);
    let expected = words.map_or(expected, |(_, words)| words);
    format!("{path} is {value}; it must be {}", expected.replace('`', ""))
}

#[cfg(test)]
mod tests {
    use crate::timing::disk::DiskProfile;
    use crate::timing::params::Timing;

    #[test]
    fn a_key_that_cannot_be_is_named_by_its_table_with_what_is_valid() {
        let cases = [
            (r#"{"slc": {"size": 5}}"#, "slc.size is no key of the device; valid: static_bytes, d"),
            (r#"{"sl": {}}"#, "sl is no key of the device; valid: "),
            (
                r#"{"slc": {"static_bytes": -5}}"#,
                "slc.static_bytes is -5; it must be a whole number, 0 or more",
            ),
            (
                r#"{"slc": {"when_full": "stop"}}"#,
                "slc.when_full is stop; it must be fold or through",
            ),
            (
                r#"{"scheduling": {"suspend": 1}}"#,
                "scheduling.suspend is 1; it must be true or false",
            ),
            (
                r#"{"timing": {"read_us": [1, "a"]}}"#,
                "timing.read_us of the device: it must be a number, or a list of one for each",
            ),
            (
                r#"{"errors": {"erases": [0, -1]}}"#,
                "errors.erases[1] is -1; it must be a whole number from 0 to 4294967295",
            ),
        ];
        for (text, said) in cases {
            let error = Timing::from_json(text).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
        let error = DiskProfile::from_json(r#"{"disk": {"rpm": "fast"}}"#).unwrap_err().to_string();
        assert!(error.starts_with("disk.rpm is string \"fast\"; it must be a number"), "{error}");
    }
}
