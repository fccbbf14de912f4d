//! Arm of a disk: reads, writes, and read-ahead while no request waits.

use std::ops::Range;

use super::mechanics::Mechanics;

/// Pass of the heads: a read that continues beyond the request, or read-ahead.
/// It ends at sector `end`, or when other work begins.
#[derive(Debug, Clone)]
struct Pass {
    /// First sector that is in memory.
    kept_from: u64,
    /// Sector that begins to pass the heads at the time in the next field.
    /// Sectors from `kept_from` up to before this sector have passed.
    from: u64,
    from_ns: u64,
    end: u64,
}

/// Plan of a read: how it obtains its data.
#[derive(Debug, Clone, Copy)]
enum Plan {
    /// The current pass has already read all of the data into memory.
    InMemory,
    /// The current pass will reach the data sooner than a seek would.
    Underway,
    /// The pass ended before or within the data, and is resumed.
    Resumed { from_ns: u64 },
    /// The arm seeks to the data.
    Anew { from_ns: u64 },
}

/// Arm of a disk, which serves one request at a time.
#[derive(Debug)]
pub struct Head {
    mechanics: Mechanics,
    sectors: u64,
    ahead_sectors: u64,
    /// Largest number of sectors behind the host's last read that a pass keeps in memory.
    behind_sectors: u64,
    /// Last sector that passed the heads, if there is no current pass.
    at: u64,
    pass: Option<Pass>,
    /// Start of the current busy period. The next field is the total busy time before it.
    busy: Range<u64>,
    busy_before_ns: u64,
}

impl Head {
    pub fn new(
        mechanics: Mechanics,
        sectors: u64,
        ahead_sectors: u64,
        behind_sectors: u64,
    ) -> Self {
        Head {
            mechanics,
            sectors,
            ahead_sectors,
            behind_sectors,
            at: 0,
            pass: None,
            busy: 0..0,
            busy_before_ns: 0,
        }
    }

    /// Earliest time at which the sectors of a read that are not in memory begin to pass the
    /// heads.
    pub fn read_ready_ns(&self, now_ns: u64, sectors: &Range<u64>) -> u64 {
        self.plan_read(now_ns, sectors).1
    }

    /// Earliest time at which a write begins to pass the heads.
    pub fn write_ready_ns(&self, now_ns: u64, sectors: &Range<u64>) -> u64 {
        self.mechanics.arrival_ns(now_ns, self.position(now_ns), sectors.start)
    }

    /// Starts a read, whose pass later continues beyond `sectors` as read-ahead.
    /// Returns the time at which `sectors` are in memory. If an earlier pass ends, also returns the
    /// sectors that this pass leaves in memory.
    pub fn read(&mut self, now_ns: u64, sectors: &Range<u64>) -> (u64, Option<Range<u64>>) {
        let (plan, _) = self.plan_read(now_ns, sectors);
        let mut left = None;
        match plan {
            Plan::InMemory | Plan::Underway => {}
            Plan::Resumed { from_ns } => self.resume(from_ns),
            Plan::Anew { from_ns } => {
                left = self.end_pass(now_ns);
                let (from, end) = (sectors.start, sectors.end);
                self.pass = Some(Pass { kept_from: from, from, from_ns, end });
            }
        }
        let pass = self.pass.as_ref().expect("every plan of a read continues or starts a pass");
        let done_ns = match plan {
            Plan::InMemory => now_ns,
            _ => self.mechanics.end_ns(pass.from..sectors.end, pass.from_ns),
        };
        self.make_room(now_ns, sectors.end);
        self.work(now_ns, done_ns);
        (done_ns, left)
    }

    /// Starts a write, which ends the current pass, if any.
    /// Returns the time at which `sectors` are written, and the sectors that the pass leaves in
    /// memory.
    pub fn write(&mut self, now_ns: u64, sectors: &Range<u64>) -> (u64, Option<Range<u64>>) {
        let ready_ns = self.write_ready_ns(now_ns, sectors);
        let left = self.end_pass(now_ns);
        let done_ns = self.mechanics.end_ns(sectors.clone(), ready_ns);
        self.at = sectors.end - 1;
        self.work(now_ns, done_ns);
        (done_ns, left)
    }

    /// Starts read-ahead up to the end of the pass. Call it when a read ends, at `now_ns`.
    pub fn read_ahead(&mut self, now_ns: u64) {
        if let Some(pass) = &self.pass {
            let end_ns = self.mechanics.end_ns(pass.from..pass.end, pass.from_ns);
            self.work(now_ns, end_ns);
        }
    }

