//! Tournament tree over the sources of events, which finds the source with the earliest
//! event.

use std::hint::select_unpredictable;

/// Time of an event in ns, and its sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub at_ns: u64,
    pub number: u64,
}

/// Number of bits of a tag that hold the source. The other bits hold the sequence number.
const SOURCE_BITS: u32 = 20;
/// Most sources of a schedule.
const MOST_SOURCES: usize = (1 << SOURCE_BITS) - 1;

/// Entrant of the tournament: the next event of a source.
#[derive(Debug, Clone, Copy)]
pub struct Entrant {
    pub at_ns: u64,
    /// Tag: sequence number and source in one number, ordered by sequence number.
    tag: u64,
}

/// Entrant without an event, which comes last.
pub const NO_EVENT: Entrant = Entrant { at_ns: u64::MAX, tag: u64::MAX };

impl Entrant {
    /// Builds the entrant for an event of a source.
    #[inline(always)]
    pub fn new(due: Due, source: usize) -> Self {
        Entrant { at_ns: due.at_ns, tag: due.number << SOURCE_BITS | source as u64 }
    }

    /// Source of the event.
    #[inline(always)]
    pub fn source(self) -> usize {
        self.tag as usize & MOST_SOURCES
    }

    /// Time and sequence number of the event.
    pub fn due(self) -> Due {
        Due { at_ns: self.at_ns, number: self.tag >> SOURCE_BITS }
    }

    #[inline(always)]
    fn key(self) -> u128 {
        u128::from(self.at_ns) << 64 | u128::from(self.tag)
    }

    /// Returns the earlier of two events.
    /// It is branch-free, because the result is unpredictable and ties are frequent.
    #[inline(always)]
    fn or_earlier(self, other: Entrant) -> Entrant {
        let other_wins = other.key() < self.key();
        Entrant {
            at_ns: select_unpredictable(other_wins, other.at_ns, self.at_ns),
            tag: select_unpredictable(other_wins, other.tag, self.tag),
        }
    }
}

/// Match of the tournament: four entrants that are compared. It fills one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Match([Entrant; 4]);

/// Tournament tree: the winner of each match is an entrant of the match above it.
#[derive(Debug)]
pub struct Tournament {
    /// Matches; the final is first, and the matches below match m are 4m + 1 to 4m + 4.
    matches: Vec<Match>,
    /// Index of the first match between sources.
    first_round: usize,
    winner: Entrant,
}

impl Tournament {
    /// Builds a tournament of `sources` sources without events.
    pub fn new(sources: usize) -> Self {
        assert!(
            sources <= MOST_SOURCES,
            "the number of dies was checked, so all sources of events can be numbered"
        );
        let (mut first_round, mut in_round) = (0, 1);
        while 4 * in_round < sources {
            first_round += in_round;
            in_round *= 4;
        }
        let matches = vec![Match([NO_EVENT; 4]); first_round + in_round];
        Tournament { matches, first_round, winner: NO_EVENT }
    }

    /// Next event of all sources, or [`NO_EVENT`].
    #[inline(always)]
    pub fn winner(&self) -> Entrant {
        self.winner
    }

    /// Next event of a source.
    pub fn entrant(&self, source: usize) -> Entrant {
        self.matches[self.first_round + source / 4].0[source % 4]
    }

    /// Sets the next event of a source, and updates the winners.
    #[inline(always)]
    pub fn set(&mut self, source: usize, entrant: Entrant) {
        let (mut at, mut place) = (self.first_round + source / 4, source % 4);
        let mut winner = entrant;
        loop {
            let Match(four) = &mut self.matches[at];
            four[place] = winner;
            // The other entrants come first in the comparison, because they do not depend on the
            // matches below. They are therefore compared while those matches are computed.
            let [second, third, fourth] = [1, 2, 3].map(|other| four[(place + other) % 4]);
            winner = winner.or_earlier(second.or_earlier(third).or_earlier(fourth));
            if at == 0 {
                self.winner = winner;
                return;
            }
            (at, place) = ((at - 1) / 4, (at - 1) % 4);
            // Equal tags mean the same event, or no event.
            if self.matches[at].0[place].tag == winner.tag {
                return;
            }
        }
    }
}
