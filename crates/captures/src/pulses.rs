//! Busy pulses of one channel, derived from its changes of level.

use crate::capture::Level;

/// A shorter ready time between two busy pulses is a glitch, because a command takes longer
/// to send.
pub const BRIDGED_BELOW_PS: u64 = 50_000;

/// Counts of irregular pulses and levels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pulses that were busy when the capture began, so that their length is unknown.
    pub cut_at_start: u64,
    /// Pulses that were still busy when the capture ended.
    pub cut_at_end: u64,
    /// Pulses that were busy when the level became unknown, or when it became known again.
    /// A pulse that is busy from an unknown level to the end of the capture counts as
    /// `cut_at_start` instead.
    pub cut_by_unknown: u64,
    /// Changes to an unknown level (x, z).
    pub unknown_levels: u64,
    /// Changes that repeat the current level of the channel.
    pub repeated_levels: u64,
    /// Busy pulses of length 0, which are skipped.
    pub zero_length: u64,
    /// Ready times of less than [`BRIDGED_BELOW_PS`]; the adjacent pulses count as one.
    pub bridged: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.cut_at_start += other.cut_at_start;
        self.cut_at_end += other.cut_at_end;
        self.cut_by_unknown += other.cut_by_unknown;
        self.unknown_levels += other.unknown_levels;
        self.repeated_levels += other.repeated_levels;
        self.zero_length += other.zero_length;
        self.bridged += other.bridged;
    }
}

/// Kind of a pulse's beginning: seen in the capture, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Began {
    Seen,
    WithTheCapture,
    AfterUnknown,
}

#[derive(Debug, Clone, Copy)]
enum State {
    New,
    Unknown,
    Busy { since_ps: u64, began: Began },
    // The last pulse is pending, because a glitch may extend it.
    Ready { last: Option<(u64, u64)> },
}

/// Receiver of the pulses of a channel.
pub trait Pulses {
    /// Receives a pulse whose begin and end are both in the capture.
    fn whole(&mut self, start_ps: u64, end_ps: u64);
    /// Receives the busy time in the capture of a pulse that begins or ends outside of it.
    fn cut(&mut self, start_ps: u64, end_ps: u64);
    /// Receives the ready time between two pulses.
    fn gap(&mut self, gap_ps: u64);
}

/// State machine that turns the levels of a channel into pulses.
#[derive(Debug, Clone)]
pub struct Follower {
    state: State,
    tally: Tally,
}

impl Default for Follower {
    /// Returns the state before the first level.
    fn default() -> Self {
        Follower { state: State::New, tally: Tally::default() }
    }
}

impl Follower {
    /// Counts of irregular pulses and levels.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Sets the level of the channel from a time on; low is busy.
    #[inline]
    pub fn change(&mut self, time_ps: u64, level: Level, to: &mut impl Pulses) {
        match (self.state, level) {
            (State::Ready { last }, Level::Low) => self.fall(time_ps, last, to),
            (State::Busy { since_ps, began: Began::Seen }, Level::High) => {
                self.rise(since_ps, time_ps);
            }
            (State::Busy { since_ps, began }, Level::High) => {
                match began {
                    Began::AfterUnknown => self.tally.cut_by_unknown += 1,
                    _ => self.tally.cut_at_start += 1,
                }
                to.cut(since_ps, time_ps);
                self.state = State::Ready { last: None };
            }
            (State::Busy { .. }, Level::Low) | (State::Ready { .. }, Level::High) => {
                self.tally.repeated_levels += 1;
            }
            (State::New, Level::Low) => {
                self.state = State::Busy { since_ps: time_ps, began: Began::WithTheCapture };
            }
            (State::Unknown, Level::Low) => {
                self.state = State::Busy { since_ps: time_ps, began: Began::AfterUnknown };
            }
            (State::New | State::Unknown, Level::High) => {
                self.state = State::Ready { last: None };
            }
            (state, Level::Unknown) => self.lose(time_ps, state, to),
        }
    }

    /// Ends the capture.
    pub fn finish(&mut self, end_ps: u64, to: &mut impl Pulses) {
        match self.state {
            State::Busy { since_ps, began } => {
                if began == Began::Seen {
                    self.tally.cut_at_end += 1;
                } else {
                    self.tally.cut_at_start += 1;
                }
                to.cut(since_ps, end_ps.max(since_ps));
            }
            State::Ready { last: Some((start_ps, end_ps)) } => to.whole(start_ps, end_ps),
            State::Ready { last: None } | State::New | State::Unknown => {}
        }
        self.state = State::Unknown;
    }

    #[inline]
    fn fall(&mut self, time_ps: u64, last: Option<(u64, u64)>, to: &mut impl Pulses) {
        let mut since_ps = time_ps;
        if let Some((start_ps, end_ps)) = last {
            let gap_ps = time_ps - end_ps;
            if gap_ps < BRIDGED_BELOW_PS {
                self.tally.bridged += 1;
                since_ps = start_ps;
            } else {
                to.whole(start_ps, end_ps);
                to.gap(gap_ps);
            }
        }
        self.state = State::Busy { since_ps, began: Began::Seen };
    }

