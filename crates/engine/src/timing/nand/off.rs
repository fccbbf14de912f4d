//! State of the array that is preserved while the drive is off.

use super::{Nand, OpCounts};
use crate::state::{MOST_PLAUSIBLE, state};

state!(Nand {
    fixed places,
    value counts,
    scratch released,
    scratch idle_units,
    fixed reports_idle,
    scratch edges,
    scratch units,
    fixed unit_of_die,
    scratch channels,
    fixed arbitration,
    scratch ops,
    scratch submitted,
    nested durations,
    fixed commands,
    fixed scheduling,
    fixed suspend_ns,
    fixed resume_ns,
    fixed most_wait_ns,
    fixed cache_program,
    scratch in_memory,
    scratch erases,
    scratch pacing,
    scratch planes,
    scratch slc,
    nested retrying,
    fixed first_slc_page,
    scratch queues,
    scratch last_program,
} where is_plausible);

impl Nand {
    fn is_plausible(&self) -> bool {
        let OpCounts { reads, programs, erases } = self.counts;
        [reads, programs, erases].iter().all(|&count| count < MOST_PLAUSIBLE)
    }

    /// True if no block was programmed after `now_ns`.
    pub fn was_programmed_by(&self, now_ns: u64) -> bool {
        self.retrying.as_ref().is_none_or(|retrying| retrying.was_programmed_by(now_ns))
    }
}
