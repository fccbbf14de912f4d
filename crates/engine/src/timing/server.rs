//! Server: it serves one thing after another, in the order in which they come.

use super::params::{Interface, Rate};

/// A server with a queue.
#[derive(Debug, Clone, Copy, Default)]
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

/// The link to the host: one way, which both directions share, or one for each.
#[derive(Debug)]
pub struct Link {
    ways: Vec<Server>,
    packet_bytes: u64,
    rate: Rate,
}

impl Link {
    /// The link of an interface, idle.
    pub fn new(interface: &Interface) -> Self {
        Link {
            ways: vec![Server::default(); 1 + usize::from(interface.full_duplex)],
            packet_bytes: u64::from(interface.link_packet_bytes),
            rate: Rate::new(interface.link_mb_s),
        }
    }

    /// Sends bytes to the device; returns when they have arrived.
    pub fn send_in(&mut self, now_ns: u64, bytes: u64) -> u64 {
        self.send(0, now_ns, bytes)
    }

    /// Sends bytes to the host; returns when they have arrived.
    pub fn send_out(&mut self, now_ns: u64, bytes: u64) -> u64 {
        self.send(self.ways.len() - 1, now_ns, bytes)
    }

    fn send(&mut self, way: usize, now_ns: u64, bytes: u64) -> u64 {
        let on_link = bytes.next_multiple_of(self.packet_bytes);
        let duration_ns = self.rate.ns(on_link);
        self.ways[way].serve(now_ns, duration_ns)
    }

    /// Directions that work at the same time.
    pub fn ways(&self) -> u32 {
        self.ways.len() as u32
    }

    /// Time at work up to `now_ns`, summed over them.
    pub fn busy_ns(&self, now_ns: u64) -> u64 {
        self.ways.iter().map(|way| way.busy_ns(now_ns)).sum()
    }
}
