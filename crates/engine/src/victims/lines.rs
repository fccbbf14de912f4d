//! Candidates whose scores are linear functions of the time, and the search for the highest.

use super::Bag;
use crate::error::Result;
use crate::state::{Reader, State, Writer};

/// Number of candidates whose highest score is searched without a branch.
const CHUNK: usize = 64;
/// Number of scores that are computed at once.
const LANES: usize = 8;

/// Rounding error of two compared scores, relative to the largest possible score.
/// That is slope × clock. The constant is larger than the sum of the errors of all operations.
const ROUNDING: f64 = 1e-14;

/// Candidates with their scores: while a block does not change, `slope` × clock − `offset`.
#[derive(Debug, Clone)]
pub struct Lines {
    candidates: Bag,
    /// Slope of each candidate, in the order of the bag; then the offsets.
    slopes: Vec<f64>,
    offsets: Vec<f64>,
    /// Largest slope of any candidate so far.
    steepest: f64,
    /// Highest score of each chunk of candidates in the last search.
    highest: Vec<f64>,
    /// Blocks that have changed since the last search, or as many blocks as the drive has if any
    /// block may have changed.
    changed: Vec<u32>,
    blocks: usize,
}

impl Lines {
    pub fn new(blocks: u32) -> Result<Self> {
        Ok(Lines {
            candidates: Bag::new(blocks)?,
            slopes: Vec::new(),
            offsets: Vec::new(),
            steepest: 0.0,
            highest: Vec::new(),
            changed: Vec::new(),
            blocks: blocks as usize,
        })
    }

    /// Candidates in any order.
    pub fn blocks(&self) -> &[u32] {
        self.candidates.blocks()
    }

    /// Adds a candidate, whose line the next [`Self::update`] computes.
    pub fn add(&mut self, block: u32) {
        self.candidates.add(block);
        self.slopes.push(0.0);
        self.offsets.push(0.0);
        self.note_change(block);
    }

    /// Removes a candidate.
    pub fn remove(&mut self, block: u32) {
        let place = self.candidates.place(block).expect("the block must be a candidate");
        self.candidates.remove(block);
        self.slopes.swap_remove(place);
        self.offsets.swap_remove(place);
    }

    /// Records that the line of `block` must be computed again, if it is a candidate.
    #[inline(always)]
    pub fn note_change(&mut self, block: u32) {
        if self.changed.len() < self.blocks {
            self.changed.push(block);
        }
    }

    /// Computes the lines of changed candidates again.
    /// `line` returns the slope of a block and its score at clock `now`.
    pub fn update(&mut self, now: u64, line: impl Fn(u32) -> (f64, f64)) {
        let mut changed = std::mem::take(&mut self.changed);
        let is_any = changed.len() == self.blocks;
        for &block in if is_any { self.candidates.blocks() } else { &changed } {
            if let Some(place) = self.candidates.place(block) {
                let (slope, score) = line(block);
                self.slopes[place] = slope;
                self.offsets[place] = slope * now as f64 - score;
                self.steepest = self.steepest.max(slope);
            }
        }
        changed.clear();
        self.changed = changed;
    }

    /// Candidates that may have the highest score: scores differ by less than rounding errors.
    pub fn search(&mut self, now: u64) -> impl Iterator<Item = u32> + '_ {
        let now = now as f64;
        let chunks = self.slopes.chunks(CHUNK).zip(self.offsets.chunks(CHUNK));
        self.highest.clear();
        self.highest.extend(chunks.map(|(slopes, offsets)| highest_score(slopes, offsets, now)));
        let highest = self.highest.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The difference of two infinite scores would not be a number.
        let margin = self.steepest * now * ROUNDING;
        let least = if highest.is_finite() { highest - margin } else { highest };
        let lines = &*self;
        let score = move |place: usize| lines.slopes[place] * now - lines.offsets[place];
        (0..lines.highest.len())
            .filter(move |&chunk| lines.highest[chunk] >= least)
            .flat_map(|chunk| chunk * CHUNK..lines.slopes.len().min((chunk + 1) * CHUNK))
            .filter(move |&place| score(place) >= least)
            .map(|place| lines.blocks()[place])
    }
}

