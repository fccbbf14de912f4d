//! A host of either device, which records the answers to its requests.

use std::collections::VecDeque;

use writeamp_engine::flash::{Cause, Counters, TagCounters};
use writeamp_engine::hints::{Hints, NEVER, RequiredHints};
use writeamp_engine::request::Op;
use writeamp_engine::timing::{BlockDevice, IoRequest, Shift, Ssd, TagShift};
use writeamp_naive::timed::{IntervalCounts, RequestKind, TimedCounters, TimedDrive};

use super::books::{Books, GROUPS, group_of};

/// A request and, in an open loop, the time since the previous request.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    pub request: IoRequest,
    pub gap_ns: u64,
    /// Random number that determines the hints on the pages.
    pub whim: u32,
}

/// Returns the hints on the pages of a write, for a drive that requires them.
///
/// `clock` is the number of host pages written before.
fn hints(required_hints: RequiredHints, asking: &Asking, page_bytes: u64, clock: u64) -> Vec<u64> {
    let IoRequest { op, offset, length, .. } = asking.request;
    if op != Op::Write || length == 0 {
        return Vec::new();
    }
    let pages = offset / page_bytes..(offset + length).div_ceil(page_bytes);
    let hint = |page: u64| match required_hints {
        // Most pages stay in their groups.
        RequiredHints::Groups | RequiredHints::Handles if !asking.whim.is_multiple_of(8) => {
            group_of(page as u32)
        }
        RequiredHints::Groups | RequiredHints::Handles => u64::from(asking.whim / 8 % 2),
        _ if asking.whim.is_multiple_of(5) => NEVER,
        _ => clock + u64::from(asking.whim % 301),
    };
    if required_hints == RequiredHints::Nothing { Vec::new() } else { pages.map(hint).collect() }
}

/// Interface of a device, as the host sees it.
pub trait Device {
    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32, hints: &[u64]);
    fn required_hints(&self) -> RequiredHints;
    fn page_bytes(&self) -> u64;
    fn next_event_ns(&self) -> Option<u64>;
    /// Continues until a request is answered, or no event before `before_ns` is left.
    /// Returns the answer, if there is one, and the time of the last event, if one happened.
    fn run(&mut self, before_ns: u64) -> (Option<(u32, u64)>, Option<u64>);
    fn sync(&mut self, now_ns: u64);
    fn counters(&self) -> TimedCounters;
    /// Record of a device at a mark of the host.
    type Mark;
    fn mark(&mut self) -> Self::Mark;
    /// Returns the programs and erases that the writes before each mark caused, also after it.
    fn taken(&self, marks: &[Self::Mark]) -> Vec<IntervalCounts>;
}

