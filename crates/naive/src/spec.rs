//! Specs of policies: a name and its parameters.

use std::collections::BTreeMap;
use std::str::FromStr;

/// Name of a policy, and the text of each of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub name: String,
    pub params: BTreeMap<String, String>,
}

impl Spec {
    /// Returns a policy with all of its parameters.
    pub fn new<'a>(name: &str, params: impl IntoIterator<Item = (&'static str, &'a str)>) -> Self {
        let params = params.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        Spec { name: name.to_owned(), params: params.collect() }
    }

    /// Returns the text of a parameter, or `default` if it is left out.
    pub fn word<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        self.params.get(key).map_or(default, String::as_str)
    }

    /// Returns the parsed value of a parameter.
    ///
    /// # Panics
    /// If it is missing, or its text cannot be parsed.
    pub fn get<T: FromStr>(&self, key: &str) -> T {
        let parsed = self.params.get(key).and_then(|value| value.parse().ok());
        parsed.unwrap_or_else(|| panic!("{self:?}: parameter '{key}' is missing or invalid"))
    }

    /// Returns the parsed value of a parameter, or `default` if it is left out.
    pub fn get_or<T: FromStr>(&self, key: &str, default: T) -> T {
        if self.params.contains_key(key) { self.get(key) } else { default }
    }
}

/// True if the reference policy for the name in `spec` is in `module`.
pub(crate) fn is_module_of(module: &str, spec: &Spec) -> bool {
    module.split('_').eq(spec.name.split('-'))
}
