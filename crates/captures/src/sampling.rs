//! Sampling: edges as a logic analyser of a finite rate would have recorded them.

use std::collections::VecDeque;

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::{Error, Result};

/// Uniform draws in a jitter. Their sum is nearly normal, and never beyond ±6 standard
/// deviations.
const DRAWS: u32 = 12;
const MOST_DEVIATIONS: f64 = 6.0;

/// Settings of a sampling analyser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Time between two samples.
    pub period_ps: u64,
    /// Standard deviation of the moment at which an edge is seen.
    pub jitter_ns: f64,
    /// Probability that a low pulse is not seen at all.
    pub missed: f64,
}

/// A change of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Time of the change.
    pub time_ps: u64,
    /// Index of the channel.
    pub channel: usize,
    /// True if the channel is high from then on.
    pub is_high: bool,
}

/// Turns exact edges into sampled ones, in the order of time; one seed makes one result.
#[derive(Debug, Clone)]
pub struct Sampler {
    sampling: Sampling,
    generator: Xoshiro256PlusPlus,
    /// Edges that a later one may still undo, by sample.
    pending: VecDeque<(u64, usize, bool)>,
    /// Channels in a low pulse that is not seen.
    blind: Vec<bool>,
    last_ps: u64,
}

impl Sampler {
    /// Samples channels 0 to `channels` − 1.
    pub fn new(sampling: Sampling, channels: usize, seed: u64) -> Result<Self> {
        let Sampling { period_ps, jitter_ns, missed } = sampling;
        if period_ps == 0 {
            return Err(Error::Setting("the sampling period is 0; it must be above".to_owned()));
        }
        // Beyond that, no edge would be where it was.
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

    /// Takes the next edge, not before the last one, and gives those that are certain by now.
    pub fn edge(&mut self, edge: Edge, mut seen: impl FnMut(Edge)) -> Result<()> {
        if edge.time_ps < self.last_ps || edge.channel >= self.blind.len() {
            return Err(Error::Setting(format!(
                "the edge at {} ps on channel {} is earlier than the one before it, or on a \
                 channel that there is not",
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

    /// Gives the edges that are left.
    pub fn finish(mut self, mut seen: impl FnMut(Edge)) {
        self.settle(u64::MAX, &mut seen);
    }

    /// A pulse is missed as a whole: both of its edges.
    fn is_missed(&mut self, edge: Edge) -> bool {
        if edge.is_high {
            return std::mem::take(&mut self.blind[edge.channel]);
        }
        let missed = self.sampling.missed > 0.0 && self.unit() < self.sampling.missed;
        self.blind[edge.channel] = missed;
        missed
    }

    /// Two edges of a channel that fall on one sample are not seen.
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

    fn settle(&mut self, before: u64, seen: &mut impl FnMut(Edge)) {
        while let Some((sample, channel, is_high)) = self.pending.front().copied()
            && sample < before
        {
            self.pending.pop_front();
            let time_ps = sample.saturating_mul(self.sampling.period_ps);
            seen(Edge { time_ps, channel, is_high });
        }
    }

    /// The first sample at which an edge of this time, or a later one, can be seen.
    fn earliest_sample(&self, time_ps: u64) -> u64 {
        let most_ps = (MOST_DEVIATIONS * self.sampling.jitter_ns * 1e3).ceil() as u64;
        time_ps.saturating_sub(most_ps).div_ceil(self.sampling.period_ps)
    }

    /// The first sample after an edge, as the analyser sees it.
    fn sample_of(&mut self, time_ps: u64) -> u64 {
        if self.sampling.jitter_ns == 0.0 {
            return time_ps.div_ceil(self.sampling.period_ps);
        }
        let bell = (0..DRAWS).map(|_| self.unit()).sum::<f64>() - f64::from(DRAWS) / 2.0;
        let late_ps = (bell * self.sampling.jitter_ns * 1e3) as i64;
        time_ps.saturating_add_signed(late_ps).div_ceil(self.sampling.period_ps)
    }

    /// Uniform in [0, 1) with 53 bits.
    fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}
