//! All registries, and look-up of the registry that contains a name.

use crate::detectors::DETECTORS;
use crate::error::{Error, Result};
use crate::leveling::WEAR_LEVELERS;
use crate::managers::MANAGERS;
use crate::registry::{Pairs, Registry};
use crate::victims::VICTIMS;
use crate::workloads::WORKLOADS;

/// Every registry of policies and workloads.
pub static ALL: [&Registry; 5] = [&MANAGERS, &VICTIMS, &WEAR_LEVELERS, &DETECTORS, &WORKLOADS];

/// Registry with the name that `writeamp list` accepts, such as "victims".
pub fn named(name: &str) -> Result<&'static Registry> {
    let registry = ALL.into_iter().find(|registry| registry.name == name);
    registry.ok_or_else(|| Error::unknown("registry", name, &ALL.map(|registry| registry.name)))
}

/// Registry with an entry of that name. The error lists all entries.
pub fn of(name: &str) -> Result<&'static Registry> {
    let names = |registry: &'static Registry| registry.entries.iter().map(|entry| entry.name);
    let registry =
        ALL.into_iter().find(|registry| names(registry).any(|entry_name| entry_name == name));
    let all: Vec<&str> = ALL.into_iter().flat_map(names).collect();
    registry.ok_or_else(|| Error::unknown("policy", name, &all))
}

/// Pairs of block manager and victim policy that `writeamp twin fit` may try.
pub fn candidates() -> impl Iterator<Item = &'static Pairs> {
    let entries = [&VICTIMS, &MANAGERS].into_iter().flat_map(|registry| registry.entries);
    entries.flat_map(|entry| entry.candidates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Domain;
    use std::collections::HashSet;
    use std::ops::Bound;

    #[test]
    fn every_entry_has_a_name_of_its_own_a_summary_and_specs_that_name_it() {
        for registry in ALL {
            let mut names = HashSet::new();
            for entry in registry.entries {
                assert!(names.insert(entry.name), "{}", entry.name);
                assert!(!entry.summary.is_empty(), "{}", entry.name);
                for spec in entry.small_specs().chain([entry.example]) {
                    let params = registry.read(spec).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(params.entry().name, entry.name, "{spec}");
                }
            }
        }
    }

    #[test]
    fn every_candidate_names_the_entry_that_declares_it() {
        for (registry, entry) in ALL.iter().flat_map(|r| r.entries.iter().map(move |e| (r, e))) {
            for pairs in entry.candidates {
                let specs = if **registry == MANAGERS { pairs.managers } else { pairs.victims };
                let named = |spec: &&str| spec.split(':').next() == Some(entry.name);
                assert!(specs.iter().all(named), "{}: {pairs:?}", entry.name);
            }
        }
    }

    #[test]
    fn every_parameter_has_names_of_its_own_and_a_default_in_its_domain() {
        for entry in ALL.iter().flat_map(|registry| registry.entries) {
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

    /// Values at and beyond the edges of a domain, and invalid words.
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
            Domain::Either(first, second) => [wrong_values(first), wrong_values(second)].concat(),
        };
        let words = ["no-such-word", "1/"].map(str::to_owned);
        let mut all = [candidates, words.to_vec()].concat();
        all.retain(|value| domain.check(value, 0).is_err());
        all
    }

    #[test]
    fn every_parameter_refuses_what_is_not_in_its_domain_in_a_sentence_that_names_it() {
        for registry in ALL {
            for (entry, param) in
                registry.entries.iter().flat_map(|e| e.all_params().map(move |p| (e, p)))
            {
                for value in wrong_values(&param.domain) {
                    let spec = format!("{}({}={value})", entry.name, param.name);
                    let error = registry.read(&spec).expect_err(&spec).to_string();
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
            WORKLOADS.read(&specs)
        };
        assert!(nested(16).is_ok());
        assert!(nested(17).unwrap_err().to_string().contains("16 levels deep"));
        assert!(nested(5000).is_err());
    }

    #[test]
    fn unknown_registries_are_refused_by_name() {
        let error = named("victim").unwrap_err().to_string();
        assert!(error.contains("did you mean 'victims'"), "{error}");
        assert_eq!(of("d-choices"), Ok(&VICTIMS));
        let error = of("d-choises").unwrap_err().to_string();
        assert!(error.contains("did you mean 'd-choices'") && error.contains("tpcc"), "{error}");
    }
}
