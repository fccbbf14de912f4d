//! Page after page, from the first to the last and again.

use super::{Site, Step, Workload, one_group};
use crate::error::Result;
use crate::hints::Group;
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::state::state;

#[derive(Debug, Clone)]
pub struct Sequential {
    pages: u32,
    next: u32,
}

state!(Sequential { fixed pages, value next } where is_sound);

impl Sequential {
    fn is_sound(&self) -> bool {
        self.next < self.pages
    }
}

impl Workload for Sequential {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        for page in buffer.iter_mut() {
            *page = self.next;
            self.next = (self.next + 1) % self.pages;
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

impl Registered<Site> for Sequential {
    const ENTRY: Entry =
        super::entry("sequential", "page after page, from the first to the last and again");

    fn build(_params: &Params, &Site { pages, .. }: &Site) -> Result<Self> {
        Ok(Sequential { pages, next: 0 })
    }
}
