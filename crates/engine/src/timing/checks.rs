//! Checks of a profile's times, and the sentence that refuses a value.

use super::domains;
use super::params::{Array, MapCache, Timing};
use crate::error::{Error, Result};
use crate::flash::{EraseUnit, Geometry};

/// The most dies that events are told apart of: see the schedule.
const MOST_DIES: u64 = 500_000;

impl Timing {
    /// An error that names the first value that cannot be, on a drive of that shape.
    pub fn check(&self, geometry: &Geometry) -> Result<()> {
        domains::check(self)?;
        self.check_kinds()?;
        let wrong = |what: String| Err(Error::Spec(what));
        if self.dies(geometry) > MOST_DIES {
            let dies = self.dies(geometry);
            return wrong(format!(
                "a drive with times has at most {MOST_DIES} dies; this one has {dies}"
            ));
        }
        let (page_bytes, shape) = (geometry.page_bytes(), geometry.shape());
        let flash_page_bytes = self.flash_page_bytes(geometry);
        if !flash_page_bytes.is_multiple_of(page_bytes) {
            return wrong(format!(
                "program.flash_page_bytes is {flash_page_bytes}; it must be a multiple of the mapping \
                 unit's {page_bytes} bytes"
            ));
        }
        let planes = self.program.planes;
        if planes != 1 && planes != shape.planes_per_die {
            return wrong(format!(
                "program.planes is {planes}; it must be 1, or planes_per_die, {}",
                shape.planes_per_die
            ));
        }
        if planes > 1 && shape.erase_unit == EraseUnit::Block {
            return wrong(
                "programs of several planes need erase_unit \"multi-plane\" or \
                 \"superblock\""
                    .into(),
            );
        }
        if self.scheduling.suspend && !self.scheduling.reads_first {
            return wrong(
                "scheduling.suspend is true; a read that suspends goes first, so \
                 scheduling.reads_first must be true"
                    .into(),
            );
        }
        let bounded = self.scheduling.most_wait_us > 0.0;
        if (self.scheduling.copies_yield || bounded) && !self.scheduling.reads_first {
            let key = if bounded { "most_wait_us" } else { "copies_yield" };
            return wrong(format!(
                "scheduling.{key} is for a drive whose reads go first, so scheduling.reads_first \
                 must be true"
            ));
        }
        self.check_plane_reads(geometry)?;
        let is_paceable = self.collection.background && self.scheduling.copies_yield;
        if self.collection.paced && !is_paceable {
            return wrong(
                "collection.paced is for a drive that collects in the background and whose copies \
                 yield, so collection.background and scheduling.copies_yield must be true"
                    .into(),
            );
        }
        let units = u64::from(self.units_per_flash_page(geometry))
            * u64::from(planes)
            * u64::from(self.program.pages_per_word_line);
        // Of one plane: with several, each has its part of the program in a block of its own.
        let plane_units = units / u64::from(planes);
        if units > 4096 {
            return wrong(format!(
                "a program writes {units} mapping units (program.flash_page_bytes, planes and \
                 pages_per_word_line); it must write at most 4096"
            ));
        }
        if !u64::from(shape.pages_per_block).is_multiple_of(plane_units) {
            return wrong(format!(
                "pages_per_block is {}; it must be a multiple of the {plane_units} mapping units \
                 that a program writes to a plane (program.flash_page_bytes and \
                 pages_per_word_line)",
                shape.pages_per_block
            ));
        }
        let MapCache { bytes, entry_bytes, .. } = self.map_cache;
        let segment_bytes = self.map_cache.segment_bytes_of(page_bytes);
        if bytes > 0 && bytes < u64::from(segment_bytes) {
            return wrong(format!(
                "map_cache.bytes is {bytes}; it must be 0, or hold a segment of {segment_bytes} \
                 bytes (map_cache.segment_bytes, at most a mapping unit)"
            ));
        }
        if bytes > 0 && entry_bytes > segment_bytes {
            return wrong(format!(
                "map_cache.entry_bytes is {entry_bytes}; it must be at most the {segment_bytes} \
                 bytes of a segment (map_cache.segment_bytes, at most a mapping unit)"
            ));
        }
        self.slc.check(self, geometry)?;
        self.errors.check()?;
        let cache_bytes = self.write_cache.bytes;
        if cache_bytes > 0 && cache_bytes < 2 * u64::from(page_bytes) {
            return wrong(format!(
                "write_cache.bytes is {cache_bytes}; it must be 0, or hold two mapping units of \
                 {page_bytes} bytes"
            ));
        }
        Ok(())
    }

    /// An error where planes cannot read beside each other, of a profile that has them do so.
    fn check_plane_reads(&self, geometry: &Geometry) -> Result<()> {
        let Some(planes) = self.reading_planes(geometry) else { return Ok(()) };
        let needed = if !self.scheduling.reads_first {
            "whose reads go first, so scheduling.reads_first must be true"
        } else if !self.bus.die_interleaving {
            "whose dies are interleaved, so bus.die_interleaving must be true"
        } else if self.scheduling.most_wait_us > 0.0 {
            "without a bound to what programs wait, so scheduling.most_wait_us must be 0"
        } else if self.collection.paced {
            "whose collection is not paced, so collection.paced must be false"
        } else if self.dies(geometry) * (1 + u64::from(planes)) > MOST_DIES {
            "of fewer planes: with its dies they are 500000 at most"
        } else {
            return Ok(());
        };
        Err(Error::Spec(format!(
            "scheduling.plane_reads is \"independent\"; that is for a drive {needed}"
        )))
    }

    /// An error where values by kind of page are none, or of more kinds than a block has.
    fn check_kinds(&self) -> Result<()> {
        let Array { read_us, program_us, read_spread, program_spread, .. } = &self.timing;
        let lists = [
            ("timing.read_us", read_us),
            ("timing.program_us", program_us),
            ("timing.read_spread", read_spread),
            ("timing.program_spread", program_spread),
        ];
        let wrong = lists.iter().find(|(_, kinds)| !(1..=8).contains(&kinds.values().len()));
        wrong
            .map_or(Ok(()), |(name, _)| Err(Error::Spec(format!("{name} must have 1 to 8 values"))))
    }
}
