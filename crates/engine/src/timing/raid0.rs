//! RAID-0 of several devices: stripe i is on the member with index i modulo their number.

use std::collections::VecDeque;
use std::ops::Range;

use super::errors::ReadErrors;
use super::extent::check_extent;
use super::late::{Shift, TagShift};
use super::slab::Slab;
use super::{BlockDevice, Busy, Completion, Edge, IoRequest, SECTOR_BYTES, SlcWear};
use crate::error::{Error, Result};
use crate::flash::{Counters, TagCounters};
use crate::hints::RequiredHints;
use crate::request::Op;

/// Device that is a member of a RAID-0 array.
pub struct Member {
    /// Device that serves the member's part of the stripes.
    pub device: Box<dyn BlockDevice>,
    /// Number of dies of the member; 0 for devices without flash.
    /// The die numbers of the next member continue from there.
    pub dies: u32,
}

/// Part of a request that one member serves.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// Slot number of the whole request.
    whole: u32,
    request: IoRequest,
}

/// Request that the array has received and not answered.
#[derive(Debug, Clone, Copy)]
struct Whole {
    id: u32,
    parts_left: u32,
}

/// Member with the parts of requests that it serves.
struct Numbered {
    device: Box<dyn BlockDevice>,
    first_die: u32,
    /// Number of parts of requests in progress.
    under_way: u32,
    /// Slot numbers of requests whose parts the member cannot accept yet.
    waiting: VecDeque<u32>,
}

/// Array of devices without redundancy.
pub struct Raid0 {
    members: Vec<Numbered>,
    stripe_bytes: u64,
    capacity_bytes: u64,
    wholes: Slab<Whole>,
    parts: Slab<Part>,
    /// Completions of the member's current step.
    completed: Vec<Completion>,
}

impl Raid0 {
    /// Default stripe size in bytes.
    pub const STRIPE_BYTES: u64 = 65_536;

    /// Builds an array, which uses as many whole stripes of each member as the smallest one has.
    /// Returns an error without members, with stripes that are not whole sectors, or with a member
    /// smaller than a stripe.
    pub fn new(members: Vec<Member>, stripe_bytes: u64) -> Result<Self> {
        let wrong = |what: String| Err(Error::Spec(what));
        if stripe_bytes == 0 || !stripe_bytes.is_multiple_of(u64::from(SECTOR_BYTES)) {
            return wrong(format!(
                "the stripe of raid0 is {stripe_bytes} bytes; it must be a multiple of \
                 {SECTOR_BYTES}, and not 0"
            ));
        }
        if members.iter().any(|member| member.device.required_hints() != RequiredHints::Nothing) {
            return wrong(
                "a member of raid0 requires host hints, which raid0 does not pass on; use a block \
                 manager that requires none"
                    .into(),
            );
        }
        let capacities = members.iter().map(|member| member.device.capacity_bytes());
        let Some(smallest_bytes) = capacities.min() else {
            return wrong("raid0 has no member; it must have at least 1".into());
        };
        if smallest_bytes < stripe_bytes {
            return wrong(format!(
                "the smallest member of raid0 has {smallest_bytes} bytes; it must hold a stripe of \
                 {stripe_bytes} bytes"
            ));
        }
        let count = members.len() as u64;
        let capacity_bytes = (smallest_bytes / stripe_bytes * stripe_bytes).checked_mul(count);
        let Some(capacity_bytes) = capacity_bytes else {
            return wrong(format!(
                "the {count} members of raid0 together have 2^64 bytes or more, which is not \
                 supported; use fewer or smaller members"
            ));
        };
        let mut dies = 0;
        let numbered = |Member { device, dies: own }| {
            let first_die = dies;
            dies += own;
            Numbered { device, first_die, under_way: 0, waiting: VecDeque::new() }
        };
        Ok(Raid0 {
            members: members.into_iter().map(numbered).collect(),
            stripe_bytes,
            capacity_bytes,
            wholes: Slab::default(),
            parts: Slab::default(),
            completed: Vec::new(),
        })
    }

    /// Range of bytes on member `number` that holds its part of the array's `bytes`.
    /// It is a single range, because the stripes of a range are consecutive on each member.
    fn on_member(&self, bytes: &Range<u64>, number: usize) -> Range<u64> {
        let stripes_before = |end: u64| {
            let row_bytes = self.stripe_bytes * self.members.len() as u64;
            let first_of_own = self.stripe_bytes * number as u64;
            let in_row = (end % row_bytes).saturating_sub(first_of_own).min(self.stripe_bytes);
            end / row_bytes * self.stripe_bytes + in_row
        };
        stripes_before(bytes.start)..stripes_before(bytes.end)
    }

    /// Part of a request that is on member `number`, if any.
    fn member_request(&self, request: &IoRequest, number: usize) -> Option<IoRequest> {
        if request.op == Op::Flush {
            return Some(*request);
        }
        let bytes = self.on_member(&(request.offset..request.offset + request.length), number);
        let length = bytes.end - bytes.start;
        (length > 0).then_some(IoRequest { offset: bytes.start, length, ..*request })
    }

    /// Submits the waiting parts of requests to a member, as many as it accepts.
    fn hand_over(&mut self, now_ns: u64, number: usize) -> Result<()> {
        let member = &mut self.members[number];
        while member.under_way < member.device.depth()
            && let Some(slot) = member.waiting.pop_front()
        {
            member.under_way += 1;
            member.device.submit(now_ns, &self.parts[slot].request, slot)?;
        }
        Ok(())
    }