impl Device for Ssd {
    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32, hints: &[u64]) {
        let submitted = if request.op == Op::Write {
            let group_of: Vec<u8> = hints.iter().map(|&hint| hint as u8).collect();
            let hints = Hints {
                groups: &GROUPS,
                group_of: &group_of,
                invalidation_times: hints,
                ..Hints::default()
            };
            self.submit_hinted(now_ns, request, id, &hints)
        } else {
            BlockDevice::submit(self, now_ns, request, id)
        };
        submitted.expect("a request within the drive");
    }

    fn required_hints(&self) -> RequiredHints {
        BlockDevice::required_hints(self)
    }

    fn page_bytes(&self) -> u64 {
        self.drive().flash().geometry().page_bytes().into()
    }

    fn next_event_ns(&self) -> Option<u64> {
        BlockDevice::next_event_ns(self)
    }

    fn run(&mut self, before_ns: u64) -> (Option<(u32, u64)>, Option<u64>) {
        let mut completed = Vec::new();
        let ran = BlockDevice::run(self, before_ns, MOST_EVENTS, &mut completed)
            .expect("a drive that goes on");
        assert!(ran.events < MOST_EVENTS, "the device never comes to rest");
        assert!(completed.len() <= 1, "an event answers one request");
        let answer = completed.first().map(|completion| (completion.id, completion.at_ns));
        (answer, (ran.events > 0).then_some(ran.last_ns))
    }

    fn sync(&mut self, now_ns: u64) {
        BlockDevice::sync(self, now_ns).expect("a drive that goes on");
    }

    fn counters(&self) -> TimedCounters {
        let counters = BlockDevice::counters(self).expect("a flash drive");
        let host = counters.host;
        let host_pages = 0..(self.capacity_bytes() / self.page_bytes()) as u32;
        let behind = host_pages.filter(|&page| self.drive().flash().physical(page).is_some());
        let slc_pages = self.slc_wear().map_or(0, |wear| wear.valid_pages);
        TimedCounters {
            mapped_pages: behind.count() as u64 + slc_pages,
            slc_pages,
            programs: Cause::ALL.map(|cause| counters.programs(cause)),
            erases: counters.erases,
            written_pages: host.written_pages,
            written_bytes: host.written_bytes,
            read_pages: host.read_pages,
            read_bytes: host.read_bytes,
            trimmed_pages: host.trimmed_pages,
            trimmed_bytes: host.trimmed_bytes,
            unmapped_pages: counters.unmapped_pages,
            flushes: host.flushes,
            program_operations: self.program_operations(),
            read_operations: self.read_operations(),
            retries: self.read_errors().unwrap_or_default().retries,
            uncorrectable: self.read_errors().unwrap_or_default().uncorrectable,
        }
    }

    type Mark = (Counters, TagCounters);

    fn mark(&mut self) -> Self::Mark {
        BlockDevice::mark(self);
        (
            BlockDevice::counters(self).expect("a flash drive"),
            self.tag_counters().expect("a drive that counts by tag"),
        )
    }

    fn taken(&self, marks: &[Self::Mark]) -> Vec<IntervalCounts> {
        let (shifts, mut sum) = (self.shifts(), Shift::default());
        let (tag_shifts, mut late) = (self.tag_shifts(), TagShift::new());
        let taken = |(number, (counters, by_tag)): (usize, &Self::Mark)| {
            shifts.get(number).into_iter().for_each(|shift| sum.add(shift));
            for (&place, by) in tag_shifts.get(number).into_iter().flatten() {
                *late.entry(place).or_default() += by;
            }
            let counters = sum.applied_to(counters);
            let programs = Cause::ALL.map(|cause| counters.programs(cause));
            let row = by_tag.row(&Cause::ALL);
            let shifted = |tag, cause: Cause| {
                let place = by_tag.place_of(tag, cause);
                row[place].checked_add_signed(late.get(&place).copied().unwrap_or(0)).unwrap()
            };
            let by_tag = by_tag.tags().flat_map(|tag| Cause::ALL.map(|cause| (tag, cause)));
            let by_tag = by_tag.map(|(tag, cause)| ((tag, cause as usize), shifted(tag, cause)));
            let by_tag = by_tag.filter(|&(_, programs)| programs > 0).collect();
            IntervalCounts { programs, erases: counters.erases, by_tag }
        };
        marks.iter().enumerate().map(taken).collect()
    }
}

