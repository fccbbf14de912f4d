//! Specs of policies: a name, and the parameters that it is given.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The name of a policy, and the value of each of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub name: String,
    pub params: BTreeMap<String, String>,
}

impl Spec {
    /// A policy with all of its parameters.
    pub fn new<'a>(name: &str, params: impl IntoIterator<Item = (&'static str, &'a str)>) -> Self {
        let params = params.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        Spec { name: name.to_owned(), params: params.collect() }
    }

    /// A parameter that may be left out, where it is `default`.
    pub fn word<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        self.params.get(key).map_or(default, String::as_str)
    }

    /// A parameter, read.
    pub fn get<T: FromStr>(&self, key: &str) -> T {
        let found = self.params.get(key).and_then(|value| value.parse().ok());
        found.unwrap_or_else(|| panic!("{self:?} has no {key} of that type"))
    }

    /// Returns a parameter, or its default where specs leave it out.
    pub fn get_or<T: FromStr>(&self, key: &str, default: T) -> T {
        if self.params.contains_key(key) { self.get(key) } else { default }
    }
}

/// True if the twin of the policy that `spec` names is in `module`.
pub(crate) fn is_module_of(module: &str, spec: &Spec) -> bool {
    module.split('_').eq(spec.name.split('-'))
}
