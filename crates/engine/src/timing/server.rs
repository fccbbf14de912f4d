//! Server, which processes one job after another in order of arrival.

use super::params::{Interface, Rate};

/// Server with a queue of jobs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Server {
    free_ns: u64,
    served_ns: u64,
}

impl Server {
    /// Adds a job that takes `service_ns`. Returns the time of its completion.
    pub fn serve(&mut self, now_ns: u64, service_ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(now_ns) + service_ns;
        self.served_ns += service_ns;
        self.free_ns
    }

    /// Busy time up to `now_ns`, which must not be before the last job was added.
    pub fn busy_ns(&self, now_ns: u64) -> u64 {
        self.served_ns - self.free_ns.saturating_sub(now_ns)
    }
}

/// Host link: one server for both directions, or one for each direction.
#[derive(Debug)]
pub struct Link {
    ways: Vec<Server>,
    packet_bytes: u64,
    rate: Rate,
}

impl Link {
    /// Builds an idle link.
    pub fn new(interface: &Interface) -> Self {
        Link {
            ways: vec![Server::default(); 1 + usize::from(interface.full_duplex)],
            packet_bytes: u64::from(interface.link_packet_bytes),
            rate: Rate::new(interface.link_mb_s),
        }
    }

    /// Sends bytes to the device. Returns the time of their arrival.
    pub fn send_in(&mut self, now_ns: u64, bytes: u64) -> u64 {
        self.send(0, now_ns, bytes)
    }

    /// Sends bytes to the host. Returns the time of their arrival.
    pub fn send_out(&mut self, now_ns: u64, bytes: u64) -> u64 {
        self.send(self.ways.len() - 1, now_ns, bytes)
    }

    fn send(&mut self, way: usize, now_ns: u64, bytes: u64) -> u64 {
        let on_link = bytes.next_multiple_of(self.packet_bytes);
        let duration_ns = self.rate.ns(on_link);
        self.ways[way].serve(now_ns, duration_ns)
    }

    /// Number of directions that work simultaneously.
    pub fn ways(&self) -> u32 {
        self.ways.len() as u32
    }

    /// Busy time up to `now_ns`, summed over the directions.
    pub fn busy_ns(&self, now_ns: u64) -> u64 {
        self.ways.iter().map(|way| way.busy_ns(now_ns)).sum()
    }
}
