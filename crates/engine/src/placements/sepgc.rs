//! Separate frontiers for host and migrated pages.
//! A page that was still valid at a collection is probably colder than a page just written by the
//! host (Van Houdt 2014, "double write frontier").

use super::{Always, HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::state::state;

#[derive(Debug, Clone, Copy)]
pub struct SepGc;

state!(SepGc {});

impl Registered<Sizes> for SepGc {
    const ENTRY: Entry =
        Entry::new("sepgc", "host writes and migrated pages on separate write frontiers");

    fn build(_params: &Params, _sizes: &Sizes) -> Result<Self> {
        Ok(SepGc)
    }
}

impl Placement for SepGc {
    const ALWAYS: Option<Always> = Some(Always { host: 0, migration: 1 });

    fn host_stream(&mut self, _page: HostPage) -> usize {
        0
    }

    fn migration_stream(&mut self, _logical: u32, _victim: &Victim) -> usize {
        1
    }
}

impl RegisteredPlacement for SepGc {
    fn streams(_params: &Params) -> Streams {
        Streams { all: 2, migration: 1 }
    }
}
