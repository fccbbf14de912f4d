//! Addresses of a copy's requests.

use super::Copy;
use crate::job::{Direction, Mode, Strides};
use crate::places::Distribution;

impl Copy {
    /// Place relative to the region or zone, whether it is random, and whether the map gets it.
    pub(super) fn place(&mut self, direction: Direction) -> Option<(u64, bool, bool)> {
        let is_trim_written = self.job.mode == Mode::TrimWrite && self.job.is_random;
        let mut is_new = false;
        if self.job.run > 0 {
            self.left_in_run -= 1;
            if self.left_in_run == 0 {
                (is_new, self.left_in_run) = (true, self.job.run);
            }
        }
        if is_trim_written && direction == Direction::Write {
            let trimmed = self.last_start[Direction::Trim as usize]?;
            return Some((trimmed - self.start, true, false));
        }
        if is_new && self.job.is_random {
            if self.is_random_now(direction) {
                return Some((self.random_place(direction)?, true, true));
            }
            return match self.next_in_order(direction) {
                Some(place) => Some((place, false, false)),
                None => Some((self.random_place(direction)?, false, false)),
            };
        }
        if is_new {
            return Some((self.next_in_order(direction)?, false, false));
        }
        if self.job.is_identical {
            let last = self.last_start[direction as usize];
            return Some((last.map_or(0, |last| last - self.start), false, false));
        }
        match self.next_in_order(direction) {
            Some(place) => Some((place, false, false)),
            None => Some((self.random_place(direction)?, false, false)),
        }
    }

    fn is_random_now(&mut self, direction: Direction) -> bool {
        let percent = self.job.random_percent[direction as usize];
        percent == 100 || self.order[direction as usize].between(1, 100) <= percent
    }

    fn next_in_order(&mut self, direction: Direction) -> Option<u64> {
        let job = &self.job;
        let end = &mut self.last_end[direction as usize];
        let is_past = *end >= job.size + job.offset;
        if is_past && job.is_timed {
            *end = self.start;
        }
        if *end >= job.end {
            return None;
        }
        if *end == self.start && self.start > 0 && job.skip < 0 {
            *end = job.end.min(job.size);
        }
        let mut place = *end - self.start;
        if place > 0 && job.skip != 0 {
            place = place.wrapping_add_signed(job.skip);
            if place >= job.end {
                place = if job.skip > 0 {
                    self.start
                } else {
                    job.end.min(job.size).wrapping_add_signed(job.skip)
                };
            }
        }
        Some(place)
    }

    fn random_place(&mut self, direction: Direction) -> Option<u64> {
        let block = self.random_block(direction).or_else(|| {
            if !self.job.is_timed {
                return None;
            }
            self.reset_file();
            self.random_block(direction)
        })?;
        Some(block * self.job.align[direction as usize])
    }

    fn random_block(&mut self, direction: Direction) -> Option<u64> {
        if let Some(drawn) = &mut self.drawn {
            return Some(drawn.draw());
        }
        if let (Some(regions), Some(lfsr)) = (&mut self.regions, &mut self.lfsr) {
            let block = regions.draw(lfsr);
            // fio ends the job here, although bytes may be left.
            self.is_done = block.is_none();
            return block;
        }
        let blocks = self.block_count(direction);
        if blocks == 0 {
            return None;
        }
        let Some(zones) = &self.zones else { return self.uniform_block(blocks) };
        let (start, end) = zones.draw(&mut self.zone);
        if let Distribution::Zoned(_) = self.job.distribution {
            let first = start * blocks / 100;
            return Some(first + self.uniform_block(blocks * (end - start) / 100)?);
        }
        let align = self.job.align[direction as usize];
        let (first, last) = (start / align, end / align);
        if last > blocks {
            return None;
        }
        Some(first + self.uniform_block(last - first)?)
    }

    fn uniform_block(&mut self, blocks: u64) -> Option<u64> {
        let block = if let Some(lfsr) = &mut self.lfsr {
            lfsr.draw()?
        } else {
            let share = self.blocks.draw() as f64 / self.blocks.limit();
            (blocks as f64 * share) as u64
        };
        match &self.map {
            Some(map) if map.has(block) => map.next_free(block),
            _ => Some(block),
        }
    }

    fn block_count(&self, direction: Direction) -> u64 {
        let at = direction as usize;
        let mut bytes = self.job.strides.map_or(self.job.size.min(self.job.end), |zone| zone.range);
        bytes -= self.job.least[at].saturating_sub(self.job.align[at]).min(bytes);
        bytes / self.job.align[at]
    }

    /// Place on the device, if it is inside the region.
    pub(super) fn checked(&mut self, direction: Direction, place: u64) -> Option<u64> {
        let offset = place.checked_add(self.start)?;
        if place >= self.job.size || offset >= self.job.end {
            return None;
        }
        let is_pair = self.job.mode == Mode::TrimWrite && self.job.is_random;
        let last = self.last_start[Direction::Trim as usize];
        if is_pair && direction == Direction::Trim && last == Some(offset) {
            // fio changes the last write, or the same place twice would end the pairs.
            let write = &mut self.last_start[Direction::Write as usize];
            *write = write.map(|write| write.wrapping_sub(1));
        }
        Some(offset)
    }

    pub(super) fn move_zone(&mut self, strides: Strides, direction: Direction) {
        let at = direction as usize;
        if self.zone_bytes >= strides.size {
            self.zone_bytes = 0;
            self.start += strides.range + strides.skip;
            if self.start >= self.job.end {
                self.start = self.job.offset;
            }
            self.last_end[at] = self.start;
        }
        if self.last_end[at] >= self.start + strides.range {
            self.last_end[at] = self.start;
        }
        if self.zone_bytes.is_multiple_of(strides.range) {
            self.reset_file();
        }
    }
}
