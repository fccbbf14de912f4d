//! What serves one thing after another, in the order in which they come.

/// A server in time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Server {
    free_ns: u64,
    /// Time that it was busy, with what was begun.
    pub busy_ns: u64,
}

impl Server {
    /// Serves what comes now; returns when it is done.
    pub fn serve(&mut self, now_ns: u64, duration_ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(now_ns) + duration_ns;
        self.busy_ns += duration_ns;
        self.free_ns
    }
}
