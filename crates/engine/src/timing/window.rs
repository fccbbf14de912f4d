//! Window in which a recorded drive counted, for a replay that counts what it did.

/// Window of virtual time in which a recorded drive counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Time up to which all that had happened is not counted.
    pub from_ns: u64,
    /// Time after which nothing is.
    pub until_ns: u64,
    /// Requests that it had taken and not answered then.
    pub unanswered: u64,
}

/// Window of a run, and how far it has come.
#[derive(Debug, Clone, Copy)]
pub enum Counting {
    /// It is still to begin.
    Before(Window),
    /// It has begun.
    Within(Window),
    /// It is past, but more requests are unanswered than the recorded drive left so.
    Late(Window),
}

impl Counting {
    /// Time of the next edge, if that is known.
    pub fn edge_ns(&self) -> Option<u64> {
        match self {
            Counting::Before(window) => Some(window.from_ns),
            Counting::Within(window) => Some(window.until_ns.max(window.from_ns)),
            Counting::Late(_) => None,
        }
    }

    /// True if a window that is past ends with so many requests outstanding.
    pub fn is_over(&self, outstanding: u64) -> bool {
        matches!(self, Counting::Late(window) if outstanding <= window.unanswered)
    }
}
