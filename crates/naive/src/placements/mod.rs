//! The placements, each as the sentences that define it; one file each.
//!
//! Every placement on the engine's list has a twin here: its module is called by the name of the
//! placement, and its type like the engine's.

mod dac;
mod eti;
mod fadac;
mod midas;
mod multilog;
mod nvme_fdp;
mod oracle;
mod sepbit;
mod sepgc;
mod sfs;
mod single;
mod warcip;

use crate::setup::{Hint, Setup};
use crate::spec::{Spec, is_module_of};

/// A block that is collected: the stream it was opened for, its opening, and the present.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collected {
    pub block: u32,
    pub stream: usize,
    pub opened: u64,
    pub now: u64,
}

/// Says which stream each page goes to.
pub(super) trait Scheme: Send {
    fn read(spec: &Spec, setup: &Setup) -> Self
    where
        Self: Sized;

    /// Streams that migrated pages may go to.
    fn migration_stream(&self) -> usize;

    /// True if it wants to see the blocks before the page that the host writes next. It is asked
    /// once for each.
    fn wants_blocks(&mut self) -> bool {
        false
    }

    /// Sees the pages whose data lies in each closed block.
    fn sees_blocks(&mut self, _pages: Vec<Vec<u32>>, _now: u64) {}

    /// The stream of a page that the host writes, when it has written `now` pages before.
    fn host(&mut self, logical: u32, now: u64, hint: Hint) -> usize;

    /// Hears that a page holds no data any more.
    fn forgets(&mut self, _logical: u32) {}

    /// Hears of a victim before its pages are migrated.
    fn collected(&mut self, _victim: Collected) {}

    /// The stream of a page of the victim.
    fn migrated(&mut self, logical: u32, victim: Collected) -> usize;

    /// A block that was opened for `stream` closes; true holds it back from the victim policy.
    fn closes(&mut self, _block: u32, _stream: usize, _domain: usize) -> bool {
        false
    }

    /// Returns the victim that the scheme insists on, if the policy has so many `candidates`. The
    /// host waits for it unless it `is_idle`.
    fn victim(&mut self, _domain: usize, _is_idle: bool, _candidates: usize) -> Option<u32> {
        None
    }

    /// Held blocks that are candidates from now on, in this order; asked after [`Self::victim`].
    fn gives_up(&mut self) -> Vec<u32> {
        Vec::new()
    }

    /// A closed block's data, `young`, has moved to `worn`.
    fn exchanges(&mut self, _young: u32, _worn: u32) {}
}

macro_rules! twins {
    ({$spec:expr, $setup:expr} $($module:ident::$twin:ident),+ $(,)?) => {
        $(if is_module_of(stringify!($module), $spec) {
            return Box::new($module::$twin::read($spec, $setup));
        })+
    };
}

/// The scheme of the placement that `spec` names.
pub(super) fn scheme(spec: &Spec, setup: &Setup) -> Box<dyn Scheme> {
    writeamp_engine::placements!(twins! { spec, setup });
    panic!("there is no placement '{}'", spec.name)
}

/// The index of the center nearest to `value`; of equals the first.
fn nearest(centers: &[u64], value: u64) -> usize {
    let distance = |&at: &usize| centers[at].abs_diff(value);
    (0..centers.len()).min_by_key(distance).expect("a center")
}
