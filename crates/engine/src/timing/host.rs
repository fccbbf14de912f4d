//! Host that drives a device in virtual time: issues a workload's requests and measures them.
//! Requests are issued in a closed loop (a fixed number of outstanding requests) or in an open loop
//! (at fixed times, whether or not earlier requests are complete).

use std::collections::VecDeque;

use super::device::{BlockDevice, Busy, Completion, Edge, IoRequest};
use super::hinted::Hinted;
use super::measures::{Measures, Sampled};
use super::slab::Slab;
use super::window::{Counting, Window};
use crate::error::{Error, Result};
use crate::flash::Counters;
use crate::request::{Op, Request};
use crate::workloads::{Pacing, Workload};

/// Number of requests drawn ahead of the one that is issued.
const DRAWN: usize = 16;

/// Pause of the host after a request that took no time, if the load has a time limit.
///
/// No real host is faster. Without the pause, a closed loop of such requests would never end.
const PAUSE_NS: u64 = 1000;

/// Limits after which the host issues no requests. Outstanding requests are still served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Virtual time of the run, in ns.
    pub time_ns: Option<u64>,
    /// Number of bytes written; trimmed bytes do not count.
    pub written_bytes: Option<u64>,
    /// Number of issued requests.
    pub requests: Option<u64>,
    /// Length of the warm-up, which is excluded from the measures, in thousandths of the run.
    /// It is over when this part of any limit is reached.
    pub warmup_permille: u64,
    /// Measurement window of a recorded drive, or None. With a window, only requests in it are
    /// measured, and the run ends with the window, even if the device still has work.
    pub window: Option<Window>,
}

impl Limits {
    fn check(&self) -> Result<()> {
        if self.time_ns.is_none() && self.written_bytes.is_none() && self.requests.is_none() {
            return Err(Error::Spec(
                "a timed run has no limit; set a time, a number of bytes to write, or a number of \
                 requests"
                    .into(),
            ));
        }
        Ok(())
    }
}

/// Issued request.
#[derive(Debug, Clone, Copy)]
struct Issued {
    at_ns: u64,
    op: Op,
    length: u64,
}

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Issuing,
    /// Outstanding requests are served, and no new ones are issued.
    Serving,
    /// The device writes out its volatile data.
    Settling,
    Done,
}

/// Device with a host that uses it.
pub struct TimedRun {
    device: Box<dyn BlockDevice>,
    workload: Box<dyn Workload>,
    page_bytes: u32,
    pacing: Pacing,
    /// Factor on the arrival times of an open loop. Below 1, requests arrive faster.
    time_scale: f64,
    limits: Limits,
    phase: Phase,
    now_ns: u64,
    /// Start time of the load; limits, arrivals and measures count from it.
    begun_ns: u64,
    issued: Slab<Issued>,
    /// Requests that were drawn and not issued yet.
    drawn: VecDeque<(u64, IoRequest)>,
    /// Draws requests with hints, for a device that requires them.
    hinted: Option<Box<Hinted>>,
    /// True once the workload has ended.
    is_drained: bool,
    in_device: u32,
    /// Issued requests that wait because the device cannot accept more requests yet.
    queue: VecDeque<(u32, IoRequest)>,
    next_arrival: Option<(u64, IoRequest)>,
    /// Times at which a closed loop continues after pauses, in ascending order.
    paused: VecDeque<u64>,
    issued_requests: u64,
    written_bytes: u64,
    measures: Measures,
    counting: Option<Counting>,
    /// Number of intervals of the device that ended in this load, and one for all earlier ones.
    marks: u32,
    completed: Vec<Completion>,
}

impl TimedRun {
    /// Builds a run from time 0. `page_bytes` is the page size of the workload.
    pub fn new(
        device: Box<dyn BlockDevice>,
        workload: Box<dyn Workload>,
        page_bytes: u32,
        time_scale: f64,
        limits: Limits,
    ) -> Result<Self> {
        limits.check()?;
        if !(time_scale.is_finite() && time_scale > 0.0) {
            return Err(Error::outside("time_scale", time_scale, "above 0"));
        }
        let measures = measures_of(&*device, 0, page_bytes, limits)?;
        let mut run = TimedRun {
            hinted: Hinted::new(&*device, &*workload)?,
            device,
            pacing: workload.pacing(),
            workload,
            page_bytes,
            time_scale,
            limits,
            phase: Phase::Issuing,
            now_ns: 0,
            begun_ns: 0,
            issued: Slab::default(),
            drawn: VecDeque::with_capacity(DRAWN),
            is_drained: false,
            in_device: 0,
            queue: VecDeque::new(),
            next_arrival: None,
            paused: VecDeque::new(),
            issued_requests: 0,
            written_bytes: 0,
            measures,
            counting: limits.window.map(Counting::Before),
            marks: 0,
            completed: Vec::new(),
        };
        run.begin()?;
        Ok(run)
    }

