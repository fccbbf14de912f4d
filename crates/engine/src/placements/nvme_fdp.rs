//! Flexible data placement of `NVMe` (NVM Command Set 1.1, TP4146), by reclaim unit handles.
//! The host names a handle with each write, and each handle fills its own reclaim units. A reclaim
//! unit is an erase unit of the drive (a block of the engine), of any size.
//!
//! A placement hint of the host's write is the number of its handle. Hints beyond the last handle
//! share it. If the host gives such hints, writes without one use handle 0, the default handle.
//!
//! Initially isolated handles keep their data separate until collection moves it: migrated pages of
//! all handles share units. Persistently isolated handles never share a unit. There is one reclaim
//! group.

use super::{HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::hints::{RequiredHints, UNTAGGED};
use crate::params::{Domain, Extent, Param, Params, words};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::state;

pub struct NvmeFdp {
    handles: u8,
    persistently_isolated: bool,
    by: By,
    logical_pages: u64,
    /// Handle of each group: a division for each page would be slow.
    of_group: [u8; 256],
    /// Stream of the pages of the victim that is being collected.
    migration: usize,
}

state!(NvmeFdp {
    fixed handles, fixed persistently_isolated, fixed by, fixed logical_pages, fixed of_group,
    scratch migration,
});

/// Source of the handle of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Hint of the write, or else group of the page, modulo the number of handles.
    Group,
    /// Address of the page. Each handle has an equal part of the address space.
    Range,
}

impl By {
    const ALL: [(&'static str, By); 2] = [("group", By::Group), ("range", By::Range)];
}

/// Value of `ru` for the drive's own erase unit.
const BLOCK: &str = "block";

/// Sizes of a reclaim unit. Those of drives have 0.1 to 14 GB.
const RECLAIM_UNIT_BYTES: Domain = Domain::Bytes(4096, 1 << 40);

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
            "what decides the handle of a page: the hint of its write or its group in the workload \
             (group), or its address (range)",
        ),
        Param::new(
            "ru",
            BLOCK,
            Domain::Either(&Domain::Word(&[BLOCK]), &RECLAIM_UNIT_BYTES),
            "bytes of a reclaim unit, which the drive erases as one; block: the drive's own erase \
             unit",
        )
        .extent(Extent::EraseUnits)
        .later(),
    ])
    .variants(&["nvme-fdp:handles=3,isolation=persistent,by=range"])
    .candidates(&[Pairs::rare(&["nvme-fdp"], &["greedy"])]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let handles = params.integer("handles");
        Ok(NvmeFdp {
            handles,
            migration: usize::from(handles),
            of_group: std::array::from_fn(|group| (group % usize::from(handles)) as u8),
            persistently_isolated: params.choice("isolation", &ISOLATION),
            by: params.choice("by", &By::ALL),
            logical_pages: u64::from(sizes.logical_pages),
        })
    }
}

impl Placement for NvmeFdp {
    const USES_HOST_HINTS: bool = true;
    const USES_VICTIM: bool = true;
    const HAS_HANDLES: bool = true;

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        usize::from(self.handle(page))
    }

    #[inline(always)]
    fn handle(&self, page: HostPage) -> u8 {
        match self.by {
            By::Group if page.hint != UNTAGGED => page.hint.min(self.handles - 1),
            By::Group => self.of_group[usize::from(page.group)],
            By::Range => {
                (u64::from(page.logical) * u64::from(self.handles) / self.logical_pages) as u8
            }
        }
    }

    fn on_victim(&mut self, victim: &Victim) {
        let handles = usize::from(self.handles);
        let own = if self.persistently_isolated { victim.stream % handles } else { 0 };
        self.migration = handles + own;
    }

    #[inline(always)]
    fn migration_stream(&mut self, _logical: u32, _victim: &Victim) -> usize {
        self.migration
    }

    fn handle_of_stream(&self, stream: usize) -> u8 {
        let handles = usize::from(self.handles);
        let is_shared = !self.persistently_isolated && stream == handles;
        if is_shared { UNTAGGED } else { (stream % handles) as u8 }
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
            By::Group => RequiredHints::Handles,
            By::Range => RequiredHints::Nothing,
        }
    }

    fn handles(params: &Params) -> u8 {
        params.integer("handles")
    }

    fn reclaim_unit_bytes(params: &Params) -> Option<u64> {
        (params.text("ru") != BLOCK).then(|| params.bytes("ru"))
    }
}
