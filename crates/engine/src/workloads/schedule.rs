//! Changes of a workload that are known beforehand.
//! A run that misses them has not seen the workload.

/// Schedule of a workload's changes, in page writes since it began.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Schedule {
    /// The last change that does not recur.
    pub last_change: f64,
    /// The length of the longest cycle; 0 if nothing recurs.
    pub cycle: f64,
}

impl Schedule {
    /// The schedule as its host sees it that gives the workload this share of the writes.
    #[must_use]
    pub fn at_share(self, write_share: f64) -> Schedule {
        if write_share == 0.0 {
            return Schedule::default();
        }
        Schedule { last_change: self.last_change / write_share, cycle: self.cycle / write_share }
    }

    /// The schedule of a workload that changes as both do.
    #[must_use]
    pub fn and(self, other: Schedule) -> Schedule {
        Schedule {
            last_change: self.last_change.max(other.last_change),
            cycle: self.cycle.max(other.cycle),
        }
    }
}
