//! Hot-page detectors, which classify pages by the host's writes alone. One file each.
//!
//! To add a detector, write its file and add a line to `detectors!` below. The oracle of the papers
//! is not a detector: its information comes with the host's writes, as [`crate::hints`].

mod bloom;
mod distance;

pub(crate) use bloom::Filter;

use crate::error::Result;
use crate::params::Domain;
use crate::registry::{Registered, Registry, dispatch, entries};
use crate::state::State;

/// Classifies pages as hot or cold.
pub trait Detector: Send + State {
    /// Records that the host writes `logical`, and returns true if that page is hot.
    fn is_hot(&mut self, logical: u32) -> bool;

    /// Forgets the page `logical`, which the host has trimmed.
    /// Its history does not predict how often its next data will be written.
    fn forget(&mut self, _logical: u32) {}

    /// Memory of the tables, in bytes.
    fn bytes(&self) -> u64;
}

macro_rules! detectors {
    ($then:ident! $with:tt) => {
        $then! { $with
            bloom::TwoBloomFilters,
            distance::UpdateDistance,
        }
    };
}

/// Every registered detector.
pub static DETECTORS: Registry = Registry {
    name: "detectors",
    noun: "detector",
    plural: "detectors",
    entries: detectors!(entries! { Registered<u32> }),
    absent: &[],
};

/// Domain of parameters whose value is the spec of a detector.
pub const NESTED: Domain = Domain::Spec(|| &DETECTORS);

/// Builds the detector that `text` names for a drive of `logical_pages`.
pub fn build(text: &str, logical_pages: u32) -> Result<Box<dyn Detector>> {
    let params = DETECTORS.read(text)?;
    detectors!(dispatch! {
        Registered<u32>, params, Found => Ok(Box::new(Found::build(&params, &logical_pages)?))
    })
}

/// Number of pages that make up `share` of the logical pages, at least 1.
fn pages_of(share: f64, logical_pages: u32) -> u32 {
    (share * f64::from(logical_pages)).round().clamp(1.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{self, Context, Step};

    #[test]
    fn every_detector_finds_hot_and_cold_data() {
        for entry in DETECTORS.entries {
            let (pages, hot_pages) = (20_000, 2_000);
            let mut detector = build(entry.example, pages).unwrap();
            let mut workload =
                workloads::build("hot-cold:f=0.1,r=0.9", pages, Context::root(1)).unwrap();
            let (mut buffer, mut wrong) = (vec![0; 100_000], 0);
            for round in 0..2 {
                assert_eq!(workload.next(&mut buffer), Step::Writes(buffer.len()));
                let miss = |page: &&u32| detector.is_hot(**page) != (**page < hot_pages);
                let misses = buffer.iter().filter(miss).count();
                wrong = if round == 0 { 0 } else { misses };
            }
            assert!(wrong < buffer.len() / 20, "{}: {wrong} of {}", entry.name, buffer.len());
        }
    }

    #[test]
    fn bad_parameters_are_refused_in_a_sentence() {
        for text in ["bloom:window=0", "bloom:false_positives=1", "distance:share=0", "blom"] {
            let Err(error) = build(text, 100) else { panic!("{text}") };
            assert!(error.to_string().contains("valid"), "{text}: {error}");
        }
    }
}