    /// Continues with another load on the same device, `idle_ns` after the last load was complete
    /// and the device had written out its volatile data. Limits, host counters and measures restart
    /// with the new load. The device's counters and the clock continue.
    pub fn continue_with(
        &mut self,
        workload: Box<dyn Workload>,
        limits: Limits,
        idle_ns: u64,
    ) -> Result<()> {
        if self.phase != Phase::Done {
            return Err(Error::Spec(
                "the present load of this timed run is not complete; let it end and settle before \
                 the next load"
                    .into(),
            ));
        }
        limits.check()?;
        self.go_to(self.now_ns.saturating_add(idle_ns));
        self.begun_ns = self.now_ns;
        self.hinted = Hinted::new(&*self.device, &*workload)?;
        self.pacing = workload.pacing();
        self.workload = workload;
        self.counting = limits.window.map(Counting::Before);
        self.limits = limits;
        self.phase = Phase::Issuing;
        self.paused.clear();
        self.drawn.clear();
        self.is_drained = false;
        self.issued_requests = 0;
        self.written_bytes = 0;
        self.device.begin_load();
        self.marks = self.marks.min(1);
        self.measures = measures_of(&*self.device, self.marks, self.page_bytes, limits)?;
        self.begin()
    }

    /// Issues the first requests of a load.
    fn begin(&mut self) -> Result<()> {
        match self.pacing {
            Pacing::Closed { queue_depth } => {
                for _ in 0..queue_depth {
                    self.issue_next()?;
                }
            }
            Pacing::Open => self.fetch_arrival(),
        }
        self.end_if_exhausted();
        Ok(())
    }

    /// Processes at most `events` events. Returns true once the run is complete.
    pub fn advance(&mut self, events: u64) -> Result<bool> {
        let mut left = events;
        while left > 0 && self.phase != Phase::Done {
            left -= self.advance_to_completion(left)?;
        }
        Ok(self.phase == Phase::Done)
    }

    /// Processes the device's events that are due before the host's next action.
    /// Stops after an event that completes a request. If no event is due, performs the host's
    /// action instead, which counts as one event. Returns the number of processed events, at most
    /// `most_events`.
    fn advance_to_completion(&mut self, most_events: u64) -> Result<u64> {
        let issue_ns = self.next_issue_ns();
        let edge_ns = self.counting.and_then(|counting| counting.edge_ns());
        let after_edge_ns = edge_ns.map_or(u64::MAX, |edge_ns| edge_ns.saturating_add(1));
        let before_ns = issue_ns.unwrap_or(u64::MAX).min(after_edge_ns);
        let mut completed = std::mem::take(&mut self.completed);
        let ran = self.device.run(before_ns, most_events, &mut completed)?;
        if ran.events > 0 {
            self.go_to(ran.last_ns);
        }
        if !completed.is_empty() {
            for completion in completed.drain(..) {
                self.complete(completion)?;
            }
        }
        self.completed = completed;
        if self.counting.is_some_and(|counting| counting.is_over(self.outstanding())) {
            self.end_window();
            return Ok(ran.events.max(1));
        }
        match (issue_ns, edge_ns) {
            _ if ran.events > 0 => return Ok(ran.events),
            (Some(at_ns), _) if at_ns < after_edge_ns => self.issue_at(at_ns)?,
            (_, Some(edge_ns)) => self.pass_edge(edge_ns),
            _ => self.end_phase()?,
        }
        Ok(1)
    }

    /// Enters or leaves the measurement window at its edge, after all events up to that time.
    fn pass_edge(&mut self, edge_ns: u64) {
        self.go_to(edge_ns);
        match self.counting {
            Some(Counting::Before(window)) => {
                let now = Sampled::of(&*self.device);
                self.measures.begin_anew(now, self.elapsed_ns(), self.written_bytes);
                self.counting = Some(Counting::Within(window));
            }
            Some(Counting::Within(window)) => {
                self.counting = Some(Counting::Late(window));
                if self.outstanding() <= window.unanswered {
                    self.end_window();
                }
            }
            _ => {}
        }
    }

    /// Ends a run together with its measurement window.
    fn end_window(&mut self) {
        self.phase = Phase::Done;
        self.measures.end_of_issue(self.elapsed_ns(), None);
        if self.outstanding() == 0 {
            self.measures.assert_laws(self.now_ns, &self.device.busy(self.now_ns));
        }
        self.take_sample();
    }

