//! Service and counting of host requests, which is the same for every manager.

use std::ops::Range;

use super::BlockManager;
use super::core::Core;
use crate::error::{Error, Result};
use crate::flash::{Array, BlockState, Observer, Tags, Tap};
use crate::hints::{Hints, RequiredHints};
use crate::observe::Report;
use crate::state::{Identity, State};
use crate::victims::VictimPolicy;

/// Manager on a [`Core`]: the methods that differ between managers.
pub trait Policy: Send + State {
    type Victims: VictimPolicy;
    type Tap: Tap;

    /// Registered name of the manager.
    fn name(&self) -> &str;

    fn core(&self) -> &Core<Self::Victims, Self::Tap>;

    fn core_mut(&mut self) -> &mut Core<Self::Victims, Self::Tap>;

    /// Writes `pages` in order, all of which exist. `hints` contain the required hints.
    fn write_pages(&mut self, pages: &[u32], hints: &Hints) -> Result<()>;

    /// Kind of hint that the host must provide.
    fn required_hints(&self) -> RequiredHints;

    /// Placement handle of each page of a write, if the drive counts operations by handle.
    fn handles(&self, _pages: &[u32], _hints: &Hints) -> Option<Vec<u8>> {
        None
    }

    /// Advice for hosts without hints, which ends an error message.
    fn without_hints(&self) -> &'static str;

    /// Forgets the history of a page that was unmapped.
    fn forget(&mut self, _logical: u32) {}

    /// Returns the error of the last call of [`Self::forget`], if it failed.
    fn failure(&mut self) -> Result<()> {
        Ok(())
    }

    /// Collects one victim while the LUN of `pool` is idle; see [`BlockManager::collect_idle`].
    fn collect_idle(&mut self, _pool: usize) -> Result<bool> {
        Ok(false)
    }

    /// Starts each stream's next stripe on the least busy LUN; see [`BlockManager::steer`].
    fn steer(&mut self, _queues: &[u32]) {}

    /// Function that is called for a frontier that padding has filled.
    /// None if the manager does not allow padding.
    fn on_padded(&mut self) -> Option<fn(&mut Self, usize)> {
        None
    }

    /// Collects a closed block whose data must move; see [`BlockManager::collect_closed`].
    fn collect_closed(&mut self, _block: u32) -> Result<bool> {
        Ok(false)
    }

    /// Returns data about the manager's internals; see [`BlockManager::report`].
    fn report(&self) -> Report<'_>;

    /// Asserts the manager's own invariants.
    fn assert_books(&self) {}
}

/// Implements the methods of [`Policy`] that only return the fields `name` and `core`.
macro_rules! by_fields {
    ($victims:ty, $tap:ty) => {
        type Victims = $victims;
        type Tap = $tap;

        fn name(&self) -> &str {
            &self.name
        }

        fn core(&self) -> &Core<$victims, $tap> {
            &self.core
        }

        fn core_mut(&mut self) -> &mut Core<$victims, $tap> {
            &mut self.core
        }
    };
}

pub(super) use by_fields;

/// Index of the shortest queue; of equally short queues, the first from `next` on.
pub fn shortest(queues: &[u32], next: usize) -> usize {
    let in_turn = (next..queues.len()).chain(0..next);
    in_turn.min_by_key(|&at| queues[at]).unwrap_or(next)
}

impl<P: Policy> BlockManager for P {
    fn write(&mut self, pages: &[u32], hints: Option<Hints>) -> Result<()> {
        self.core().flash.check_range(pages)?;
        let hints = hints.unwrap_or_default();
        self.required_hints().check(&hints, pages.len()).map_err(|missing| {
            Error::Spec(format!(
                "{} needs hints on {missing}, but this workload provides none; {}",
                self.name(),
                self.without_hints()
            ))
        })?;
        let handles = self.handles(pages, &hints);
        let hints = match &handles {
            Some(handles) => Hints { tags: handles, placement: handles, ..hints },
            None => hints,
        };
        if let Some(tags) = self.core_mut().flash.tags_mut() {
            tags.begin_batch(hints.tags, pages.len())?;
        }
        let written_before = self.core().now();
        let written = self.write_pages(pages, &hints);
        let flash = &mut self.core_mut().flash;
        flash.report_erase();
        if let Some(tags) = flash.tags_mut() {
            tags.end_batch();
        }
        // The manager counts each page when it is written, so that the page counters are exact even
        // after an error. Only the bytes are counted here.
        let done_pages = flash.counters().host.written_pages - written_before;
        flash.host_mut().written_bytes += done_pages * u64::from(flash.geometry().page_bytes());
        written
    }

