//! Flexible data placement of `NVMe` (NVM Command Set 1.1, TP4146), by reclaim unit handles.
//! The host names a handle with each write, and each handle fills its own reclaim units. A reclaim
//! unit is one block here.
//!
//! Initially isolated handles keep their data separate until collection moves it: migrated pages of
//! all handles share units. Persistently isolated handles never share a unit. There is one reclaim
//! group.

use super::{HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::hints::RequiredHints;
use crate::params::{Domain, Param, Params, words};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::state;

pub struct NvmeFdp {
    handles: usize,
    persistently_isolated: bool,
    by: By,
    logical_pages: u64,
}

state!(NvmeFdp { fixed handles, fixed persistently_isolated, fixed by, fixed logical_pages });

/// Source of the handle of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Group of the page, modulo the number of handles.
    Group,
    /// Address of the page. Each handle has an equal part of the address space.
    Range,
}

impl By {
    const ALL: [(&'static str, By); 2] = [("group", By::Group), ("range", By::Range)];
}

/// Words for the isolation of handles; true for persistent isolation.
const ISOLATION: [(&str, bool); 2] = [("initial", false), ("persistent", true)];

impl Registered<Sizes> for NvmeFdp {
    const ENTRY: Entry = Entry::new(
        "nvme-fdp",
        "separate reclaim units for each placement handle that the host names",
    )
    .example("nvme-fdp:handles=2")
    .params(&[
        Param::new("handles", "8", Domain::Whole(1, 128), "number of reclaim unit handles"),
        Param::new(
            "isolation",
            "initial",
            Domain::Word(&words(&ISOLATION)),
            "initial: migrated pages of all handles share reclaim units; persistent: they never do",
        ),
        Param::new(
            "by",
            "group",
            Domain::Word(&words(&By::ALL)),
            "what decides the handle of a page: its group in the workload (group) or its address \
             (range)",
        ),
    ])
    .variants(&["nvme-fdp:handles=3,isolation=persistent,by=range"])
    .candidates(&[Pairs::rare(&["nvme-fdp"], &["greedy"])]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        Ok(NvmeFdp {
            handles: params.integer("handles"),
            persistently_isolated: params.choice("isolation", &ISOLATION),
            by: params.choice("by", &By::ALL),
            logical_pages: u64::from(sizes.logical_pages),
        })
    }
}

impl Placement for NvmeFdp {
    const USES_HOST_HINTS: bool = true;
    const USES_VICTIM: bool = true;

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        match self.by {
            By::Group => usize::from(page.group) % self.handles,
            By::Range => {
                (u64::from(page.logical) * self.handles as u64 / self.logical_pages) as usize
            }
        }
    }

    #[inline(always)]
    fn migration_stream(&mut self, _logical: u32, victim: &Victim) -> usize {
        if self.persistently_isolated {
            self.handles + victim.stream % self.handles
        } else {
            self.handles
        }
    }
}

impl RegisteredPlacement for NvmeFdp {
    fn streams(params: &Params) -> Streams {
        let handles: usize = params.integer("handles");
        let migration = if params.choice("isolation", &ISOLATION) { handles } else { 1 };
        Streams { all: handles + migration, migration }
    }

    fn required_hints(params: &Params) -> RequiredHints {
        match params.choice("by", &By::ALL) {
            By::Group => RequiredHints::Groups,
            By::Range => RequiredHints::Nothing,
        }
    }
}
