//! Independent writes, each page as likely as the next: what the closed forms assume.

use super::{Context, Registered, Step, Workload, one_group};
use crate::error::Result;
use crate::hints::Group;
use crate::rng::Stream;
use crate::spec::{Param, Params};
use crate::state::state;

#[derive(Debug, Clone)]
pub struct Uniform {
    pages: u32,
    random: Stream,
}

state!(Uniform { fixed pages, part random });

impl Workload for Uniform {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        for page in buffer.iter_mut() {
            *page = self.random.below(self.pages);
        }
        Step::Writes(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(one_group(self.pages()))
    }
}

impl Registered for Uniform {
    const NAME: &'static str = "uniform";
    const SUMMARY: &'static str = "independent writes, each page as likely as the next";
    const PARAMS: &'static [Param] = &[];
    const EXAMPLE: &'static str = "uniform";

    fn build(_params: &Params, pages: u32, context: Context) -> Result<Self> {
        Ok(Uniform { pages, random: context.random() })
    }
}
