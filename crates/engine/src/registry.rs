//! The registries: what can be asked for by name, and what each entry says of itself.
//!
//! A policy's file ends in its [`Registered`] implementation; one line in its room's list makes it
//! an entry. Reading a spec, static dispatch to the type that it names, the command line, the
//! documentation and the tests all go by what the entry declares.

use crate::error::{Error, Result};
use crate::params::{Param, Params};
use crate::spec::Spec;
use crate::{detectors, leveling, managers, victims, workloads};

/// A registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Block managers.
    Managers,
    /// Victim policies.
    Victims,
    /// Wear levellers.
    WearLevelers,
    /// Detectors of hot pages.
    Detectors,
    /// Workloads.
    Workloads,
}

impl Kind {
    /// Every registry.
    pub const ALL: [Kind; 5] =
        [Kind::Managers, Kind::Victims, Kind::WearLevelers, Kind::Detectors, Kind::Workloads];

    /// The registry of that name.
    pub fn named(name: &str) -> Result<Kind> {
        let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| Error::unknown("registry", name, &Kind::ALL.map(Kind::name)))
    }

    /// The registry that has an entry of that name; the error lists all entries.
    pub fn of(name: &str) -> Result<Kind> {
        let names = |kind: &Kind| kind.entries().iter().map(|entry| entry.name);
        let found = Kind::ALL.into_iter().find(|kind| names(kind).any(|known| known == name));
        let all: Vec<&str> = Kind::ALL.iter().flat_map(names).collect();
        found.ok_or_else(|| Error::unknown("policy", name, &all))
    }

    /// Its name, as `writeamp list` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Managers => "managers",
            Kind::Victims => "victims",
            Kind::WearLevelers => "wear_levelers",
            Kind::Detectors => "detectors",
            Kind::Workloads => "workloads",
        }
    }

    /// What one of its entries is called in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Managers => "block manager",
            Kind::Victims => "victim policy",
            Kind::WearLevelers => "wear leveller",
            Kind::Detectors => "detector",
            Kind::Workloads => "workload",
        }
    }

    /// What several of its entries are called.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Managers => "block managers",
            Kind::Victims => "victim policies",
            Kind::WearLevelers => "wear levellers",
            Kind::Detectors => "detectors",
            Kind::Workloads => "workloads",
        }
    }

    /// Its entries, in order of registration.
    pub fn entries(self) -> &'static [Entry] {
        match self {
            Kind::Managers => managers::ENTRIES,
            Kind::Victims => victims::ENTRIES,
            Kind::WearLevelers => leveling::ENTRIES,
            Kind::Detectors => detectors::ENTRIES,
            Kind::Workloads => workloads::ENTRIES,
        }
    }

    /// The entry that a spec names with its parameters, each of which is in its domain.
    pub fn read(self, text: &str) -> Result<Params> {
        self.read_nested(text, 0)
    }

    /// The same of a spec inside so many others.
    pub(crate) fn read_nested(self, text: &str, depth: usize) -> Result<Params> {
        const DEEPEST: usize = 16;
        let noun = self.noun();
        if depth > DEEPEST {
            return Err(Error::Spec(format!("the {noun} nests more than {DEEPEST} deep")));
        }
        let Spec { name, given } = Spec::parse(noun, text)?;
        let entries = self.entries();
        let entry = entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            Error::unknown(noun, &name, &names)
        })?;
        if depth > 0 && entry.is_alone {
            return Err(Error::Spec(format!("{name} is a whole {noun}, and no part of another")));
        }
        Params::read(noun, entry, given, depth)
    }
}

/// What an entry of a registry says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name that a spec begins with.
    pub name: &'static str,
    /// Summary of one sentence.
    pub summary: &'static str,
    /// Parameters of its own.
    pub params: &'static [Param],
    /// The parameters that all entries of its kind have, and further ones that are for a whole spec
    /// too: inside another one they may have their defaults only, and at these they are left out of
    /// the canonical form.
    pub common: &'static [Param],
    /// True if a spec of it cannot stand inside another one.
    pub is_alone: bool,
    /// A complete spec, as help shows it and most tests build it.
    pub example: &'static str,
    /// A complete spec that small drives have room for, and that they feel.
    pub small: &'static str,
    /// Further specs that the conformance tests build: the edges, and what small drives feel.
    pub variants: &'static [&'static str],
}

impl Entry {
    /// An entry without parameters.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Entry {
            name,
            summary,
            params: &[],
            common: &[],
            is_alone: false,
            example: name,
            small: name,
            variants: &[],
        }
    }

    /// The entry with parameters, all of them optional unless an example follows.
    #[must_use]
    pub const fn params(mut self, params: &'static [Param]) -> Self {
        self.params = params;
        self
    }

    /// The entry with the parameters of its kind, and others for a whole spec.
    #[must_use]
    pub const fn common(mut self, params: &'static [Param]) -> Self {
        self.common = params;
        self
    }

    /// All parameters, its own first.
    pub fn all_params(&self) -> impl Iterator<Item = &'static Param> + use<> {
        self.params.iter().chain(self.common)
    }

    /// True of a parameter that is for a whole spec.
    pub(crate) fn is_common(&self, param: &Param) -> bool {
        self.common.iter().any(|common| common.name == param.name)
    }

    /// The entry as one that is no part of another.
    #[must_use]
    pub const fn alone(mut self) -> Self {
        self.is_alone = true;
        self
    }

    /// The entry with an example of its parameters.
    #[must_use]
    pub const fn example(mut self, spec: &'static str) -> Self {
        self.example = spec;
        self.small = spec;
        self
    }

    /// The entry with a spec for small drives, where these have no room for the example.
    #[must_use]
    pub const fn small(mut self, spec: &'static str) -> Self {
        self.small = spec;
        self
    }

    /// The entry with further specs to test.
    #[must_use]
    pub const fn variants(mut self, specs: &'static [&'static str]) -> Self {
        self.variants = specs;
        self
    }

    /// Every spec that the conformance tests build on small drives.
    pub fn small_specs(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.small).chain(self.variants.iter().copied())
    }
}