    fn read(&mut self, pages: Range<u32>) -> Result<()> {
        let flash = &mut self.core_mut().flash;
        flash.check_extent(&pages)?;
        let count = pages.len() as u64;
        pages.for_each(|logical| flash.read(logical));
        let page_bytes = u64::from(flash.geometry().page_bytes());
        let host = flash.host_mut();
        host.read_pages += count;
        host.read_bytes += count * page_bytes;
        Ok(())
    }

    fn trim(&mut self, pages: Range<u32>) -> Result<()> {
        self.core().flash.check_extent(&pages)?;
        let mut forgotten = Ok(());
        let mut count = 0;
        for logical in pages {
            count += 1;
            if self.core_mut().trim(logical) {
                self.forget(logical);
                forgotten = self.failure();
            }
            if forgotten.is_err() {
                break;
            }
        }
        let flash = &mut self.core_mut().flash;
        let page_bytes = u64::from(flash.geometry().page_bytes());
        let host = flash.host_mut();
        host.trimmed_pages += count;
        host.trimmed_bytes += count * page_bytes;
        forgotten
    }

    fn flush(&mut self) -> Result<()> {
        self.core_mut().flash.host_mut().flushes += 1;
        Ok(())
    }

    fn host_mut(&mut self) -> &mut crate::flash::HostCounters {
        self.core_mut().flash.host_mut()
    }

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        self.core_mut().flash.tags_mut()
    }

    fn collect_idle(&mut self, lun: usize) -> Result<bool> {
        let pools = self.core().flash.pools();
        let collected = Policy::collect_idle(self, if pools == 1 { 0 } else { lun });
        self.core_mut().flash.report_erase();
        collected
    }

    fn steer(&mut self, queues: &[u32]) {
        Policy::steer(self, queues);
    }

    fn pad(&mut self, block: u32, unit_pages: u32) -> bool {
        let Some(close) = self.on_padded() else { return false };
        let padded = self.core_mut().pad(block, unit_pages);
        if let Some(frontier) = padded
            && self.core().frontiers[frontier].is_full()
        {
            close(self, frontier);
        }
        padded.is_some()
    }

    fn collect_closed(&mut self, block: u32) -> Result<bool> {
        if self.core().flash.state(block) != BlockState::Closed {
            return Ok(false);
        }
        let collected = Policy::collect_closed(self, block);
        self.core_mut().flash.report_erase();
        collected
    }

    fn required_hints(&self) -> RequiredHints {
        Policy::required_hints(self)
    }

    fn report(&self) -> Report<'_> {
        Policy::report(self)
    }

    fn flash(&self) -> &Array {
        &self.core().flash
    }

    fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        self.core_mut().flash.observer_mut()
    }

    fn identify(&mut self, identity: Identity) {
        self.core_mut().identity = identity;
    }

    fn assert_invariants(&self) {
        self.core().flash.assert_invariants(&self.core().frontiers);
        self.assert_books();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Setup;
    use super::*;
    use crate::flash::{Cause, Geometry, Silent};
    use crate::state::state;
    use crate::victims::{Boxed, boxed_policy};

    /// Manager that fails when it must write a page numbered 100 or more.
    struct Failing {
        core: Core<Boxed, Silent>,
    }

    state!(Failing { nested core });

    impl Policy for Failing {
        type Victims = Boxed;
        type Tap = Silent;

        fn name(&self) -> &'static str {
            "failing"
        }

        fn core(&self) -> &Core<Boxed, Silent> {
            &self.core
        }

        fn core_mut(&mut self) -> &mut Core<Boxed, Silent> {
            &mut self.core
        }

        fn write_pages(&mut self, pages: &[u32], _hints: &Hints) -> Result<()> {
            for &page in pages {
                if page >= 100 {
                    return Err(Error::Cancelled);
                }
                if self.core.frontiers[0].is_full() {
                    self.core.open(0, 0);
                }
                self.core.program(page, 0);
            }
            Ok(())
        }

        fn required_hints(&self) -> RequiredHints {
            RequiredHints::Nothing
        }

        fn without_hints(&self) -> &'static str {
            ""
        }

        fn report(&self) -> Report<'_> {
            Report::default()
        }
    }

    #[test]
    fn an_error_in_the_middle_of_a_batch_leaves_the_counters_exact() {
        let geometry = Geometry::flat(8, 32).unwrap();
        let setup = Setup { logical_pages: 200, ..Setup::new(geometry) };
        let policy = boxed_policy("fifo", &geometry).unwrap();
        let mut drive = Failing { core: Core::new(policy, &setup, 1, 0, Silent).unwrap() };
        assert_eq!(drive.write(&[1, 2, 3, 150, 4], None), Err(Error::Cancelled));
        let counters = BlockManager::flash(&drive).counters();
        assert_eq!((counters.host.written_pages, counters.host.written_bytes), (3, 3 * 4096));
        assert_eq!((counters.programs(Cause::Host), counters.flash_pages()), (3, 3));
        drive.assert_invariants();
    }
}
