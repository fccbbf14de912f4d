//! Parameters of registry entries: names, domains and defaults, each defined once.

mod domain;
mod entry;
mod scaling;
#[cfg(test)]
mod tests;
mod values;

use std::fmt::{Debug, Display};

use crate::error::{Error, Result};
use crate::spec::split;
use domain::PerCent;
pub use domain::{Domain, words};
pub use entry::{Entry, Pairs};
use values::{bytes, number_or_per_cent, whole};

/// Largest value of parameters that are stored in 32 bits.
pub const U32_MAX: u64 = u32::MAX as u64;

/// Parameter of a registry entry.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Name, before the equals sign.
    pub name: &'static str,
    /// Alternative names of the parameter.
    pub aliases: &'static [&'static str],
    /// Default value, or None for a required parameter.
    pub default: Option<&'static str>,
    /// Domain of the parameter: its valid values.
    pub domain: Domain,
    /// Help text of the parameter.
    pub help: &'static str,
    /// Change of the value if a smaller drive is simulated instead of a large one.
    pub extent: Extent,
    /// True if the parameter is omitted from the canonical form when it has its default.
    /// Specs written before the parameter existed then keep their canonical form.
    pub is_later: bool,
    /// True if results state the parameter even when the user left it at its default, because the
    /// default is an assumption about the modelled system.
    pub is_stated: bool,
}

