//! Checks of the values of a device profile, with the error for each invalid value.

use super::domains;
use super::params::{Array, MapCache, Timing};
use crate::error::{Error, Result};
use crate::flash::{EraseUnit, Geometry};

/// Most dies that the event schedule can number.
const MOST_DIES: u64 = 500_000;

impl Timing {
    /// Checks the profile for a drive of this geometry. The error names the first invalid value.
    pub fn check(&self, geometry: &Geometry) -> Result<()> {
        domains::check(self)?;
        self.check_kinds()?;
        let wrong = |what: String| Err(Error::Spec(what));
        if self.dies(geometry) > MOST_DIES {
            let dies = self.dies(geometry);
            return wrong(format!(
                "the timed drive has {dies} dies; at most {MOST_DIES} are supported"
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
                "program.planes is above 1, but erase_unit is \"block\"; it must be \
                 \"multi-plane\" or \"superblock\""
                    .into(),
            );
        }
        if self.scheduling.suspend && !self.scheduling.reads_first {
            return wrong(
                "scheduling.suspend is true; this requires scheduling.reads_first = true".into(),
            );
        }
        let bounded = self.scheduling.most_wait_us > 0.0;
        if (self.scheduling.copies_yield || bounded) && !self.scheduling.reads_first {
            let key = if bounded { "most_wait_us" } else { "copies_yield" };
            return wrong(format!(
                "scheduling.{key} is set; this requires scheduling.reads_first = true"
            ));
        }
        self.check_plane_reads(geometry)?;
        let is_paceable = self.collection.background && self.scheduling.copies_yield;
        if self.collection.paced && !is_paceable {
            return wrong(
                "collection.paced is true; this requires collection.background = true and \
                 scheduling.copies_yield = true"
                    .into(),
            );
        }
        let units = u64::from(self.units_per_flash_page(geometry))
            * u64::from(planes)
            * u64::from(self.program.pages_per_word_line);
        // Mapping units of a program on one plane. With several planes, each plane programs a
        // different block, so the pages of each block must be a multiple of this number.
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
                "map_cache.bytes is {bytes}; it must be 0, or at least the {segment_bytes} bytes \
                 of one segment (map_cache.segment_bytes, at most a mapping unit)"
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
                "write_cache.bytes is {cache_bytes}; it must be 0, or at least two mapping units \
                 of {page_bytes} bytes each"
            ));
        }
        Ok(())
    }

    /// Checks that planes can read independently, if the profile requires it.
    fn check_plane_reads(&self, geometry: &Geometry) -> Result<()> {
        let Some(planes) = self.reading_planes(geometry) else { return Ok(()) };
        let needed = if !self.scheduling.reads_first {
            "scheduling.reads_first = true"
        } else if !self.bus.die_interleaving {
            "bus.die_interleaving = true"
        } else if self.scheduling.most_wait_us > 0.0 {
            "scheduling.most_wait_us = 0"
        } else if self.collection.paced {
            "collection.paced = false"
        } else if self.dies(geometry) * (1 + u64::from(planes)) > MOST_DIES {
            "fewer planes: at most 500000 planes and dies"
        } else {
            return Ok(());
        };
        Err(Error::Spec(format!(
            "scheduling.plane_reads is \"independent\"; this requires {needed}"
        )))
    }

    /// Checks that lists with one value per page kind are neither empty nor too long.
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
