//! Read retries for bit errors, which depend on the wear and age of blocks.
//!
//! A read occupies its die until a try is corrected: each retry repeats command, array and
//! data after the previous decoding (Park et al., ASPLOS 2021, section 3.1). The number of retries
//! is decided when the read is submitted. It uses a random number that depends only on how many
//! reads there were before, so that bit errors do not change the other random draws.

use super::draws::standard;
use super::ops::{Op, OpId};
use super::{Nand, Schedule};
use crate::error::Result;
use crate::flash::{Array, Table, filled};
use crate::rng::Numbered;
use crate::state::{MOST_PLAUSIBLE, state};
use crate::timing::errors::{Correction, Errors, Rates, ReadErrors, ReadFor};
use crate::timing::params::{Timing, ns_of_us};

const NS_OF_A_DAY: f64 = 86_400e9;
/// Value of `programmed_ns` for blocks that were programmed before the timed run.
const BEFORE: u64 = u64::MAX;
/// Largest deviation of a page's error rate (its logarithm) from the mean, in standard
/// deviations; see [`standard`].
const MOST_DEVIATIONS: f64 = 3.47;

/// Bit errors of a drive's reads.
#[derive(Debug)]
pub struct Retrying {
    rates: Rates,
    correction: Correction,
    page_spread: f64,
    decode_ns: u64,
    aged_days: f64,
    /// Erases of each block, including erases before the timed run and `errors.worn_erases`.
    /// The next field is the largest of these counts.
    erases: Table<u32>,
    most_erases: u32,
    /// Time in ns of the first program of each block since its erase.
    programmed_ns: Table<u64>,
    /// Random number of each read, which decides its retries.
    /// The next field has the random number of each flash page, which decides its error rate.
    of_reads: Numbered,
    of_pages: Numbered,
    /// Number of reads submitted so far.
    reads: u64,
    read_errors: ReadErrors,
    /// Erase count up to which no read of data that is less than a day old can need a retry, or
    /// None.
    quiet_erases: Option<u32>,
}

state!(Retrying {
    fixed rates,
    fixed correction,
    fixed page_spread,
    fixed decode_ns,
    fixed aged_days,
    table erases,
    value most_erases,
    table programmed_ns,
    fixed of_reads,
    fixed of_pages,
    value reads,
    value read_errors,
    fixed quiet_erases,
} where is_sound);

impl Retrying {
    fn new(errors: &Errors, flash: &Array, most_bytes: u32, seed: u64) -> Result<Self> {
        let blocks = flash.geometry().blocks() as usize;
        let mut erases = filled(errors.worn_erases, blocks)?;
        for (own, &erased) in erases.iter_mut().zip(flash.erase_counts()) {
            *own = own.saturating_add(erased);
        }
        let mut retrying = Retrying {
            rates: Rates::new(errors),
            correction: Correction::new(errors),
            page_spread: errors.page_spread,
            decode_ns: ns_of_us(errors.decode_us),
            aged_days: errors.aged_days,
            most_erases: erases.iter().copied().max().unwrap_or(0),
            erases,
            programmed_ns: filled(BEFORE, blocks)?,
            of_reads: Numbered::new(seed, "read errors"),
            of_pages: Numbered::new(seed, "pages that err"),
            reads: 0,
            read_errors: ReadErrors::default(),
            quiet_erases: None,
        };
        let last = errors.erases[errors.erases.len() - 1];
        retrying.quiet_erases = retrying.quiet_erases(last, most_bytes);
        Ok(retrying)
    }

    fn is_sound(&self) -> bool {
        let ReadErrors { retries, uncorrectable } = &self.read_errors;
        let mut counts = retries.iter().chain(uncorrectable).chain([&self.reads]);
        self.erases.iter().max() == Some(&self.most_erases)
            && counts.all(|&count| count < MOST_PLAUSIBLE)
    }

    /// True if no block was programmed after `now_ns`.
    pub fn was_programmed_by(&self, now_ns: u64) -> bool {
        self.programmed_ns.iter().all(|&at_ns| at_ns == BEFORE || at_ns <= now_ns)
    }

    /// Erase count up to which no first try of a read of `most_bytes` bytes can fail, if the data
    /// is less than a day old. The failure probability must round to 0 in 53 bits, even for the
    /// page with the most errors.
    fn quiet_erases(&self, last: u32, most_bytes: u32) -> Option<u32> {
        let codewords = self.correction.codewords(most_bytes);
        let worst = self.page_spread * MOST_DEVIATIONS;
        let is_quiet = |erases: u32| {
            let log_rate = self.rates.log_rate(erases, self.aged_days + 1.0);
            self.correction.failure(libm::exp(log_rate + worst), codewords) == 0.0
        };
        if !is_quiet(0) {
            return None;
        }
        if is_quiet(last) {
            return Some(u32::MAX);
        }
        let (mut quiet, mut loud) = (0, last);
        while loud - quiet > 1 {
            let middle = u32::midpoint(quiet, loud);
            if is_quiet(middle) { quiet = middle } else { loud = middle }
        }
        Some(quiet)
    }

