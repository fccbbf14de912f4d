//! Parameters of registered entries: their names, domains and defaults, each written once.

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

/// The largest value of parameters that are kept in 32 bits.
pub const U32_MAX: u64 = u32::MAX as u64;

/// A parameter that an entry of a registry accepts.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Name before the equals sign.
    pub name: &'static str,
    /// Other names that are accepted for it.
    pub aliases: &'static [&'static str],
    /// The value when it is not given; `None` if it must be given.
    pub default: Option<&'static str>,
    /// Domain of its values.
    pub domain: Domain,
    /// Meaning, in a few words.
    pub help: &'static str,
    /// Change of its value where a smaller drive stands for the one that is meant.
    pub extent: Extent,
    /// True if it is left out of the canonical form at its default.
    /// So specs from before there was such a parameter keep theirs.
    pub is_later: bool,
}

/// Relation of a parameter to the number of pages that its workload writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Not at all, as shares, exponents and sizes of requests.
    Free,
    /// A number of writes, which grows as the pages do.
    Writes,
    /// A number of blocks, which grows as the pages do.
    /// A number that would be less than the domain's least is that, and the larger drive another
    /// than the one that is meant (`Params::not_scaled`).
    Blocks,
    /// A number that no smaller drive can have in proportion, and so keeps; the words say why.
    Kept(&'static str),
    /// Pages of the drive that is meant, for each page that there is.
    PerPage,
    /// Only its default is the same on drives of all sizes; the words say why.
    Place(&'static str),
}

impl Param {
    /// A parameter with a default.
    pub const fn new(
        name: &'static str,
        default: &'static str,
        domain: Domain,
        help: &'static str,
    ) -> Self {
        Param { default: Some(default), ..Param::required(name, domain, help) }
    }

    /// A parameter that must be given.
    pub const fn required(name: &'static str, domain: Domain, help: &'static str) -> Self {
        Param {
            name,
            aliases: &[],
            default: None,
            domain,
            help,
            extent: Extent::Free,
            is_later: false,
        }
    }

    /// The parameter as one that goes with the number of pages.
    #[must_use]
    pub const fn extent(mut self, extent: Extent) -> Self {
        self.extent = extent;
        self
    }

    /// The parameter as one that came later than others of its entry.
    #[must_use]
    pub const fn later(mut self) -> Self {
        self.is_later = true;
        self
    }

    /// The parameter under further names.
    #[must_use]
    pub const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The parameter with another default.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// True if a valid `text` means the same as its default.
    fn is_default(&self, text: &str) -> bool {
        self.default
            .is_some_and(|default| self.domain.canonical(default) == self.domain.canonical(text))
    }

    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// Specs that may be the values of a parameter: those of one registry.
pub trait Specs: Debug + Sync {
    /// Name of the registry.
    fn name(&self) -> &'static str;

    /// One of its entries, in a sentence.
    fn noun(&self) -> &'static str;

    /// Several of its entries, in a sentence.
    fn plural(&self) -> &'static str;

    /// The entry that a spec inside so many others names, with its parameters.
    fn read_nested(&self, text: &str, depth: usize) -> Result<Params>;
}

/// Parameters of a spec, given or by default, each in its domain: reading one cannot fail.
#[derive(Debug, Clone)]
pub struct Params {
    entry: &'static Entry,
    given: Vec<Given>,
}

#[derive(Debug, Clone)]
struct Given {
    name: &'static str,
    /// The name or alias that was used.
    spelled: String,
    value: String,
}

impl Params {
    /// The parameters of `entry`, a `noun`, by what is given in a spec inside so many others.
    pub(crate) fn read(
        noun: &str,
        entry: &'static Entry,
        pairs: Vec<(String, String)>,
        depth: usize,
    ) -> Result<Self> {
        let mut params = Params { entry, given: Vec::with_capacity(pairs.len()) };
        for (spelled, value) in pairs {
            let known = entry.all_params().find(|param| param.names().any(|name| name == spelled));
            let Some(param) = known else {
                let names: Vec<&str> = entry.all_params().flat_map(Param::names).collect();
                let what = format!("parameter of {noun} {}", entry.name);
                return Err(Error::unknown(&what, &spelled, &names));
            };
            if let Some(other) = params.given(param.name) {
                return Err(Error::Spec(format!(
                    "{}: {} and {spelled} are the same parameter; give one of them",
                    entry.name, other.spelled
                )));
            }
            params.given.push(Given { name: param.name, spelled, value });
            let Given { value, .. } = &params.given[params.given.len() - 1];
            if let Err(wrong) = param.domain.check(value, depth) {
                // Looked for only where no error names it: nested specs would be read again.
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
                    "{}: {}={value} is for a whole {noun}, not for a part of one; give it outside of \
                     the parentheses",
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

    /// The entry that they belong to.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The spec with all of its parameters, in the form that all spellings of it share.
    pub fn canonical(&self) -> String {
        let params: Vec<String> =
            self.canonical_values().map(|(name, value)| format!("{name}={value}")).collect();
        if params.is_empty() {
            self.entry.name.to_owned()
        } else {
            format!("{}({})", self.entry.name, params.join(","))
        }
    }

    /// Every parameter with its value in the form that all spellings of it share.
    /// Left out are the common and later ones that are at their defaults, so that they change no
    /// spec that does not use them.
    pub fn canonical_values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let value = |param: &Param| param.domain.canonical(self.text(param.name));
        let is_default = |param: &Param| param.is_default(self.text(param.name));
        let own =
            self.entry.params.iter().filter(move |param| !param.is_later || !is_default(param));
        let common = self.entry.common.iter().filter(move |param| !is_default(param));
        own.chain(common).map(move |param| (param.name, value(param)))
    }

    /// Every parameter with its value.
    pub fn filled(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.entry.all_params().map(|param| (param.name, self.text(param.name)))
    }

    /// The text of a parameter.
    pub fn text(&self, name: &str) -> &str {
        let default = || self.param(name).default.expect("what has no default is given");
        self.given(name).map_or_else(default, |given| &given.value)
    }

    /// True if the spec gives `name` rather than leaving it at its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.given(name).is_some()
    }

    /// Meaning of a parameter's word, by the list that its domain has its words from.
    pub fn choice<T: Copy>(&self, name: &str, all: &[(&str, T)]) -> T {
        let text = self.text(name);
        let (_, chosen) = all.iter().find(|(word, _)| *word == text).expect("a word of its domain");
        *chosen
    }

    /// A whole number, of a type that its domain fits.
    pub fn integer<T: TryFrom<u64>>(&self, name: &str) -> T {
        whole(self.text(name))
    }

    /// A number.
    pub fn number(&self, name: &str) -> f64 {
        number_or_per_cent(self.text(name)).expect("a number by its domain")
    }

    /// A size in bytes.
    pub fn bytes(&self, name: &str) -> u64 {
        bytes(self.text(name)).expect("a size by its domain")
    }

    /// The items of a list.
    pub fn items(&self, name: &str) -> Vec<&str> {
        split(self.text(name), '/').expect("a list by its domain")
    }

    /// A list of whole numbers.
    pub fn integers<T: TryFrom<u64>>(&self, name: &str) -> Vec<T> {
        self.items(name).into_iter().map(whole).collect()
    }

    /// A list of numbers.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let item = |item| number_or_per_cent(item).expect("a number by its domain");
        self.items(name).into_iter().map(item).collect()
    }

    /// The error for a value that is not valid: by `domain`, which says which values are.
    pub fn outside(&self, name: &str, value: impl Display, domain: impl Display) -> Error {
        let name = self.given(name).map_or(name, |given| &given.spelled);
        Error::out_of_domain(Some(self.entry.name), name, value, domain)
    }

    fn given(&self, name: &str) -> Option<&Given> {
        self.given.iter().find(|given| given.name == name)
    }

    fn param(&self, name: &str) -> &'static Param {
        let declared = self.entry.all_params().find(|param| param.name == name);
        declared.unwrap_or_else(|| panic!("{} declares no parameter '{name}'", self.entry.name))
    }
}
