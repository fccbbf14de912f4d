//! A workload as the registry hands it out: with the words that it was built from.

use super::{Context, Step, Unserved, Workload};
use crate::error::Result;
use crate::hints::Group;
use crate::request::Request;
use crate::state::{Identity, canonical, state};

/// A workload whose state is restored into no other.
pub struct Built<W: Workload> {
    identity: Identity,
    workload: W,
}

state!(Built<W: Workload> { part identity, part workload });

impl<W: Workload> Built<W> {
    pub fn new(text: &str, pages: u32, context: &Context, workload: W) -> Result<Self> {
        let identity = Identity::default()
            .with("workload", canonical("workload", text, super::ENTRIES)?)
            .with("number of pages written", pages.to_string())
            .with("seed", context.seed.to_string());
        Ok(Built { identity, workload })
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

    fn pages(&self) -> u32 {
        self.workload.pages()
    }

    fn horizon_writes(&self) -> u64 {
        self.workload.horizon_writes()
    }

    fn groups(&self) -> Option<Vec<Group>> {
        self.workload.groups()
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        self.workload.find_groups(pages, group_of);
    }
}
