//! Measurement window of a recorded drive, for a replay that counts the same requests.

/// Window of virtual time in which a recorded drive was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Start; events up to this time are not counted.
    pub from_ns: u64,
    /// End; events after this time are not counted.
    pub until_ns: u64,
    /// Number of outstanding requests at the end of the recording.
    pub unanswered: u64,
}

/// Position of a run relative to the measurement window.
#[derive(Debug, Clone, Copy)]
pub enum Counting {
    /// The run has not reached the window yet.
    Before(Window),
    /// The run is within the window.
    Within(Window),
    /// After the window, while more requests are outstanding than at the end of the recording.
    Late(Window),
}

impl Counting {
    /// Time in ns of the next start or end of the window, if known.
    pub fn edge_ns(&self) -> Option<u64> {
        match self {
            Counting::Before(window) => Some(window.from_ns),
            Counting::Within(window) => Some(window.until_ns.max(window.from_ns)),
            Counting::Late(_) => None,
        }
    }

    /// True if the run can end while this number of requests is outstanding.
    pub fn is_over(&self, outstanding: u64) -> bool {
        matches!(self, Counting::Late(window) if outstanding <= window.unanswered)
    }
}
