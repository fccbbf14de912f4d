//! Statistics of a capture: durations by channel, and counts over time.

use crate::capture::{Ending, Header, Level, Listener};
use crate::error::Result;
use crate::histogram::Durations;
use crate::pulses::{Follower, Pulses, Tally};
use crate::timeline::Timeline;

/// Statistics of one channel.
#[derive(Debug, Clone)]
pub struct Channel {
    follower: Follower,
    sums: Sums,
}

#[derive(Debug, Clone)]
struct Sums {
    durations: Durations,
    gaps: Durations,
    pulses: u64,
    busy_ps: u64,
}

impl Channel {
    fn new(resolution_ps: Option<u64>) -> Self {
        let none = Durations::new(resolution_ps);
        let sums = Sums { durations: none.clone(), gaps: none, pulses: 0, busy_ps: 0 };
        Channel { follower: Follower::default(), sums }
    }

    /// Number of busy pulses whose begin and end are both in the capture.
    pub fn pulses(&self) -> u64 {
        self.sums.pulses
    }

    /// Busy time in ps, including pulses whose begin or end is outside the capture.
    pub fn busy_ps(&self) -> u64 {
        self.sums.busy_ps
    }

    /// Durations of the busy pulses whose begin and end are both in the capture.
    pub fn durations(&self) -> &Durations {
        &self.sums.durations
    }

    /// Durations of the ready times after such pulses, each until the next pulse begins.
    pub fn gaps(&self) -> &Durations {
        &self.sums.gaps
    }

    /// Counts of irregular pulses and levels.
    pub fn tally(&self) -> &Tally {
        self.follower.tally()
    }
}

struct Into<'a> {
    sums: &'a mut Sums,
    timeline: &'a mut Timeline,
}

impl Pulses for Into<'_> {
    #[inline]
    fn whole(&mut self, start_ps: u64, end_ps: u64) {
        self.sums.pulses += 1;
        self.sums.durations.add(end_ps - start_ps);
        self.timeline.add(start_ps, end_ps - start_ps);
        self.cut(start_ps, end_ps);
    }

    #[inline]
    fn cut(&mut self, start_ps: u64, end_ps: u64) {
        self.sums.busy_ps = self.sums.busy_ps.saturating_add(end_ps - start_ps);
        self.timeline.busy(start_ps, end_ps);
    }

    #[inline]
    fn gap(&mut self, gap_ps: u64) {
        self.sums.gaps.add(gap_ps);
    }
}

/// A listener that computes the statistics; `progress` is called regularly and may end it.
pub struct Folding<P> {
    busy_is_high: bool,
    progress: P,
    header: Option<Header>,
    channels: Vec<Channel>,
    timeline: Timeline,
}

impl<P: FnMut(u64) -> Result<()>> Folding<P> {
    /// Creates a listener. A pin is busy while it is low, or while it is high if `busy_is_high`.
    pub fn new(busy_is_high: bool, progress: P) -> Self {
        let timeline = Timeline::default();
        Folding { busy_is_high, progress, header: None, channels: Vec::new(), timeline }
    }

    /// Closes open pulses at the end of the capture.
    pub fn finish(&mut self, ending: &Ending) {
        for channel in &mut self.channels {
            let mut to = Into { sums: &mut channel.sums, timeline: &mut self.timeline };
            channel.follower.finish(ending.end_ps, &mut to);
        }
        self.timeline.end(ending.end_ps);
    }

    /// Header of the capture, or None before it was read.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Statistics of the channels, in the order of the header.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Counts and busy time over time.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Counts of irregular pulses and levels, over all channels.
    pub fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.channels.iter().for_each(|channel| all.add(channel.tally()));
        all
    }
}

impl<P: FnMut(u64) -> Result<()>> Listener for Folding<P> {
    fn start(&mut self, header: &Header) -> Result<()> {
        self.channels = vec![Channel::new(header.resolution_ps); header.channels.len()];
        self.header = Some(header.clone());
        Ok(())
    }

    #[inline]
    fn change(&mut self, time_ps: u64, channel: usize, level: Level) {
        let level = match (level, self.busy_is_high) {
            (Level::Low, true) => Level::High,
            (Level::High, true) => Level::Low,
            (plain, _) => plain,
        };
        self.timeline.begin(time_ps);
        let channel = &mut self.channels[channel];
        let mut to = Into { sums: &mut channel.sums, timeline: &mut self.timeline };
        channel.follower.change(time_ps, level, &mut to);
    }

    fn progress(&mut self, bytes: u64) -> Result<()> {
        (self.progress)(bytes)
    }
}
