//! Device that serves one request after another, each in a fixed time.

use std::collections::VecDeque;

use crate::error::Result;
use crate::flash::Counters;
use crate::timing::{BlockDevice, Busy, Completion, Edge, IoRequest};

/// Server with a queue of requests.
#[derive(Debug, Default)]
pub struct Server {
    pub capacity_bytes: u64,
    pub depth: u32,
    /// Time for each request, in addition to the time for its bytes.
    pub request_ns: u64,
    pub byte_ns: u64,
    /// Counters of the device, if it represents flash.
    pub counters: Option<Counters>,
    /// Edges of the Ready/Busy pin of its only die.
    pub edges: Vec<Edge>,
    /// Completion times of the submitted requests, with their numbers.
    /// The next fields are the time at which the device is free, and its busy time until then.
    pub queue: VecDeque<(u64, u32)>,
    pub free_ns: u64,
    pub busy_ns: u64,
}

impl BlockDevice for Server {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32) -> Result<()> {
        assert!(self.queue.len() < self.depth as usize, "more than the device takes at once");
        let IoRequest { offset, length, .. } = *request;
        assert!(offset + length <= self.capacity_bytes, "{request:?} is off the end");
        let service_ns = self.request_ns + length * self.byte_ns;
        self.free_ns = self.free_ns.max(now_ns) + service_ns;
        self.busy_ns += service_ns;
        self.queue.push_back((self.free_ns, id));
        Ok(())
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.queue.front().map(|(at_ns, _)| *at_ns)
    }

    fn step(&mut self, completed: &mut Vec<Completion>) -> Result<()> {
        completed.extend(self.queue.pop_front().map(|(at_ns, id)| Completion { id, at_ns }));
        Ok(())
    }

    fn sync(&mut self, _now_ns: u64) -> Result<()> {
        Ok(())
    }

    fn busy(&self, now_ns: u64) -> Vec<Busy> {
        let busy_ns = self.busy_ns - self.free_ns.saturating_sub(now_ns);
        vec![Busy { level: "head", parts: 1, busy_ns }]
    }

    fn counters(&self) -> Option<Counters> {
        self.counters
    }

    fn take_edges(&mut self, edges: &mut Vec<Edge>) {
        edges.append(&mut self.edges);
    }
}