#[inline(always)]
fn highest_score(slopes: &[f64], offsets: &[f64], now: f64) -> f64 {
    let ((slopes, last_slopes), (offsets, last_offsets)) =
        (slopes.as_chunks::<LANES>(), offsets.as_chunks::<LANES>());
    let mut highest = [f64::NEG_INFINITY; LANES];
    for (slopes, offsets) in slopes.iter().zip(offsets) {
        for lane in 0..LANES {
            let score = slopes[lane] * now - offsets[lane];
            // Unlike `f64::max`, this is one instruction: no score is NaN.
            highest[lane] = if score > highest[lane] { score } else { highest[lane] };
        }
    }
    let last = last_slopes.iter().zip(last_offsets).map(|(slope, offset)| slope * now - offset);
    highest.into_iter().chain(last).fold(f64::NEG_INFINITY, f64::max)
}

/// The lines follow from the blocks and their histories, so only the candidates are saved.
impl State for Lines {
    fn save(&self, to: &mut Writer) {
        self.candidates.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.candidates.restore(from)?;
        let count = self.candidates.blocks().len();
        self.slopes = vec![0.0; count];
        self.offsets = vec![0.0; count];
        self.changed.resize(self.blocks, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::state::{pack, unpack};

    fn found(lines: &mut Lines, now: u64) -> Vec<u32> {
        let mut found: Vec<u32> = lines.search(now).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn the_search_finds_the_blocks_with_the_highest_score_at_any_time() {
        let (blocks, mut random) = (150, Stream::new(1, "test"));
        let mut lines = Lines::new(blocks).unwrap();
        // Slope, and time at which the score is 0: few different ones, so that some are equal.
        let mut exact = vec![(0u64, 0u64); blocks as usize];
        let mut searches_with_equals = 0;
        for now in 100..5000 {
            let changed = random.below(blocks);
            let is_candidate = lines.candidates.place(changed).is_some();
            exact[changed as usize] = (random.below(3).into(), now / 100 * 100);
            match (is_candidate, random.below(3)) {
                (true, 0) => lines.remove(changed),
                (true, _) => lines.note_change(changed),
                (false, _) => lines.add(changed),
            }
            if lines.blocks().is_empty() || random.below(4) > 0 {
                continue;
            }
            let score = |block: u32| {
                let (slope, from) = exact[block as usize];
                slope * (now - from)
            };
            lines.update(now, |block| (exact[block as usize].0 as f64, score(block) as f64));
            let highest = lines.blocks().iter().copied().map(score).max().unwrap();
            let of_highest = |block: &u32| score(*block) == highest;
            let mut expected: Vec<u32> =
                lines.blocks().iter().copied().filter(of_highest).collect();
            expected.sort_unstable();
            searches_with_equals += u32::from(expected.len() > 1);
            assert_eq!(found(&mut lines, now), expected, "at {now}");
        }
        assert!(lines.blocks().len() > CHUNK && searches_with_equals > 10);
    }

    #[test]
    fn blocks_without_valid_pages_come_first_and_a_restored_state_computes_every_line() {
        let mut saved = Lines::new(3).unwrap();
        (0..3).for_each(|block| saved.add(block));
        let mut lines = Lines::new(3).unwrap();
        unpack(&mut lines, &pack(&saved)).unwrap();
        lines.update(10, |block| if block == 1 { (0.0, f64::INFINITY) } else { (1.0, 10.0) });
        assert_eq!(found(&mut lines, 20), [1]);
        lines.remove(1);
        assert_eq!(found(&mut lines, 20), [0, 2]);
    }
}