/// Dependence of a parameter on the number of pages that the workload writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Does not depend on the number of pages: shares, exponents and request sizes.
    Free,
    /// Number of writes, proportional to the pages.
    Writes,
    /// Number of blocks, proportional to the pages.
    /// Values below the domain's minimum become the minimum. In that case the number is a larger
    /// share of the simulated drive's blocks than of the full drive's, which `Params::not_scaled`
    /// reports.
    Blocks,
    /// Number of bytes, proportional to the pages.
    /// Values below the domain's minimum become the minimum.
    Bytes,
    /// Number of bytes, proportional to the erase unit, with the same minimum.
    EraseUnits,
    /// Number that stays the same on the simulated drive. The text gives the reason.
    Kept(&'static str),
    /// Pages of the full drive that each simulated page represents.
    PerPage,
    /// Position on the drive, of which only the default is valid on drives of all sizes.
    /// The text gives the reason.
    Place(&'static str),
}

impl Param {
    /// Builds a parameter with a default value.
    pub const fn new(
        name: &'static str,
        default: &'static str,
        domain: Domain,
        help: &'static str,
    ) -> Self {
        Param { default: Some(default), ..Param::required(name, domain, help) }
    }

    /// Builds a required parameter, which has no default value.
    pub const fn required(name: &'static str, domain: Domain, help: &'static str) -> Self {
        Param {
            name,
            aliases: &[],
            default: None,
            domain,
            help,
            extent: Extent::Free,
            is_later: false,
            is_stated: false,
        }
    }

    /// Sets the dependence on the number of pages.
    #[must_use]
    pub const fn extent(mut self, extent: Extent) -> Self {
        self.extent = extent;
        self
    }

    /// Marks the parameter as added later than the others of its entry ([`Self::is_later`]).
    #[must_use]
    pub const fn later(mut self) -> Self {
        self.is_later = true;
        self
    }

    /// Marks the parameter as an assumption that results state ([`Self::is_stated`]).
    #[must_use]
    pub const fn stated(mut self) -> Self {
        self.is_stated = true;
        self
    }

    /// Sets alternative names of the parameter.
    #[must_use]
    pub const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Sets another default value of the parameter.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// True if a valid `text` is equal to the default.
    fn is_default(&self, text: &str) -> bool {
        self.default
            .is_some_and(|default| self.domain.canonical(default) == self.domain.canonical(text))
    }

    /// Name and alternative names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// Registry whose specs may be values of a parameter.
pub trait Specs: Debug + Sync {
    /// Name of the registry.
    fn name(&self) -> &'static str;

    /// Singular noun for one entry of the registry, for use in sentences, such as "workload".
    fn noun(&self) -> &'static str;

    /// Plural noun for the registry's entries, for use in sentences, such as "workloads".
    fn plural(&self) -> &'static str;

    /// Parses a spec that is nested `depth` deep.
    fn read_nested(&self, text: &str, depth: usize) -> Result<Params>;
}

/// Validated parameters of a spec, explicit or by default. Reading a parameter cannot fail.
#[derive(Debug, Clone)]
pub struct Params {
    entry: &'static Entry,
    settings: Vec<Setting>,
}

#[derive(Debug, Clone)]
struct Setting {
    name: &'static str,
    /// Name or alias that the user wrote.
    spelled: String,
    value: String,
}

impl Params {
    /// Validates the parameters of `entry`, a `noun`, in a spec nested `depth` deep.
    pub(crate) fn read(
        noun: &str,
        entry: &'static Entry,
        pairs: Vec<(String, String)>,
        depth: usize,
    ) -> Result<Self> {
        let mut params = Params { entry, settings: Vec::with_capacity(pairs.len()) };
        for (spelled, value) in pairs {
            let param = entry.all_params().find(|param| param.names().any(|name| name == spelled));
            let Some(param) = param else {
                let names: Vec<&str> = entry.all_params().flat_map(Param::names).collect();
                let what = format!("parameter of {noun} {}", entry.name);
                return Err(Error::unknown(&what, &spelled, &names));
            };
            if let Some(other) = params.setting(param.name) {
                return Err(Error::Spec(format!(
                    "{}: {} and {spelled} are the same parameter; give only one of them",
                    entry.name, other.spelled
                )));
            }
            params.settings.push(Setting { name: param.name, spelled, value });
            let Setting { value, .. } = &params.settings[params.settings.len() - 1];
            if let Err(wrong) = param.domain.check(value, depth) {
                // To find the invalid part, nested specs are parsed again. This is done only if the
                // error of the first parse does not name that part.
                let outside = || {
                    let culprit = param.domain.culprit(value);
                    if culprit.contains('%') && param.domain.holds_shares() {
                        return params.outside(param.name, culprit, PerCent(param.domain));
                    }
                    params.outside(param.name, culprit, param.domain)
                };
                return Err(wrong.unwrap_or_else(outside));
            }
            if depth > 0 && entry.is_common(param) && !param.is_default(value) {
                return Err(Error::Spec(format!(
                    "{}: {}={value} is only valid for a whole {noun}; move it out of the \
                     parentheses",
                    entry.name, param.name
                )));
            }
        }
        let missing =
            |param: &&'static Param| param.default.is_none() && !params.is_given(param.name);
        if let Some(param) = entry.all_params().find(missing) {
            return Err(Error::Spec(format!(
                "{} needs {}= ({}), as in {}",
                entry.name, param.name, param.help, entry.example
            )));
        }
        Ok(params)
    }

    /// Registry entry of the spec.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Canonical form of the spec, with its parameters as in [`Self::canonical_values`].
    pub fn canonical(&self) -> String {
        let params: Vec<String> =
            self.canonical_values().map(|(name, value)| format!("{name}={value}")).collect();
        if params.is_empty() {
            self.entry.name.to_owned()
        } else {
            format!("{}({})", self.entry.name, params.join(","))
        }
    }

    /// All parameters with their values in canonical form.
    /// Common and later parameters at their defaults are omitted, so that they do not change specs
    /// without them.
    pub fn canonical_values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let value = |param: &Param| param.domain.canonical(self.text(param.name));
        let is_default = |param: &Param| param.is_default(self.text(param.name));
        let own =
            self.entry.params.iter().filter(move |param| !param.is_later || !is_default(param));
        let common = self.entry.common.iter().filter(move |param| !is_default(param));
        own.chain(common).map(move |param| (param.name, value(param)))
    }

    /// All parameters with their values as text, as the user wrote them or by default.
    pub fn filled(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.entry.all_params().map(|param| (param.name, self.text(param.name)))
    }

    /// Value of a parameter, as text.
    pub fn text(&self, name: &str) -> &str {
        let default = || {
            self.param(name).default.expect("a parameter without a default was checked to be set")
        };
        self.setting(name).map_or_else(default, |setting| &setting.value)
    }

    /// True if the spec sets `name` explicitly.
    pub fn is_given(&self, name: &str) -> bool {
        self.setting(name).is_some()
    }

    /// Text of the spec for results: `text`, with the defaults that results state.
    pub fn stated(&self, text: &str) -> String {
        let is_complete = |param: &&Param| !param.is_stated || self.is_given(param.name);
        if self.entry.params.iter().all(|param| is_complete(&param)) {
            return text.to_owned();
        }
        let is_shown = |param: &&Param| param.is_stated || self.is_given(param.name);
        let params: Vec<String> = self
            .entry
            .all_params()
            .filter(is_shown)
            .map(|param| format!("{}={}", param.name, self.text(param.name)))
            .collect();
        format!("{}:{}", self.entry.name, params.join(","))
    }

    /// Meaning of the word that a parameter has as its value.
    /// `all` is the list of words and meanings from which its domain was built.
    pub fn choice<T: Copy>(&self, name: &str, all: &[(&str, T)]) -> T {
        let text = self.text(name);
        let (_, chosen) = all
            .iter()
            .find(|(word, _)| *word == text)
            .expect("the domain was checked, so the text is one of its words");
        *chosen
    }

    /// Whole number, of a type that holds all values of its domain.
    pub fn integer<T: TryFrom<u64>>(&self, name: &str) -> T {
        whole(self.text(name))
    }

    /// Value of a parameter as a number.
    pub fn number(&self, name: &str) -> f64 {
        number_or_per_cent(self.text(name))
            .expect("the domain was checked, so the text is a number")
    }

    /// Value of a parameter as a size in bytes.
    pub fn bytes(&self, name: &str) -> u64 {
        bytes(self.text(name)).expect("the domain was checked, so the text is a size")
    }

    /// Items of a list parameter, as text.
    pub fn items(&self, name: &str) -> Vec<&str> {
        split(self.text(name), '/').expect("the domain was checked, so the text is a list")
    }

    /// Value of a list parameter as sizes in bytes.
    pub fn sizes(&self, name: &str) -> Vec<u64> {
        let size = |item| bytes(item).expect("the domain was checked, so the text is a size");
        self.items(name).into_iter().map(size).collect()
    }

    /// Value of a list parameter as whole numbers.
    pub fn integers<T: TryFrom<u64>>(&self, name: &str) -> Vec<T> {
        self.items(name).into_iter().map(whole).collect()
    }

    /// Value of a list parameter as numbers.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let item = |item| {
            number_or_per_cent(item).expect("the domain was checked, so the text is a number")
        };
        self.items(name).into_iter().map(item).collect()
    }

    /// Builds the error for an invalid value. `domain` describes the valid values.
    pub fn outside(&self, name: &str, value: impl Display, domain: impl Display) -> Error {
        let name = self.setting(name).map_or(name, |setting| &setting.spelled);
        Error::out_of_domain(Some(self.entry.name), name, value, domain)
    }

    fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    fn param(&self, name: &str) -> &'static Param {
        let declared = self.entry.all_params().find(|param| param.name == name);
        declared.unwrap_or_else(|| panic!("{} declares no parameter '{name}'", self.entry.name))
    }
}
