//! Changes of a workload that are known in advance.
//! A run must be long enough to include them, or it does not represent the workload.

/// Schedule of a workload's changes, in page writes since its start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Schedule {
    /// Number of page writes before the last change that does not recur.
    pub last_change: f64,
    /// Length of the longest cycle; 0 if nothing recurs.
    pub cycle: f64,
}

impl Schedule {
    /// Schedule in page writes of a host, of which only this share goes to the workload.
    #[must_use]
    pub fn at_share(self, write_share: f64) -> Schedule {
        if write_share == 0.0 {
            return Schedule::default();
        }
        Schedule { last_change: self.last_change / write_share, cycle: self.cycle / write_share }
    }

    /// Schedule of a workload with the changes of this schedule and of `other`.
    #[must_use]
    pub fn and(self, other: Schedule) -> Schedule {
        Schedule {
            last_change: self.last_change.max(other.last_change),
            cycle: self.cycle.max(other.cycle),
        }
    }
}
