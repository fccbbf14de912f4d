//! Placements: each assigns pages to streams by its definition; one file each.
//!
//! Every placement on the engine's list has a twin here. Its module has the name of the placement,
//! and its type has the name of the engine's type.

mod dac;
mod eti;
mod fadac;
mod midas;
mod multilog;
mod nvme_fdp;
mod oracle;
mod own_stream;
mod sepbit;
mod sepgc;
mod sfs;
mod single;
mod warcip;

use crate::setup::{Hint, Setup};
use crate::spec::{Spec, is_module_of};

/// Block that is collected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collected {
    pub block: u32,
    /// Stream for which it was opened.
    pub stream: usize,
    /// Host pages written when it was opened.
    pub opened: u64,
    /// Host pages written until now.
    pub now: u64,
}

/// Placement: assigns each page to a stream.
pub(super) trait Scheme: Send {
    fn read(spec: &Spec, setup: &Setup) -> Self
    where
        Self: Sized;

    /// Returns the number of streams that migrated pages may go to.
    fn migration_stream(&self) -> usize;

    /// True if the placement needs the contents of blocks before the next write.
    /// Called once for each write.
    fn needs_blocks(&mut self) -> bool {
        false
    }

    /// Receives the valid pages of each closed block.
    fn observe_blocks(&mut self, _pages: Vec<Vec<u32>>, _now: u64) {}

    /// Returns the stream of a page that the host writes, after `now` host pages.
    fn host(&mut self, logical: u32, now: u64, hint: Hint) -> usize;

    /// Returns the handle of a page that the host writes, if the placement has handles.
    fn handle(&self, _logical: u32, _hint: Hint) -> u8 {
        panic!("the placement has no handles")
    }

    /// Returns the handle whose blocks `stream` fills; None if several handles share them.
    fn handle_of_stream(&self, _stream: usize) -> Option<u8> {
        panic!("the placement has no handles")
    }

    /// Removes the history of a page that was unmapped.
    fn on_unmapped(&mut self, _logical: u32) {}

    /// Records a victim, before its pages are migrated.
    fn collected(&mut self, _victim: Collected) {}

    /// Returns the stream of a page of the victim.
    fn migrated(&mut self, logical: u32, victim: Collected) -> usize;

    /// Records that a block of `stream` closes; true if the victim policy must not choose it.
    fn on_close(&mut self, _block: u32, _stream: usize, _domain: usize) -> bool {
        false
    }

    /// Returns the victim that the scheme chooses itself, if any.
    ///
    /// `candidates` is the number of blocks that the victim policy may choose from. If `is_idle`,
    /// the drive collects while it is idle. Otherwise, a write of the host waits for space.
    fn victim(&mut self, _domain: usize, _is_idle: bool, _candidates: usize) -> Option<u32> {
        None
    }

    /// Returns the held blocks that become candidates, in this order.
    ///
    /// It is called after [`Self::victim`].
    fn take_released(&mut self) -> Vec<u32> {
        Vec::new()
    }

    /// Records that wear levelling moved the data of block `young` to block `worn`.
    fn on_leveled(&mut self, _young: u32, _worn: u32) {}
}

macro_rules! twins {
    ({$spec:expr, $setup:expr} $($module:ident::$twin:ident),+ $(,)?) => {
        $(if is_module_of(stringify!($module), $spec) {
            return Box::new($module::$twin::read($spec, $setup));
        })+
    };
}

/// Returns the scheme of the placement that `spec` names, beside an own stream if any.
pub(super) fn scheme(spec: &Spec, setup: &Setup) -> Box<dyn Scheme> {
    if setup.own_pages.is_empty() {
        return placement(spec, setup);
    }
    Box::new(own_stream::OwnStream::read(spec, setup))
}

fn placement(spec: &Spec, setup: &Setup) -> Box<dyn Scheme> {
    writeamp_engine::placements!(twins! { spec, setup });
    panic!("unknown placement '{}'", spec.name)
}

/// Returns the index of the center nearest to `value`; of equals the first.
fn nearest(centers: &[u64], value: u64) -> usize {
    let distance = |&at: &usize| centers[at].abs_diff(value);
    (0..centers.len()).min_by_key(distance).expect("a center")
}