impl Device for TimedDrive<Books> {
    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32, hints: &[u64]) {
        let IoRequest { op, offset, length, fua, tag } = *request;
        let kind = match op {
            Op::Read => RequestKind::Read,
            Op::Write => RequestKind::Write { fua },
            Op::Trim => RequestKind::Trim,
            Op::Flush => RequestKind::Flush,
        };
        TimedDrive::submit(self, now_ns, kind, (offset, length), id, hints.to_vec(), tag);
    }

    fn required_hints(&self) -> RequiredHints {
        self.logical().drive.required_hints()
    }

    fn page_bytes(&self) -> u64 {
        self.logical().drive.flash().geometry().page_bytes().into()
    }

    fn next_event_ns(&self) -> Option<u64> {
        TimedDrive::next_event_ns(self)
    }

    fn run(&mut self, before_ns: u64) -> (Option<(u32, u64)>, Option<u64>) {
        let mut last_ns = None;
        for _ in 0..MOST_EVENTS {
            let Some(next_ns) = self.next_event_ns().filter(|&next_ns| next_ns < before_ns) else {
                return (None, last_ns);
            };
            last_ns = Some(next_ns);
            if let Some(answer) = self.step() {
                return (Some(answer), last_ns);
            }
        }
        panic!("the twin never comes to rest");
    }

    fn sync(&mut self, now_ns: u64) {
        TimedDrive::sync(self, now_ns);
    }

    fn counters(&self) -> TimedCounters {
        TimedDrive::counters(self)
    }

    type Mark = ();

    fn mark(&mut self) {
        TimedDrive::mark(self);
    }

    fn taken(&self, marks: &[()]) -> Vec<IntervalCounts> {
        let mut sum = IntervalCounts::default();
        let until = |interval: &IntervalCounts| {
            sum.programs.iter_mut().zip(interval.programs).for_each(|(all, own)| *all += own);
            sum.erases += interval.erases;
            for (&key, programs) in &interval.by_tag {
                *sum.by_tag.entry(key).or_default() += programs;
            }
            sum.clone()
        };
        self.intervals().iter().map(until).take(marks.len()).collect()
    }
}

/// Outcome of a run of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Requests by number, and when they were answered, in that order.
    pub answers: Vec<(u32, u64)>,
    /// Time at which the device became idle for good.
    pub end_ns: u64,
    pub counters: TimedCounters,
    /// Programs and erases that the writes before each mark caused.
    pub taken: Vec<IntervalCounts>,
}

/// Limit of events, above the number of any of these runs.
const MOST_EVENTS: u64 = 3_000_000;

/// Sends all requests to a device, with at most `depth` outstanding.
///
/// In a closed loop, `closed` requests are outstanding at a time. In an open loop (`closed` is
/// None), each request has its own time.
pub fn drive(
    device: &mut impl Device,
    asked: &[Asking],
    closed: Option<usize>,
    depth: usize,
) -> Outcome {
    let mut arrivals: VecDeque<(u64, u32)> = VecDeque::new();
    let mut at_ns = 0;
    for (id, asking) in (0..).zip(asked) {
        at_ns += asking.gap_ns;
        arrivals.push_back((at_ns, id));
    }
    let (mut now_ns, mut answers, mut marks) = (0, Vec::new(), Vec::new());
    let (required_hints, page_bytes) = (device.required_hints(), device.page_bytes());
    let (mut in_device, mut clock) = (0, 0);
    for _ in 0..MOST_EVENTS {
        let outstanding = closed.map_or(depth, |most| most.min(depth));
        while let Some(&(due_ns, id)) = arrivals.front()
            && in_device < outstanding
            && (closed.is_some()
                || due_ns <= now_ns
                || device.next_event_ns().is_none_or(|next| due_ns <= next))
        {
            arrivals.pop_front();
            now_ns = if closed.is_some() { now_ns } else { now_ns.max(due_ns) };
            in_device += 1;
            let asking = &asked[id as usize];
            let told = hints(required_hints, asking, page_bytes, clock);
            clock += told.len() as u64;
            device.submit(now_ns, &asking.request, id, &told);
        }
        let arrival = arrivals.front().filter(|_| closed.is_none() && in_device < outstanding);
        let (answer, last_ns) = device.run(arrival.map_or(u64::MAX, |&(due_ns, _)| due_ns));
        now_ns = last_ns.unwrap_or(now_ns);
        if let Some(answer) = answer {
            in_device -= 1;
            answers.push(answer);
            if answers.len() % 7 == 0 {
                marks.push(device.mark());
            }
        } else if arrival.is_none() {
            assert_eq!(answers.len(), asked.len(), "a device that is asked answers");
            device.sync(now_ns);
            let (answer, last_ns) = device.run(u64::MAX);
            assert_eq!(answer, None, "all was answered");
            marks.push(device.mark());
            let (counters, taken) = (device.counters(), device.taken(&marks));
            return Outcome { answers, end_ns: last_ns.unwrap_or(now_ns), counters, taken };
        }
    }
    panic!("the device never comes to rest");
}
