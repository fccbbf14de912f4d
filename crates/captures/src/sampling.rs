//! Sampling: edges as a logic analyser with a finite sampling rate records them.

use std::collections::VecDeque;

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::{Error, Result};

/// Number of uniform random numbers that are added up for one value of jitter.
/// Their sum is nearly normal, within ±6 standard deviations.
const DRAWS: u32 = 12;
const MOST_DEVIATIONS: f64 = 6.0;

/// Settings of a sampling analyser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Time between two samples.
    pub period_ps: u64,
    /// Standard deviation of the jitter that is added to the time of an edge, in ns.
    pub jitter_ns: f64,
    /// Probability that the analyser misses a low pulse, so that both of its edges are skipped.
    pub missed: f64,
}

/// A change of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Time of the change.
    pub time_ps: u64,
    /// Index of the channel.
    pub channel: usize,
    /// True if the channel becomes high.
    pub is_high: bool,
}

/// Converts exact edges into sampled ones, in order of time; deterministic for a seed.
#[derive(Debug, Clone)]
pub struct Sampler {
    sampling: Sampling,
    generator: Xoshiro256PlusPlus,
    /// Edges that were not passed on yet, by sample number.
    /// The next edge of the same channel may cancel them.
    pending: VecDeque<(u64, usize, bool)>,
    /// Channels that are within a missed low pulse now.
    blind: Vec<bool>,
    last_ps: u64,
}

impl Sampler {
    /// Samples channels 0 to `channels` − 1.
    pub fn new(sampling: Sampling, channels: usize, seed: u64) -> Result<Self> {
        let Sampling { period_ps, jitter_ns, missed } = sampling;
        if period_ps == 0 {
            return Err(Error::Setting("the sampling period is 0; it must be above 0".to_owned()));
        }
        // More jitter would make edge times meaningless.
        if !(0.0..=1e6).contains(&jitter_ns) {
            return Err(Error::Setting(format!(
                "the jitter is {jitter_ns} ns; it must lie from 0 to 1000000"
            )));
        }
        if !(0.0..=1.0).contains(&missed) {
            return Err(Error::Setting(format!(
                "the share of missed pulses is {missed}; it must lie from 0 to 1"
            )));
        }
        Ok(Sampler {
            sampling,
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
            pending: VecDeque::new(),
            blind: vec![false; channels],
            last_ps: 0,
        })
    }

    /// Accepts the next edge in order of time.
    /// Passes the edges that can no longer change to `seen`.
    pub fn edge(&mut self, edge: Edge, mut seen: impl FnMut(Edge)) -> Result<()> {
        if edge.time_ps < self.last_ps || edge.channel >= self.blind.len() {
            return Err(Error::Setting(format!(
                "the edge at {} ps on channel {} is earlier than the edge before it, or the \
                 capture has no such channel",
                edge.time_ps, edge.channel
            )));
        }
        self.last_ps = edge.time_ps;
        self.settle(self.earliest_sample(edge.time_ps), &mut seen);
        if !self.is_missed(edge) {
            let sample = self.sample_of(edge.time_ps);
            self.place(sample, edge);
        }
        Ok(())
    }

    /// Passes the remaining edges to `seen`.
    pub fn finish(mut self, mut seen: impl FnMut(Edge)) {
        self.settle(u64::MAX, &mut seen);
    }

    /// True if the edge belongs to a missed low pulse, both edges of which are skipped.
    fn is_missed(&mut self, edge: Edge) -> bool {
        if edge.is_high {
            return std::mem::take(&mut self.blind[edge.channel]);
        }
        let missed = self.sampling.missed > 0.0 && self.unit() < self.sampling.missed;
        self.blind[edge.channel] = missed;
        missed
    }

    /// Adds an edge, unless it cancels the previous edge of its channel.
    ///
    /// Two edges cancel each other on the same sample, or if jitter reverses their order.
    fn place(&mut self, sample: u64, edge: Edge) {
        let same = self.pending.iter().rposition(|(_, channel, _)| *channel == edge.channel);
        if let Some(place) = same
            && self.pending[place].0 >= sample
        {
            self.pending.remove(place);
            return;
        }
        let after = self.pending.iter().rposition(|(other, ..)| *other <= sample);
        self.pending
            .insert(after.map_or(0, |place| place + 1), (sample, edge.channel, edge.is_high));
    }

    fn settle(&mut self, end: u64, seen: &mut impl FnMut(Edge)) {
        while let Some((sample, channel, is_high)) = self.pending.front().copied()
            && sample < end
        {
            self.pending.pop_front();
            let time_ps = sample.saturating_mul(self.sampling.period_ps);
            seen(Edge { time_ps, channel, is_high });
        }
    }

    /// Earliest sample of an edge at this time or later.
    fn earliest_sample(&self, time_ps: u64) -> u64 {
        let most_ps = (MOST_DEVIATIONS * self.sampling.jitter_ns * 1e3).ceil() as u64;
        time_ps.saturating_sub(most_ps).div_ceil(self.sampling.period_ps)
    }

    /// First sample after an edge, with jitter.
    fn sample_of(&mut self, time_ps: u64) -> u64 {
        if self.sampling.jitter_ns == 0.0 {
            return time_ps.div_ceil(self.sampling.period_ps);
        }
        let bell = (0..DRAWS).map(|_| self.unit()).sum::<f64>() - f64::from(DRAWS) / 2.0;
        let late_ps = (bell * self.sampling.jitter_ns * 1e3) as i64;
        time_ps.saturating_add_signed(late_ps).div_ceil(self.sampling.period_ps)
    }

    /// Uniform draw in [0, 1) with 53 bits.
    fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}
