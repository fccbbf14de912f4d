//! A part of a disk that serves one request after another, in the order in which they come.

/// A server with a queue.
#[derive(Debug, Default)]
pub struct Server {
    free_ns: u64,
    served_ns: u64,
}

impl Server {
    /// Serves what comes now for `service_ns`; returns when that is done.
    pub fn serve(&mut self, now_ns: u64, service_ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(now_ns) + service_ns;
        self.served_ns += service_ns;
        self.free_ns
    }

    /// Time at work up to `now_ns`, before which nothing comes any more.
    pub fn busy_ns(&self, now_ns: u64) -> u64 {
        self.served_ns - self.free_ns.saturating_sub(now_ns)
    }
}
