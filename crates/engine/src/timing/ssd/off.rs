//! Turning a drive off, and what it has when it is turned on again.
//!
//! Pages that wait in memory are written, and all that was begun ends. The flash, its wear, the
//! counts and the time stay; whatever the memory held is gone. Copies that waited for their program
//! unit to be full count as programmed.

use super::Ssd;
use crate::error::{Error, Result};
use crate::flash::Counters;
use crate::state::{Reader, State, Writer, require};
use crate::timing::device::BlockDevice;

/// Longest time that a drive may have come to, in nanoseconds: sums with it do not overflow.
const LONGEST_NS: u64 = 1 << 62;

impl Ssd {
    /// Turns the drive off at `now_ns`, or when all requests are answered.
    /// Then nothing is left to happen. It takes no pause for that in which it would collect or fold.
    pub fn turn_off(&mut self, now_ns: u64) -> Result<()> {
        let mut completed = Vec::new();
        while !self.requests.is_empty() && self.next_event_ns().is_some() {
            self.step(&mut completed)?;
            completed.clear();
        }
        self.submitted += 1;
        self.end_idle_folding();
        self.upkeep.rest();
        self.sync(now_ns.max(self.now_ns()))?;
        self.come_to_rest()?;
        self.write_table()?;
        self.come_to_rest()
    }

    /// The time of its last event, or of its last request.
    pub fn now_ns(&self) -> u64 {
        self.events.now_ns()
    }

    fn come_to_rest(&mut self) -> Result<()> {
        let mut completed = Vec::new();
        while self.next_event_ns().is_some() {
            self.step(&mut completed)?;
            completed.clear();
        }
        Ok(())
    }

    /// Writes what changed of the mapping table in memory. Entries of copies that were not in
    /// memory are found in the pages themselves, as after a loss of power.
    fn write_table(&mut self) -> Result<()> {
        if let Some(map) = &mut self.map {
            map.empty(&mut self.upkeep.evicted);
        }
        self.keep_table()?;
        self.settle()
    }
}

/// The state of a drive that is turned off; restored into a new one, that is turned on.
impl State for Ssd {
    fn save(&self, to: &mut Writer) {
        debug_assert!(self.events.next_ns().is_none(), "a drive is turned off before it is saved");
        let Self {
            drive,
            nand,
            events,
            upkeep,
            slc,
            counters,
            hinting,
            // Decided when it was built.
            timing: _,
            page_bytes: _,
            host_pages: _,
            memory_rate: _,
            // Under way or in memory: nothing of it is left.
            link: _,
            controller: _,
            memory: _,
            requests: _,
            submitted: _,
            cache: _,
            waiting: _,
            map: _,
            programs: _,
            late: _,
            heard: _,
        } = self;
        if hinting.is_some() {
            let why = "a drive in time that hears hints cannot be saved";
            to.refuse(Error::State(why.to_owned()));
        }
        drive.save(to);
        to.value(&events.now_ns());
        counters.save(to);
        upkeep.save(to);
        nand.save(to);
        slc.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.drive.restore(from)?;
        let now_ns = from.value("its time")?;
        require(now_ns < LONGEST_NS, "its time")?;
        self.events.advance(now_ns);
        self.counters.restore(from)?;
        self.upkeep.restore(from)?;
        self.nand.restore(from)?;
        require(self.nand.was_programmed_by(now_ns), "the times of its programs")?;
        self.slc.restore(from)?;
        self.count_mapped()?;
        let recorder = self.recorder().expect("a timed drive has a recorder");
        recorder.ops.clear();
        self.tell_free_blocks();
        Ok(())
    }
}

impl Ssd {
    /// Counts the pages with data for the SLC cache; none may be in it and behind it.
    fn count_mapped(&mut self) -> Result<()> {
        let Some(slc) = &mut self.slc else { return Ok(()) };
        let flash = self.drive.flash();
        let in_both = |&page: &u32| slc.holds(page) && flash.physical(page).is_some();
        require(!(0..self.host_pages).any(|page| in_both(&page)), "pages of an SLC cache")?;
        let is_mapped = |page: &u32| slc.holds(*page) || flash.physical(*page).is_some();
        let mapped_pages = (0..self.host_pages).filter(is_mapped).count() as u32;
        slc.set_mapped_pages(mapped_pages);
        Ok(())
    }
}

/// Counts of all causes: those that only a drive in time knows, too.
impl State for Counters {
    fn save(&self, to: &mut Writer) {
        to.value(self);
        to.table(&self.in_time());
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        *self = from.value("its counters")?;
        let mut in_time = self.in_time();
        from.table(&mut in_time, "its counters")?;
        self.set_in_time(in_time);
        require(self.is_plausible(), "its counters")
    }
}
