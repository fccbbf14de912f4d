//! Sequential: page after page, from the first to the last, repeatedly.
//! With `bs`, it consists of requests, like `io`.

use super::io::SEQUENTIAL_PARAMS;
use super::{Site, Step, TRIM, Workload, one_group};
use crate::error::Result;
use crate::hints::Group;
use crate::params::{Param, Params};
use crate::registry::{Entry, Registered};
use crate::state::state;

/// Parameters shared with other workloads: parameters of TRIMs and of requests.
/// If the workload writes pages, the parameters of requests are omitted from the canonical form.
const COMMON: [Param; 1 + SEQUENTIAL_PARAMS.len()] = {
    let mut all = [TRIM; 1 + SEQUENTIAL_PARAMS.len()];
    let (_, of_requests) = all.split_at_mut(1);
    of_requests.copy_from_slice(SEQUENTIAL_PARAMS);
    all
};

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
        super::entry("sequential", "page after page, from the first to the last, repeatedly")
            .common(&COMMON)
            .variants(&["sequential:bs=6k,write=0.6,stride=512,offset=1k,qd=4"]);

    fn build(_params: &Params, &Site { pages, .. }: &Site) -> Result<Self> {
        Ok(Sequential { pages, next: 0 })
    }
}