    /// Issues the next request, which is due at `at_ns` by its arrival time or after a pause.
    fn issue_at(&mut self, at_ns: u64) -> Result<()> {
        self.go_to(at_ns);
        if let Some((_, request)) = self.next_arrival.take() {
            self.issue(request)?;
            self.fetch_arrival();
        } else {
            self.paused.pop_front();
            self.issue_next()?;
        }
        self.end_if_exhausted();
        Ok(())
    }

    /// Time at which the host issues its next request, if that does not depend on a completion.
    fn next_issue_ns(&self) -> Option<u64> {
        if self.phase != Phase::Issuing {
            return None;
        }
        match self.pacing {
            Pacing::Open => self.next_arrival.map(|(at_ns, _)| at_ns),
            Pacing::Closed { .. } => self.paused.front().copied(),
        }
    }

    /// Ends the current phase of the run, in which no event is left, and begins the next.
    fn end_phase(&mut self) -> Result<()> {
        match self.phase {
            Phase::Issuing | Phase::Serving => {
                assert_eq!(
                    self.outstanding(),
                    0,
                    "no event is left, but the device has not answered all requests"
                );
                self.measures.end_of_issue(self.elapsed_ns(), self.limits.time_ns);
                self.phase = Phase::Settling;
                self.device.sync(self.now_ns)?;
            }
            Phase::Settling | Phase::Done => {
                self.phase = Phase::Done;
                self.measures.assert_laws(self.now_ns, &self.device.busy(self.now_ns));
                self.take_sample();
                self.measures.shift_samples(&self.device.shifts());
                self.measures.shift_tag_samples(&self.device.tag_shifts());
            }
        }
        Ok(())
    }

    fn go_to(&mut self, at_ns: u64) {
        self.measures.pass_time(self.now_ns, at_ns, self.outstanding());
        self.now_ns = at_ns;
    }

    fn outstanding(&self) -> u64 {
        self.issued.len() as u64
    }

    fn complete(&mut self, Completion { id, at_ns }: Completion) -> Result<()> {
        let Issued { at_ns: issued_ns, op, length } = self.issued.remove(id);
        self.in_device -= 1;
        let since_ns = at_ns - self.begun_ns;
        let is_measured = self.limits.time_ns.is_none_or(|end_ns| since_ns <= end_ns);
        self.measures.record(op, length, since_ns, at_ns - issued_ns, is_measured);
        self.sample();
        if let Some((id, request)) = self.queue.pop_front() {
            self.in_device += 1;
            self.submit(&request, id)?;
        }
        if let Pacing::Closed { .. } = self.pacing
            && self.phase == Phase::Issuing
        {
            if at_ns > issued_ns || self.limits.time_ns.is_none() {
                self.issue_next()?;
            } else {
                self.paused.push_back(at_ns + PAUSE_NS);
            }
            self.end_if_exhausted();
        }
        if self.phase == Phase::Serving && self.outstanding() == 0 && self.counting.is_none() {
            // The measured interval ends now. Later work of the device on its own is not measured.
            self.measures.end_of_issue(self.elapsed_ns(), self.limits.time_ns);
        }
        Ok(())
    }

    /// Samples the counters if a sample is due, and ends the warm-up if it is over.
    fn sample(&mut self) {
        if self.measures.wants_sample(self.written_bytes) {
            self.take_sample();
        }
        if self.measures.is_warming_up() && self.is_warm() {
            self.measures.end_of_warmup(self.elapsed_ns());
        }
    }

    fn take_sample(&mut self) {
        if self.device.counters().is_none() {
            return;
        }
        self.device.mark();
        self.marks += 1;
        let (now, now_ns) = (Sampled::of(&*self.device), self.elapsed_ns());
        self.measures.sample(now, self.marks, now_ns, self.written_bytes);
    }

    fn is_warm(&self) -> bool {
        let permille = self.limits.warmup_permille;
        let is_past = |done: u64, limit: Option<u64>| {
            limit.is_some_and(|limit| {
                u128::from(done) * 1000 >= u128::from(limit) * u128::from(permille)
            })
        };
        is_past(self.elapsed_ns(), self.limits.time_ns)
            || is_past(self.written_bytes, self.limits.written_bytes)
            || is_past(self.issued_requests, self.limits.requests)
    }

    fn issue_next(&mut self) -> Result<()> {
        if !self.may_issue() {
            return Ok(());
        }
        let Some((_, request)) = self.draw() else {
            self.phase = Phase::Serving;
            return Ok(());
        };
        self.issue(request)
    }