    /// Days since the data of a block was programmed.
    fn age_days(&self, block: u32, now_ns: u64) -> f64 {
        match self.programmed_ns[block as usize] {
            BEFORE => self.aged_days + now_ns as f64 / NS_OF_A_DAY,
            at_ns => (now_ns - at_ns) as f64 / NS_OF_A_DAY,
        }
    }
}

impl Nand {
    /// Enables the bit errors of a profile, if it has any.
    /// The drive's present state determines the wear and age of its blocks.
    pub fn expect_errors(&mut self, timing: &Timing, flash: &Array, seed: u64) -> Result<()> {
        if timing.errors.are_there() {
            let geometry = flash.geometry();
            let most_bytes =
                timing.flash_page_bytes(geometry).saturating_mul(timing.program.planes);
            let retrying = Retrying::new(&timing.errors, flash, most_bytes, seed)?;
            self.retrying = Some(Box::new(retrying));
        }
        Ok(())
    }

    /// Read retries so far, or None without bit errors.
    pub fn read_errors(&self) -> Option<ReadErrors> {
        self.retrying.as_ref().map(|retrying| retrying.read_errors)
    }

    /// Records the time at which a block is programmed for the first time after an erase.
    pub fn note_first_program(&mut self, block: u32, now_ns: u64) {
        if let Some(retrying) = &mut self.retrying {
            retrying.programmed_ns[block as usize] = now_ns;
        }
    }

    /// Counts an erase of a block.
    pub fn note_erased(&mut self, block: u32) {
        if let Some(retrying) = &mut self.retrying {
            let erases = &mut retrying.erases[block as usize];
            *erases = erases.saturating_add(1);
            retrying.most_erases = retrying.most_erases.max(*erases);
        }
    }

    /// Decides the number of retries of a submitted read.
    // This function is not inlined, because its code would slow down drives without bit errors.
    #[inline(never)]
    pub(super) fn decide_retries(&mut self, op: OpId, now_ns: u64) {
        let first_slc_page = self.first_slc_page;
        let Some(retrying) = &mut self.retrying else { return };
        // Flash with one bit per cell has orders of magnitude fewer errors, so its reads need no
        // retries.
        if self.ops.get(op).first_page >= first_slc_page {
            return;
        }
        retrying.reads += 1;
        let is_quiet = retrying.quiet_erases.is_some_and(|most| retrying.most_erases <= most);
        if !is_quiet || now_ns as f64 > NS_OF_A_DAY {
            self.draw_retries(op, now_ns);
        }
    }

    #[cold]
    fn draw_retries(&mut self, op: OpId, now_ns: u64) {
        let Some(retrying) = &mut self.retrying else { return };
        let Op { first_page, bytes, is_of_copy, is_of_table, .. } = *self.ops.get(op);
        let (block, _) = self.places.block_of(first_page);
        let days = retrying.age_days(block, now_ns);
        let log_rate = retrying.rates.log_rate(retrying.erases[block as usize], days);
        let page = u64::from(self.places.read_of(first_page));
        let of_page = retrying.page_spread * standard(retrying.of_pages.bits(page));
        let rate = libm::exp(log_rate + of_page);
        let uniform = retrying.of_reads.unit(retrying.reads);
        let codewords = retrying.correction.codewords(bytes);
        let (retries, is_corrected) = retrying.correction.retries(rate, codewords, uniform);
        let purpose = match (is_of_copy, is_of_table) {
            (true, _) => ReadFor::Copies,
            (false, true) => ReadFor::Mapping,
            (false, false) => ReadFor::Host,
        };
        retrying.read_errors.retries[purpose as usize] += u64::from(retries);
        retrying.read_errors.uncorrectable[purpose as usize] += u64::from(!is_corrected);
        self.counts.reads += u64::from(retries);
        self.ops.get_mut(op).retries = retries as u8;
    }

    /// Handles a try that was not corrected.
    /// The die or plane waits for the decoder and then reads again.
    #[cold]
    pub(super) fn fail(&mut self, at: u32, op: OpId, events: &mut Schedule) {
        self.ops.get_mut(op).retries -= 1;
        let decode_ns = self.retrying.as_ref().map_or(0, |retrying| retrying.decode_ns);
        events.array_done(events.now_ns() + decode_ns, at);
    }
}
