//! When each page of a workload will be invalid, found by drawing its steps ahead of time.

use std::collections::VecDeque;

use crate::error::Result;
use crate::flash::filled;
use crate::hints::NEVER;
use crate::workloads::{Step, Workload};

/// "Not drawn yet": no page lies at this place, as places count from 1.
const NOWHERE: u64 = 0;
const UNKNOWN: u32 = u32::MAX;
const BATCH_PAGES: usize = 1024;

/// A page that the host will write or trim.
#[derive(Debug, Clone, Copy)]
struct Coming {
    page: u32,
    is_write: bool,
    /// Writes before this one, modulo 2³².
    writes_before: u32,
    /// Writes from this one to the next write or TRIM of the page, or [`UNKNOWN`].
    life: u32,
}

/// The steps of a workload, drawn so far ahead that every invalidation time within the horizon is known.
pub struct Foresight {
    coming: VecDeque<Coming>,
    /// Places of `coming` are numbered from 1 on; this is the first one's.
    first_place: u64,
    /// The place of the write that holds each page's current version, as far as drawn.
    holder: Vec<u64>,
    drawn_writes: u64,
    issued_writes: u64,
    horizon_writes: u64,
    buffer: Vec<u32>,
    ended: bool,
}

impl Foresight {
    /// Foresees `workload`, from which nothing has been drawn.
    pub fn new(workload: &dyn Workload) -> Result<Self> {
        let horizon_writes = workload.horizon_writes().min(u64::from(u32::MAX) - 1);
        Ok(Foresight {
            coming: VecDeque::new(),
            first_place: NOWHERE + 1,
            holder: filled(NOWHERE, workload.pages() as usize)?,
            drawn_writes: 0,
            issued_writes: 0,
            horizon_writes,
            buffer: vec![0; BATCH_PAGES],
            ended: false,
        })
    }

    /// As [`Workload::next`]; `invalidation_times` gets the clock at which each page written will be invalid, by
    /// a clock that stands at `now`.
    pub fn next(
        &mut self,
        workload: &mut dyn Workload,
        pages: &mut [u32],
        invalidation_times: &mut [u64],
        now: u64,
    ) -> Step {
        while !self.ended
            && self.drawn_writes - self.issued_writes <= self.horizon_writes + pages.len() as u64
        {
            self.draw(workload);
        }
        let Some(&Coming { is_write, .. }) = self.coming.front() else { return Step::End };
        let alike = self.coming.iter().take(pages.len()).take_while(|c| c.is_write == is_write);
        let count = alike.count();
        for ((at, page), invalidation_time) in
            pages.iter_mut().enumerate().zip(invalidation_times).take(count)
        {
            let coming = self.coming.pop_front().expect("counted above");
            *page = coming.page;
            // What is drawn beyond the horizon depends on the batches, so it must not be told.
            let foreseen = u64::from(coming.life) <= self.horizon_writes;
            *invalidation_time =
                if foreseen { now + at as u64 + u64::from(coming.life) } else { NEVER };
        }
        self.first_place += count as u64;
        if is_write {
            self.issued_writes += count as u64;
            Step::Write(count)
        } else {
            Step::Trim(count)
        }
    }

    fn draw(&mut self, workload: &mut dyn Workload) {
        let (count, is_write) = match workload.next(&mut self.buffer) {
            Step::Write(count) => (count, true),
            Step::Trim(count) => (count, false),
            Step::End => {
                self.ended = true;
                return;
            }
        };
        for at in 0..count {
            let page = self.buffer[at];
            let place = self.first_place + self.coming.len() as u64;
            let held = std::mem::replace(
                &mut self.holder[page as usize],
                if is_write { place } else { NOWHERE },
            );
            let writes_before = self.drawn_writes as u32;
            if held >= self.first_place {
                let holder = &mut self.coming[(held - self.first_place) as usize];
                holder.life = writes_before.wrapping_sub(holder.writes_before);
            }
            self.coming.push_back(Coming { page, is_write, writes_before, life: UNKNOWN });
            self.drawn_writes += u64::from(is_write);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{self, Context, Trace, TraceOp};

    /// What a workload does, with invalidation times counted from the first write, in batches of `batch_pages`.
    fn foreseen(
        mut workload: Box<dyn Workload>,
        batch_pages: usize,
        writes: usize,
    ) -> Vec<(u32, u64)> {
        let mut foresight = Foresight::new(&*workload).unwrap();
        let (mut pages, mut invalidation_times) = (vec![0; batch_pages], vec![0; batch_pages]);
        let mut found = Vec::new();
        while found.len() < writes {
            let now = found.len() as u64;
            match foresight.next(&mut *workload, &mut pages, &mut invalidation_times, now) {
                Step::Write(count) => {
                    found.extend(pages.iter().copied().zip(invalidation_times.clone()).take(count));
                }
                Step::Trim(_) => {}
                Step::End => break,
            }
        }
        found.truncate(writes);
        found
    }

    #[test]
    fn a_page_dies_at_its_next_write_or_trim_also_in_the_next_pass_of_a_trace() {
        use TraceOp::{Trim, Write};
        let ops = vec![Write, Trim, Write, Write];
        let trace = Trace::new(ops, vec![0, 1, 0, 5], vec![3, 1, 1, 1], 2).unwrap();
        let expected = [
            (0, 3),
            (1, 3),
            (2, 7),
            (0, 5),
            (5, 9), // the first pass: writes 0 to 4
            (0, 8),
            (1, 8),
            (2, NEVER),
            (0, NEVER),
            (5, NEVER),
        ];
        for batch_pages in [1, 2, 100] {
            assert_eq!(foreseen(Box::new(trace.clone()), batch_pages, 100), expected);
        }
    }

    #[test]
    fn foresight_does_not_depend_on_batches_and_ends_at_the_horizon() {
        let build = || workloads::build("zipf:s=1", 50, Context::root(3)).unwrap();
        let whole = foreseen(build(), 1024, 5000);
        assert_eq!(foreseen(build(), 1, 5000), whole);
        assert_eq!(foreseen(build(), 7, 5000), whole);
        let horizon = build().horizon_writes() as usize;
        for (at, &(page, invalidation_time)) in whole[..2000].iter().enumerate() {
            let next = whole[at + 1..=at + horizon].iter().position(|&(other, _)| other == page);
            assert_eq!(invalidation_time, next.map_or(NEVER, |after| (at + 1 + after) as u64));
        }
        assert!(whole.iter().any(|&(_, invalidation_time)| invalidation_time == NEVER));
    }
}