    /// True if the pass has read all of `sectors`.
    pub fn has_read(&self, now_ns: u64, sectors: &Range<u64>) -> bool {
        self.pass.as_ref().is_some_and(|pass| {
            pass.kept_from <= sectors.start && sectors.end <= self.reached(pass, now_ns)
        })
    }

    /// Extends read-ahead after the host has read `sectors`, which frees memory.
    pub fn read_further(&mut self, now_ns: u64, sectors: &Range<u64>) {
        let Some(pass) = &self.pass else { return };
        if self.ahead_of(sectors.end) <= pass.end {
            return;
        }
        if self.reached(pass, now_ns) == pass.end {
            let (position, end) = (self.position(now_ns), pass.end);
            self.resume(self.mechanics.arrival_ns(now_ns, position, end));
        }
        self.make_room(now_ns, sectors.end);
        self.read_ahead(now_ns);
    }

    /// Time in ns for which the arm was busy, up to `now_ns`.
    pub fn busy_ns(&self, now_ns: u64) -> u64 {
        self.busy_before_ns + self.busy.end.min(now_ns).saturating_sub(self.busy.start)
    }

    /// Plans a read.
    /// Also returns the time at which the sectors that are not in memory begin to pass the heads.
    fn plan_read(&self, now_ns: u64, sectors: &Range<u64>) -> (Plan, u64) {
        let position = self.position(now_ns);
        let anew_ns = self.mechanics.arrival_ns(now_ns, position, sectors.start);
        if let Some(pass) = &self.pass
            && (pass.kept_from..=pass.end).contains(&sectors.start)
        {
            let reached = self.reached(pass, now_ns);
            if sectors.end <= reached {
                return (Plan::InMemory, now_ns);
            }
            if reached == pass.end {
                let from_ns = self.mechanics.arrival_ns(now_ns, position, pass.end);
                return (Plan::Resumed { from_ns }, from_ns);
            }
            let first = sectors.start.max(pass.from);
            let first_ns = self.mechanics.begin_ns(pass.from, pass.from_ns, first);
            if first_ns <= anew_ns {
                return (Plan::Underway, first_ns.max(now_ns));
            }
        }
        (Plan::Anew { from_ns: anew_ns }, anew_ns)
    }

    /// Resumes a pass that had reached its end.
    fn resume(&mut self, from_ns: u64) {
        let pass =
            self.pass.as_mut().expect("the plan continues a pass of the heads, so there is one");
        (pass.from, pass.from_ns) = (pass.end, from_ns);
    }

    /// Extends the pass ahead of `sector`, and discards sectors far behind it.
    fn make_room(&mut self, now_ns: u64, sector: u64) {
        let end = self.ahead_of(sector);
        let mut pass =
            self.pass.take().expect("the plan continues a pass of the heads, so there is one");
        let reached = self.reached(&pass, now_ns);
        pass.from_ns = self.mechanics.begin_ns(pass.from, pass.from_ns, reached);
        pass.from = reached;
        pass.kept_from = pass.kept_from.max(sector.saturating_sub(self.behind_sectors));
        pass.end = pass.end.max(end);
        self.pass = Some(pass);
    }

    /// Ends the current pass. Returns the sectors that it leaves in memory.
    fn end_pass(&mut self, now_ns: u64) -> Option<Range<u64>> {
        self.at = self.position(now_ns);
        let pass = self.pass.take()?;
        let reached = self.reached(&pass, now_ns);
        Some(pass.kept_from..reached.max(pass.kept_from))
    }

    /// Sector under the arm.
    fn position(&self, now_ns: u64) -> u64 {
        let of_pass = |pass: &Pass| self.reached(pass, now_ns).min(pass.end - 1);
        self.pass.as_ref().map_or(self.at, of_pass)
    }

    fn reached(&self, pass: &Pass, now_ns: u64) -> u64 {
        self.mechanics.reached(pass.from..pass.end, pass.from_ns, now_ns)
    }

    fn ahead_of(&self, sector: u64) -> u64 {
        (sector + self.ahead_sectors).min(self.sectors)
    }

    /// Records that the head is busy from now until `end_ns`.
    fn work(&mut self, now_ns: u64, end_ns: u64) {
        self.busy_before_ns = self.busy_ns(now_ns);
        self.busy = now_ns..end_ns.max(now_ns);
    }
}