/// A registered type: what it says of itself, and how it is built for `Site`, that which it works
/// on.
pub trait Registered<Site: ?Sized>: Sized {
    /// Entry of the registry.
    const ENTRY: Entry;

    /// Builds it from parameters of its own entry.
    fn build(params: &Params, site: &Site) -> Result<Self>;
}

/// The entries of a list of types; their trait carries an `ENTRY`.
macro_rules! entries {
    ({$registered:path} $($entry:path),+ $(,)?) => {
        &[$(<$entry as $registered>::ENTRY),+]
    };
}
pub(crate) use entries;

/// Static dispatch: what `$then` makes of the type in a list whose entry `$params` belong to.
macro_rules! dispatch {
    ({$registered:path, $params:expr, $type:ident => $then:expr} $($entry:path),+ $(,)?) => {{
        let name = $params.entry().name;
        $(if name == <$entry as $registered>::ENTRY.name {
            type $type = $entry;
            return $then;
        })+
        unreachable!("parameters are those of an entry of the registry")
    }};
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Domain;
    use std::collections::HashSet;
    use std::ops::Bound;

    #[test]
    fn every_entry_has_a_name_of_its_own_a_summary_and_specs_that_name_it() {
        for kind in Kind::ALL {
            let mut names = HashSet::new();
            for entry in kind.entries() {
                assert!(names.insert(entry.name), "{}", entry.name);
                assert!(!entry.summary.is_empty(), "{}", entry.name);
                for spec in entry.small_specs().chain([entry.example]) {
                    let params = kind.read(spec).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(params.entry().name, entry.name, "{spec}");
                }
            }
        }
    }

    #[test]
    fn every_parameter_has_names_of_its_own_and_a_default_in_its_domain() {
        for entry in Kind::ALL.iter().flat_map(|kind| kind.entries()) {
            let mut names = HashSet::new();
            for param in entry.all_params() {
                assert!(param.names().all(|name| names.insert(name)), "{}: {param:?}", entry.name);
                assert!(!param.help.is_empty(), "{}: {param:?}", entry.name);
                if let Some(default) = param.default {
                    let checked = param.domain.check(default, 0);
                    assert!(checked.is_ok(), "{}: {param:?}", entry.name);
                }
            }
        }
    }

    /// Values around the edges of a domain, and words that mean nothing.
    fn wrong_values(domain: &Domain) -> Vec<String> {
        let candidates = match domain {
            Domain::Whole(least, most) | Domain::Bytes(least, most) => vec![
                least.saturating_sub(1).to_string(),
                (u128::from(*most) + 1).to_string(),
                format!("{least}.5"),
            ],
            Domain::Number(least, most) => {
                let edge = |bound: &Bound<f64>, step| match bound {
                    Bound::Included(value) => value + step,
                    Bound::Excluded(value) => *value,
                    Bound::Unbounded => f64::NAN,
                };
                vec![edge(least, -1.0).to_string(), edge(most, 1.0).to_string(), "inf".into()]
            }
            Domain::Word(_) | Domain::Spec(_) => Vec::new(),
            Domain::List(of) => wrong_values(of),
            Domain::Either(one, other) => [wrong_values(one), wrong_values(other)].concat(),
        };
        let words = ["no-such-word", "1/"].map(str::to_owned);
        let mut all = [candidates, words.to_vec()].concat();
        all.retain(|value| domain.check(value, 0).is_err());
        all
    }

    #[test]
    fn every_parameter_refuses_what_is_not_in_its_domain_in_a_sentence_that_names_it() {
        for kind in Kind::ALL {
            for (entry, param) in
                kind.entries().iter().flat_map(|e| e.all_params().map(move |p| (e, p)))
            {
                for value in wrong_values(&param.domain) {
                    let spec = format!("{}({}={value})", entry.name, param.name);
                    let error = kind.read(&spec).expect_err(&spec).to_string();
                    let names_the_domain = error.contains(&param.domain.to_string());
                    assert!(names_the_domain || error.contains("unknown"), "{spec}: {error}");
                    assert!(!error.contains('\n'), "{spec}: {error}");
                }
            }
        }
    }

    #[test]
    fn nests_end_somewhere() {
        let nested = |depth| {
            let specs = (0..depth).fold("uniform".to_owned(), |inner, _| {
                format!("mix(sizes=1,weights=1,of={inner})")
            });
            Kind::Workloads.read(&specs)
        };
        assert!(nested(16).is_ok());
        assert!(nested(17).unwrap_err().to_string().contains("16 deep"));
        assert!(nested(5000).is_err());
    }

    #[test]
    fn unknown_registries_are_refused_by_name() {
        let error = Kind::named("victim").unwrap_err().to_string();
        assert!(error.contains("did you mean 'victims'"), "{error}");
        assert_eq!(Kind::of("d-choices"), Ok(Kind::Victims));
        let error = Kind::of("d-choises").unwrap_err().to_string();
        assert!(error.contains("did you mean 'd-choices'") && error.contains("tpcc"), "{error}");
    }
}
