//! Power-off of a drive, and its state when it is turned on again.
//!
//! Pages waiting in memory are written, and all operations complete. The flash, its wear, the
//! counters and the time are preserved; the contents of memory are lost. Copied pages that wait for
//! a full program unit count as programmed.

use super::Ssd;
use crate::error::{Error, Result};
use crate::flash::Counters;
use crate::state::{Reader, State, Writer, require};
use crate::timing::device::BlockDevice;

/// Upper limit of the time of a restored drive, in nanoseconds.
/// Sums with smaller times do not overflow.
const LONGEST_NS: u64 = 1 << 62;

impl Ssd {
    /// Turns the drive off at `now_ns`, or when the last request is answered if that is later.
    /// No event remains afterwards. The wait does not count as idle time for collection or folding.
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

    /// Time of the last event or request (the later of both).
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

    /// Writes the changed segments of the mapping table in memory to flash.
    /// Entries of copied pages whose segments were not in memory are not written. A real drive
    /// finds these entries by reading the pages themselves, as after a power loss.
    fn write_table(&mut self) -> Result<()> {
        if let Some(map) = &mut self.map {
            map.empty(&mut self.upkeep.evicted);
        }
        self.update_table()?;
        self.settle()
    }
}

/// State of a drive that is turned off. Restoring it into a new drive turns it on.
impl State for Ssd {
    fn save(&self, to: &mut Writer) {
        debug_assert!(
            self.events.next_ns().is_none(),
            "a timed drive must be turned off before it is saved"
        );
        let Self {
            drive,
            nand,
            events,
            upkeep,
            slc,
            counters,
            hinting,
            tagging,
            // These fields are set at construction, so they are not saved.
            timing: _,
            page_bytes: _,
            host_pages: _,
            memory_rate: _,
            // These fields hold work in progress or contents of memory, and are empty while the
            // drive is off.
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
            recorded_ops: _,
        } = self;
        if hinting.is_some() {
            let why = "a timed drive whose block manager requires host hints cannot be saved; use \
            another block manager";
            to.refuse(Error::State(why.to_owned()));
        }
        if tagging.is_some() {
            let why = "a timed drive that counts by tag cannot be saved; leave out the tags";
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
        let now_ns = from.value("the time of the drive")?;
        require(now_ns < LONGEST_NS, "the time of the drive")?;
        self.events.advance(now_ns);
        self.counters.restore(from)?;
        self.upkeep.restore(from)?;
        self.nand.restore(from)?;
        require(self.nand.was_programmed_by(now_ns), "the times at which blocks were programmed")?;
        self.slc.restore(from)?;
        self.count_mapped()?;
        let recorder = self.recorder().expect("a timed drive is built with a Recorder");
        recorder.ops.clear();
        self.report_free_blocks();
        Ok(())
    }
}

impl Ssd {
    /// Counts the mapped pages for the SLC cache. A page must not be in both the cache and the
    /// flash.
    fn count_mapped(&mut self) -> Result<()> {
        let Some(slc) = &mut self.slc else { return Ok(()) };
        let flash = self.drive.flash();
        let in_both = |&page: &u32| slc.holds(page) && flash.physical(page).is_some();
        require(!(0..self.host_pages).any(|page| in_both(&page)), "the pages of the SLC cache")?;
        let is_mapped = |page: &u32| slc.holds(*page) || flash.physical(*page).is_some();
        let mapped_pages = (0..self.host_pages).filter(is_mapped).count() as u32;
        slc.set_mapped_pages(mapped_pages);
        Ok(())
    }
}

/// Counters of flash operations by all causes, including the causes that occur only with
/// timing.
impl State for Counters {
    fn save(&self, to: &mut Writer) {
        to.value(self);
        to.table(&self.in_time());
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        *self = from.value("the counters of the timed drive")?;
        let mut in_time = self.in_time();
        from.table(&mut in_time, "the counters of the timed drive")?;
        self.set_in_time(in_time);
        require(self.is_plausible(), "the counters of the timed drive")
    }
}
