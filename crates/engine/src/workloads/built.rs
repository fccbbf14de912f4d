//! Workload as built by a registry, with the spec it was built from.

use super::{Pacing, Schedule, Site, Step, Unserved, Workload};
use crate::hints::Group;
use crate::params::Params;
use crate::request::Request;
use crate::state::{Identity, state};

/// Workload whose state is restored only into one of the same spec.
pub struct Built<W: Workload> {
    identity: Identity,
    workload: W,
}

state!(Built<W: Workload> { nested identity, nested workload });

impl<W: Workload> Built<W> {
    pub fn new(params: &Params, site: &Site, workload: W) -> Self {
        let identity = Identity::default()
            .with("workload", params.canonical())
            .with("number of pages written", site.pages.to_string())
            .with("seed", site.context.seed.to_string());
        Built { identity, workload }
    }
}

impl<W: Workload> Workload for Built<W> {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        self.workload.next(buffer)
    }

    fn next_request(&mut self) -> Option<Request> {
        self.workload.next_request()
    }

    fn take_unserved(&mut self) -> Unserved {
        self.workload.take_unserved()
    }

    fn cut_request(&mut self) {
        self.workload.cut_request();
    }

    fn pacing(&self) -> Pacing {
        self.workload.pacing()
    }

    fn is_timed(&self) -> bool {
        self.workload.is_timed()
    }

    fn writes(&self) -> bool {
        self.workload.writes()
    }

    fn pages(&self) -> u32 {
        self.workload.pages()
    }

    fn horizon_writes(&self) -> u64 {
        self.workload.horizon_writes()
    }

    fn application_bytes(&self) -> Option<u64> {
        self.workload.application_bytes()
    }

    fn schedule(&self) -> Schedule {
        self.workload.schedule()
    }

    fn groups(&self) -> Option<Vec<Group>> {
        self.workload.groups()
    }

    fn has_fixed_ranges(&self) -> bool {
        self.workload.has_fixed_ranges()
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        self.workload.find_groups(pages, group_of);
    }
}
