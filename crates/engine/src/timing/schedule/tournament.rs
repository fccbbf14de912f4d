//! Tournament among the sources of events, which tells whose event is next.

use std::hint::select_unpredictable;

/// Time of an event, and its number in the order of scheduling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub at_ns: u64,
    pub number: u64,
}

/// Bits of a tag that say whose event it is; the others number the events.
const SOURCE_BITS: u32 = 20;
/// Sources that a schedule can have.
const MOST_SOURCES: usize = (1 << SOURCE_BITS) - 1;

/// Source with its next event.
#[derive(Debug, Clone, Copy)]
pub struct Entrant {
    pub at_ns: u64,
    /// Number of the event and then its source, so that earlier ones have lower tags.
    tag: u64,
}

/// Entrant without an event: after all others.
pub const NOBODY: Entrant = Entrant { at_ns: u64::MAX, tag: u64::MAX };

impl Entrant {
    /// The event of a source.
    #[inline(always)]
    pub fn new(due: Due, source: usize) -> Self {
        Entrant { at_ns: due.at_ns, tag: due.number << SOURCE_BITS | source as u64 }
    }

    /// The source.
    #[inline(always)]
    pub fn source(self) -> usize {
        self.tag as usize & MOST_SOURCES
    }

    /// Time and number of its event.
    pub fn due(self) -> Due {
        Due { at_ns: self.at_ns, number: self.tag >> SOURCE_BITS }
    }

    #[inline(always)]
    fn key(self) -> u128 {
        u128::from(self.at_ns) << 64 | u128::from(self.tag)
    }

    /// Returns the earlier of two.
    /// It takes no branch, as the result cannot be foreseen and ties are frequent.
    #[inline(always)]
    fn or_earlier(self, other: Entrant) -> Entrant {
        let other_wins = other.key() < self.key();
        Entrant {
            at_ns: select_unpredictable(other_wins, other.at_ns, self.at_ns),
            tag: select_unpredictable(other_wins, other.tag, self.tag),
        }
    }
}

/// Four entrants that play each other, in a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Match([Entrant; 4]);

/// Tournament: the winner of each match takes part in the one above it.
#[derive(Debug)]
pub struct Tournament {
    /// The final comes first; those below match m are 4m + 1 to 4m + 4.
    matches: Vec<Match>,
    /// The first match between sources.
    first_round: usize,
    winner: Entrant,
}

impl Tournament {
    /// A tournament of so many sources, of which none has an event.
    pub fn new(sources: usize) -> Self {
        assert!(sources <= MOST_SOURCES, "a drive that was checked has fewer dies");
        let (mut first_round, mut in_round) = (0, 1);
        while 4 * in_round < sources {
            first_round += in_round;
            in_round *= 4;
        }
        let matches = vec![Match([NOBODY; 4]); first_round + in_round];
        Tournament { matches, first_round, winner: NOBODY }
    }

    /// The entrant that comes first, or nobody.
    #[inline(always)]
    pub fn winner(&self) -> Entrant {
        self.winner
    }

    /// The next event of a source.
    pub fn entrant(&self, source: usize) -> Entrant {
        self.matches[self.first_round + source / 4].0[source % 4]
    }

    /// Changes the next event of a source, and who wins.
    #[inline(always)]
    pub fn set(&mut self, source: usize, entrant: Entrant) {
        let (mut at, mut place) = (self.first_round + source / 4, source % 4);
        let mut winner = entrant;
        loop {
            let Match(four) = &mut self.matches[at];
            four[place] = winner;
            // The others first: they wait for nothing that was found below.
            let [second, third, fourth] = [1, 2, 3].map(|other| four[(place + other) % 4]);
            winner = winner.or_earlier(second.or_earlier(third).or_earlier(fourth));
            if at == 0 {
                self.winner = winner;
                return;
            }
            (at, place) = ((at - 1) / 4, (at - 1) % 4);
            // Those of one tag are the same event, or none.
            if self.matches[at].0[place].tag == winner.tag {
                return;
            }
        }
    }
}
