//! Uniform: independent writes to all pages with equal probability, as the closed forms
//! assume.

use super::{Site, Step, Workload, one_group};
use crate::error::Result;
use crate::hints::Group;
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::state;

#[derive(Debug, Clone)]
pub struct Uniform {
    pages: u32,
    random: Stream,
}

state!(Uniform { fixed pages, nested random });

impl Workload for Uniform {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        self.random.fill_below(self.pages, buffer);
        Step::Writes(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(one_group(self.pages()))
    }
}

impl Registered<Site> for Uniform {
    const ENTRY: Entry =
        super::entry("uniform", "independent writes to all pages with equal probability");

    fn build(_params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        Ok(Uniform { pages, random: context.random() })
    }
}