    /// Next request of the workload, with its time.
    /// Requests are drawn before they are issued, to prefetch their data: first the map entries,
    /// then the block records to which these entries refer.
    #[inline(always)]
    fn draw(&mut self) -> Option<(u64, IoRequest)> {
        while self.drawn.len() < DRAWN && !self.is_drained {
            let next = match &mut self.hinted {
                None => self.workload.next_request(),
                Some(hinted) => hinted.next_request(&mut *self.workload),
            };
            let Some(request) = next else {
                self.is_drained = true;
                break;
            };
            let at_ns = request.at_ns;
            let request = self.in_bytes(&request);
            self.device.prefetch(&request, false);
            self.drawn.push_back((at_ns, request));
        }
        if let Some((_, near)) = self.drawn.get(DRAWN / 2) {
            self.device.prefetch(near, true);
        }
        self.drawn.pop_front()
    }

    fn fetch_arrival(&mut self) {
        if !self.may_issue() {
            return;
        }
        let Some((drawn_ns, request)) = self.draw() else {
            self.phase = Phase::Serving;
            return;
        };
        let since_ns = (drawn_ns as f64 * self.time_scale).round() as u64;
        // Requests of a trace may be out of time order. A request whose time has passed is issued
        // at `now_ns`.
        let at_ns = self.begun_ns.saturating_add(since_ns).max(self.now_ns);
        if self.limits.time_ns.is_some_and(|end_ns| at_ns - self.begun_ns >= end_ns) {
            self.phase = Phase::Serving;
            return;
        }
        self.next_arrival = Some((at_ns, request));
    }

    fn may_issue(&self) -> bool {
        let reached = |done: u64, limit: Option<u64>| limit.is_some_and(|limit| done >= limit);
        self.phase == Phase::Issuing
            && !reached(self.elapsed_ns(), self.limits.time_ns)
            && !reached(self.written_bytes, self.limits.written_bytes)
            && !reached(self.issued_requests, self.limits.requests)
    }

    fn end_if_exhausted(&mut self) {
        if self.next_arrival.is_none() && self.phase == Phase::Issuing && !self.may_issue() {
            self.phase = Phase::Serving;
        }
    }

    fn in_bytes(&self, request: &Request) -> IoRequest {
        let page_bytes = u64::from(self.page_bytes);
        IoRequest {
            op: request.op,
            offset: u64::from(request.first_page) * page_bytes + u64::from(request.head_bytes),
            length: request.bytes(self.page_bytes),
            fua: request.fua,
            tag: request.tag,
        }
    }

    fn issue(&mut self, request: IoRequest) -> Result<()> {
        let IoRequest { op, length, .. } = request;
        self.issued_requests += 1;
        self.written_bytes += if op == Op::Write { length } else { 0 };
        let id = self.issued.insert(Issued { at_ns: self.now_ns, op, length });
        if self.in_device < self.device.depth() {
            self.in_device += 1;
            self.submit(&request, id)
        } else {
            self.queue.push_back((id, request));
            Ok(())
        }
    }

    /// Submits a request to the device, in the order in which requests were drawn.
    fn submit(&mut self, request: &IoRequest, id: u32) -> Result<()> {
        if let Some(hinted) = &mut self.hinted
            && request.op == Op::Write
        {
            let hints = hinted.take();
            return self.device.submit_hinted(self.now_ns, request, id, &hints.hints());
        }
        self.device.submit(self.now_ns, request, id)
    }

    /// Virtual time since the load began.
    fn elapsed_ns(&self) -> u64 {
        self.now_ns - self.begun_ns
    }

    /// Virtual time since the device was new.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Bytes written by the host with this load.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Requests issued by the host with this load.
    pub fn issued_requests(&self) -> u64 {
        self.issued_requests
    }

    /// Measures of the present load so far.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Flash counters since the device was new, without its initial fill. None without flash.
    pub fn counters(&self) -> Option<Counters> {
        self.device.counters()
    }

    /// Device that the host uses.
    pub fn device(&self) -> &dyn BlockDevice {
        &*self.device
    }

    /// Busy time of the device's parts up to now.
    pub fn busy(&self) -> Vec<Busy> {
        self.device.busy(self.now_ns)
    }

    /// Moves the edges of Ready/Busy pins since the last call to the end of `edges`.
    pub fn take_edges(&mut self, edges: &mut Vec<Edge>) {
        self.device.take_edges(edges);
    }
}

/// Measures of a load that is about to begin. Without a warm-up they start at once.
fn measures_of(
    device: &dyn BlockDevice,
    ended: u32,
    page_bytes: u32,
    limits: Limits,
) -> Result<Measures> {
    let mut measures = Measures::new(Sampled::of(device), ended, page_bytes)?;
    if limits.warmup_permille == 0 {
        measures.end_of_warmup(0);
    }
    Ok(measures)
}