    /// Member with the next event, and the time of that event.
    fn next(&self) -> Option<(u64, usize)> {
        let of =
            |(number, member): (usize, &Numbered)| Some((member.device.next_event_ns()?, number));
        self.members.iter().enumerate().filter_map(of).min()
    }
}

impl BlockDevice for Raid0 {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn depth(&self) -> u32 {
        self.members.iter().fold(0, |sum, member| sum.saturating_add(member.device.depth()))
    }

    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32) -> Result<()> {
        check_extent(request, self.capacity_bytes)?;
        let whole = self.wholes.insert(Whole { id, parts_left: 0 });
        for number in 0..self.members.len() {
            if let Some(request) = self.member_request(request, number) {
                let slot = self.parts.insert(Part { whole, request });
                self.wholes[whole].parts_left += 1;
                self.members[number].waiting.push_back(slot);
                self.hand_over(now_ns, number)?;
            }
        }
        Ok(())
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.next().map(|(at_ns, _)| at_ns)
    }

    fn step(&mut self, completed: &mut Vec<Completion>) -> Result<()> {
        let Some((_, number)) = self.next() else { return Ok(()) };
        let mut of_member = std::mem::take(&mut self.completed);
        self.members[number].device.step(&mut of_member)?;
        for Completion { id: slot, at_ns } in of_member.drain(..) {
            self.members[number].under_way -= 1;
            let Part { whole, .. } = self.parts.remove(slot);
            let parts_left = &mut self.wholes[whole].parts_left;
            *parts_left -= 1;
            if *parts_left == 0 {
                completed.push(Completion { id: self.wholes.remove(whole).id, at_ns });
            }
            self.hand_over(at_ns, number)?;
        }
        self.completed = of_member;
        Ok(())
    }

    fn sync(&mut self, now_ns: u64) -> Result<()> {
        self.members.iter_mut().try_for_each(|member| member.device.sync(now_ns))
    }

    /// Busy time of all members, summed by kind of device part.
    fn busy(&self, now_ns: u64) -> Vec<Busy> {
        let mut merged: Vec<Busy> = Vec::new();
        for busy in self.members.iter().flat_map(|member| member.device.busy(now_ns)) {
            match merged.iter_mut().find(|other| other.level == busy.level) {
                Some(other) => {
                    other.parts += busy.parts;
                    other.busy_ns += busy.busy_ns;
                }
                None => merged.push(busy),
            }
        }
        merged
    }

    fn counters(&self) -> Option<Counters> {
        let each = self.members.iter().filter_map(|member| member.device.counters());
        each.reduce(|sum, other| sum.plus(&other))
    }

    fn tag_counters(&self) -> Option<TagCounters> {
        let each = self.members.iter().filter_map(|member| member.device.tag_counters());
        each.reduce(|mut sum, other| {
            sum.add(&other);
            sum
        })
    }

    fn tag_shifts(&self) -> Vec<TagShift> {
        let mut sums: Vec<TagShift> = Vec::new();
        for shifts in self.members.iter().map(|member| member.device.tag_shifts()) {
            sums.resize(sums.len().max(shifts.len()), TagShift::new());
            for (sum, shift) in sums.iter_mut().zip(&shifts) {
                for (&place, &by) in shift {
                    *sum.entry(place).or_default() += by;
                }
            }
        }
        sums
    }

    fn mark(&mut self) {
        self.members.iter_mut().for_each(|member| member.device.mark());
    }

    fn begin_load(&mut self) {
        self.members.iter_mut().for_each(|member| member.device.begin_load());
    }

    fn shifts(&self) -> Vec<Shift> {
        let mut sums: Vec<Shift> = Vec::new();
        for shifts in self.members.iter().map(|member| member.device.shifts()) {
            sums.resize(sums.len().max(shifts.len()), Shift::default());
            sums.iter_mut().zip(&shifts).for_each(|(sum, shift)| sum.add(shift));
        }
        sums
    }

    fn slc_wear(&self) -> Option<SlcWear> {
        let each = self.members.iter().filter_map(|member| member.device.slc_wear());
        each.reduce(|sum, other| SlcWear {
            erases: sum.erases + other.erases,
            blocks: sum.blocks + other.blocks,
            erased_pages: sum.erased_pages + other.erased_pages,
            valid_pages: sum.valid_pages + other.valid_pages,
        })
    }

    fn read_errors(&self) -> Option<ReadErrors> {
        let each = self.members.iter().filter_map(|member| member.device.read_errors());
        each.reduce(|sum, other| sum.plus(&other))
    }

    fn program_operations(&self) -> u64 {
        self.members.iter().map(|member| member.device.program_operations()).sum()
    }

    fn read_operations(&self) -> u64 {
        self.members.iter().map(|member| member.device.read_operations()).sum()
    }

    fn take_edges(&mut self, edges: &mut Vec<Edge>) {
        let first = edges.len();
        for member in &mut self.members {
            let own = edges.len();
            member.device.take_edges(edges);
            edges[own..].iter_mut().for_each(|edge| edge.die += member.first_die);
        }
        edges[first..].sort_by_key(|edge| edge.at_ns);
    }
}

#[cfg(test)]
mod tests;
