//! Single write frontier: host pages and migrated pages share it.
//! All five papers compare other schemes with it (paper 4, §2.1).

use super::{Always, HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::state::state;

#[derive(Debug, Clone, Copy)]
pub struct Single;

state!(Single {});

impl Registered<Sizes> for Single {
    const ENTRY: Entry = Entry::new("single", "one write frontier for host and migrated pages");

    fn build(_params: &Params, _sizes: &Sizes) -> Result<Self> {
        Ok(Single)
    }
}

impl Placement for Single {
    const ALWAYS: Option<Always> = Some(Always { host: 0, migration: 0 });

    fn host_stream(&mut self, _page: HostPage) -> usize {
        0
    }

    fn migration_stream(&mut self, _logical: u32, _victim: &Victim) -> usize {
        0
    }
}

impl RegisteredPlacement for Single {
    fn streams(_params: &Params) -> Streams {
        Streams { all: 1, migration: 1 }
    }
}
