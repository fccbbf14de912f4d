//! State of the array that lasts while the drive is off.

use super::{Nand, OpCounts};
use crate::state::{MOST_PLAUSIBLE, state};

state!(Nand {
    fixed places,
    value counts,
    scratch told,
    scratch idle_units,
    fixed reports_idle,
    scratch edges,
    scratch units,
    fixed unit_of_die,
    scratch channels,
    fixed arbitration,
    scratch ops,
    scratch submitted,
    part durations,
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
    part retrying,
    fixed first_slc_page,
    scratch queues,
    scratch last_program,
} where is_plausible);

impl Nand {
    fn is_plausible(&self) -> bool {
        let OpCounts { reads, programs, erases } = self.counts;
        [reads, programs, erases].iter().all(|&count| count < MOST_PLAUSIBLE)
    }

    /// True if no block was programmed after that time.
    pub fn was_programmed_by(&self, now_ns: u64) -> bool {
        self.retrying.as_ref().is_none_or(|retrying| retrying.was_programmed_by(now_ns))
    }
}
