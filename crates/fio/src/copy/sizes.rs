//! Directions and sizes of a copy's requests.

use super::Copy;
use crate::job::{Direction, Mode};

impl Copy {
    pub(super) fn direction(&mut self) -> Direction {
        match self.job.mode {
            Mode::Read => Direction::Read,
            Mode::Write => Direction::Write,
            Mode::Trim => Direction::Trim,
            Mode::TrimWrite => {
                let is_pair = self.last_start[Direction::Write as usize]
                    == self.last_start[Direction::Trim as usize];
                if is_pair { Direction::Trim } else { Direction::Write }
            }
            Mode::Mixed => {
                if self.issued[self.mixed as usize] >= self.mixed_until {
                    let is_read = self.mix.between(1, 100) <= self.job.read_percent;
                    let next = if is_read { Direction::Read } else { Direction::Write };
                    if next != self.mixed {
                        let other = match self.mixed {
                            Direction::Read => 100 - self.job.read_percent,
                            _ => self.job.read_percent,
                        };
                        self.mixed_until = self.issued[self.mixed as usize] * other / 100;
                    }
                    self.mixed = next;
                }
                self.mixed
            }
        }
    }

    pub(super) fn size(
        &mut self,
        direction: Direction,
        offset: u64,
        is_random: bool,
    ) -> Option<u64> {
        let is_pair = self.job.mode == Mode::TrimWrite && self.job.is_random;
        if is_pair && direction == Direction::Write {
            let at = Direction::Trim as usize;
            return Some(self.last_end[at] - self.last_start[at]?);
        }
        let at = match (self.job.is_by_order, is_random) {
            (true, true) => Direction::Write,
            (true, false) => Direction::Read,
            (false, _) => direction,
        } as usize;
        let (least, most) = (self.job.least[at], self.job.most[at]);
        if least == most {
            return Some(least);
        }
        let fits = |bytes: u64| offset + bytes <= self.job.size + self.job.offset;
        if !fits(least) {
            return None;
        }
        loop {
            let number = self.sizes[at].draw();
            let limit = self.sizes[at].limit();
            let mut bytes = 0;
            if self.job.splits[at].is_empty() {
                bytes = least + (most as f64 * (number as f64 / limit)) as u64;
            } else {
                let mut percent = 0;
                for &(size, share) in self.job.splits[at].iter().filter(|(_, share)| *share > 0) {
                    bytes = size;
                    percent += share;
                    let bound = (limit as u128 - 1) as u64 / 100;
                    if number / percent <= bound && fits(bytes) {
                        break;
                    }
                }
            }
            if !self.job.is_unaligned {
                bytes -= bytes % least;
            }
            bytes = bytes.min(most);
            if fits(bytes) {
                return Some(bytes);
            }
        }
    }
}