    #[inline]
    fn rise(&mut self, since_ps: u64, time_ps: u64) {
        let last = if time_ps == since_ps {
            self.tally.zero_length += 1;
            None
        } else {
            Some((since_ps, time_ps))
        };
        self.state = State::Ready { last };
    }

    fn lose(&mut self, time_ps: u64, state: State, to: &mut impl Pulses) {
        match state {
            // Analysers write x before the first sample, so this unknown level is not counted.
            State::New => {}
            State::Unknown => self.tally.repeated_levels += 1,
            State::Busy { since_ps, .. } => {
                self.tally.unknown_levels += 1;
                self.tally.cut_by_unknown += 1;
                to.cut(since_ps, time_ps);
            }
            State::Ready { last } => {
                self.tally.unknown_levels += 1;
                if let Some((start_ps, end_ps)) = last {
                    to.whole(start_ps, end_ps);
                }
            }
        }
        self.state = State::Unknown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen {
        whole: Vec<(u64, u64)>,
        part: Vec<(u64, u64)>,
        gaps: Vec<u64>,
    }

    impl Pulses for Seen {
        fn whole(&mut self, start_ps: u64, end_ps: u64) {
            self.whole.push((start_ps, end_ps));
        }
        fn cut(&mut self, start_ps: u64, end_ps: u64) {
            self.part.push((start_ps, end_ps));
        }
        fn gap(&mut self, gap_ps: u64) {
            self.gaps.push(gap_ps);
        }
    }

    fn followed(changes: &[(u64, char)], end_ps: u64) -> (Seen, Tally) {
        let mut follower = Follower::default();
        let mut found = Seen::default();
        for (time_ps, level) in changes {
            let level = match level {
                '0' => Level::Low,
                '1' => Level::High,
                _ => Level::Unknown,
            };
            follower.change(*time_ps, level, &mut found);
        }
        follower.finish(end_ps, &mut found);
        (found, *follower.tally())
    }

    const MS: u64 = 1_000_000_000;

    #[test]
    fn pulses_cut_by_either_end_are_no_operations() {
        let changes = [(0, '0'), (MS, '1'), (2 * MS, '0'), (3 * MS, '1'), (4 * MS, '0')];
        let (found, tally) = followed(&changes, 5 * MS);
        assert_eq!(found.whole, [(2 * MS, 3 * MS)]);
        assert_eq!(found.part, [(0, MS), (4 * MS, 5 * MS)]);
        assert_eq!(tally, Tally { cut_at_start: 1, cut_at_end: 1, ..Tally::default() });
    }

    #[test]
    fn a_glitch_to_ready_does_not_end_an_operation() {
        let glitch = 2 * MS + BRIDGED_BELOW_PS - 1;
        let changes = [(0, '1'), (MS, '0'), (2 * MS, '1'), (glitch, '0'), (3 * MS, '1')];
        let (found, tally) = followed(&changes, 4 * MS);
        assert_eq!(found.whole, [(MS, 3 * MS)]);
        assert_eq!(found.gaps, []);
        assert_eq!(tally, Tally { bridged: 1, ..Tally::default() });
    }

    #[test]
    fn two_operations_with_a_short_gap_are_two_and_the_gap_is_told() {
        let again = 2 * MS + 200_000;
        let changes = [(0, '1'), (MS, '0'), (2 * MS, '1'), (again, '0'), (3 * MS, '1')];
        let (found, tally) = followed(&changes, 4 * MS);
        assert_eq!(found.whole, [(MS, 2 * MS), (again, 3 * MS)]);
        assert_eq!(found.gaps, [200_000]);
        assert_eq!(tally, Tally::default());
    }

    #[test]
    fn levels_that_are_not_known_cut_what_they_interrupt() {
        let changes = [(0, 'x'), (1, '1'), (MS, '0'), (2 * MS, 'x'), (3 * MS, '0'), (4 * MS, '1')];
        let (found, tally) = followed(&changes, 5 * MS);
        assert_eq!(found.whole, []);
        assert_eq!(found.part, [(MS, 2 * MS), (3 * MS, 4 * MS)]);
        let expected = Tally { cut_by_unknown: 2, unknown_levels: 1, ..Tally::default() };
        assert_eq!(tally, expected);
    }

    #[test]
    fn repeated_levels_and_pulses_of_no_length_are_told() {
        let changes = [(0, '1'), (1, '1'), (MS, '0'), (MS, '1'), (2 * MS, '0'), (3 * MS, '0')];
        let (found, tally) = followed(&changes, 4 * MS);
        assert_eq!(found.whole, []);
        let expected =
            Tally { repeated_levels: 2, zero_length: 1, cut_at_end: 1, ..Tally::default() };
        assert_eq!(tally, expected);
    }
}
