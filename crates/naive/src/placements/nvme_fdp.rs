//! `NVMe` FDP: a stream for each placement handle.
//! The host names the handle, or it follows from a page's group or range.

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct NvmeFdp {
    handles: usize,
    persistent: bool,
    by_range: bool,
    pages: u32,
}

impl Scheme for NvmeFdp {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        NvmeFdp {
            handles: spec.get("handles"),
            persistent: spec.get::<String>("isolation") == "persistent",
            by_range: spec.get::<String>("by") == "range",
            pages: setup.logical_pages,
        }
    }

    fn migration_stream(&self) -> usize {
        if self.persistent { self.handles } else { 1 }
    }

    fn handle(&self, logical: u32, hint: Hint) -> u8 {
        self.number_of(logical, hint) as u8
    }

    fn handle_of_stream(&self, stream: usize) -> Option<u8> {
        if stream < self.handles {
            Some(stream as u8)
        } else if self.persistent {
            Some((stream - self.handles) as u8)
        } else {
            None
        }
    }

    fn host(&mut self, logical: u32, _now: u64, hint: Hint) -> usize {
        self.number_of(logical, hint)
    }

    fn migrated(&mut self, _logical: u32, victim: Collected) -> usize {
        if !self.persistent {
            self.handles
        } else if victim.stream < self.handles {
            self.handles + victim.stream // written by the host
        } else {
            victim.stream // migrated before
        }
    }
}

impl NvmeFdp {
    fn number_of(&self, logical: u32, hint: Hint) -> usize {
        if self.by_range {
            let is_of = |handle: &usize| {
                logical as usize * self.handles < (handle + 1) * self.pages as usize
            };
            (0..self.handles).find(is_of).expect("each page of the drive must have a handle")
        } else if let Some(handle) = hint.handle {
            usize::from(handle).min(self.handles - 1)
        } else {
            usize::from(hint.group) % self.handles
        }
    }
}
