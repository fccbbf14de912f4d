//! Flexible data placement of `NVMe` (NVM Command Set 1.1, TP4146): the host names a reclaim unit
//! handle with each write, and each handle fills reclaim units of its own; a unit is a block here.
//!
//! Initially isolated handles keep their data apart until collection moves it: migrated pages of
//! all handles share units. Persistently isolated ones never share a unit, not even then. There is
//! one reclaim group.

use super::{Hears, HostPage, Placement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::spec::{Param, Params};
use crate::state::state;

pub struct NvmeFdp {
    handles: usize,
    persistently_isolated: bool,
    by: By,
    logical_pages: u64,
}

state!(NvmeFdp { fixed handles, fixed persistently_isolated, fixed by, fixed logical_pages });

/// What tells the handle of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Its group, modulo the handles.
    Group,
    /// Its place in the address space, which is divided evenly.
    Range,
}

impl Placement for NvmeFdp {
    const NAME: &'static str = "nvme-fdp";
    const SUMMARY: &'static str = "reclaim units for each placement handle that the host names";
    const PARAMS: &'static [Param] = &[
        Param { name: "handles", default: "8", help: "reclaim unit handles, 1 to 128" },
        Param {
            name: "isolation",
            default: "initial",
            help: "initial (migrated pages of all handles mix) or persistent",
        },
        Param {
            name: "by",
            default: "group",
            help: "what tells the handle: group (of the workload) or range (of the address space)",
        },
    ];
    const EXAMPLE: &'static str = "nvme-fdp:handles=2";
    const HEARS_HOST: bool = true;
    const KNOWS_VICTIMS: bool = true;

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let isolation = params.text("isolation")?;
        let by = params.text("by")?;
        Ok(NvmeFdp {
            handles: params.integer("handles", 1..=128)? as usize,
            persistently_isolated: match isolation.as_str() {
                "initial" => false,
                "persistent" => true,
                other => return Err(params.outside("isolation", other, "initial or persistent")),
            },
            by: match by.as_str() {
                "group" => By::Group,
                "range" => By::Range,
                other => return Err(params.outside("by", other, "group or range")),
            },
            logical_pages: u64::from(sizes.logical_pages),
        })
    }

    fn streams(&self) -> Streams {
        let migration = if self.persistently_isolated { self.handles } else { 1 };
        Streams { all: self.handles + migration, migration }
    }

    fn hears(&self) -> Hears {
        if self.by == By::Group { Hears::Groups } else { Hears::Nothing }
    }

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
