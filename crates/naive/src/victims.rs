//! The victim policies, each as a sentence about a list of candidates.

use std::cmp::{Ordering, Reverse};

use writeamp_engine::rng::Stream;

/// Which closed block is collected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victims {
    /// The most invalid pages; among equals, the one changed first.
    Greedy,
    /// The one closed first.
    Fifo,
    /// Any, each as likely as the next.
    Random,
    /// The most invalid pages among `d` drawn with replacement; among equals, the one drawn first.
    DChoices { d: u32 },
    /// The most invalid pages among the `window` closed first; among equals, the one closed first.
    WindowedGreedy { window: usize },
    /// The greatest age·(1−u)/(2u), u being the share of valid pages and u = 0 above everything;
    /// among equals the most invalid pages, then the one changed first.
    CostBenefit,
}

/// A closed block, as it stands when the choice is made.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    pub valid_pages: u32,
    pub invalid_pages: u32,
    /// When it closed, in events.
    pub closed: u64,
    /// When it last changed, in events: its close, or the last time one of its pages was invalid.
    pub changed: u64,
    /// Host pages written since it last changed.
    pub age: u64,
}

impl Victims {
    /// The index of the victim in `candidates`, which is not empty.
    pub fn choose(self, candidates: &[Candidate], random: &mut Stream) -> usize {
        let all = 0..candidates.len();
        let count = candidates.len() as u32;
        let invalid = |i: usize| candidates[i].invalid_pages;
        let closed = |i: usize| candidates[i].closed;
        let changed = |i: usize| candidates[i].changed;
        let victim = match self {
            Victims::Greedy => all.max_by_key(|&i| (invalid(i), Reverse(changed(i)))),
            Victims::Fifo => all.min_by_key(|&i| closed(i)),
            Victims::Random => Some(random.below(count) as usize),
            Victims::DChoices { d } => {
                let drawn: Vec<usize> = (0..d).map(|_| random.below(count) as usize).collect();
                let most = drawn.iter().map(|&i| invalid(i)).max();
                drawn.into_iter().find(|&i| Some(invalid(i)) == most)
            }
            Victims::WindowedGreedy { window } => {
                let mut oldest: Vec<usize> = all.collect();
                oldest.sort_by_key(|&i| closed(i));
                oldest.truncate(window);
                oldest.into_iter().max_by_key(|&i| (invalid(i), Reverse(closed(i))))
            }
            Victims::CostBenefit => all.max_by(|&i, &j| {
                let by_score = Score::of(&candidates[i]).compare(&Score::of(&candidates[j]));
                by_score.then(invalid(i).cmp(&invalid(j))).then(changed(j).cmp(&changed(i)))
            }),
        };
        victim.expect("a collection has a candidate")
    }
}

/// age·(1−u)/(2u) as an exact fraction: with v valid and i invalid pages it is age·i/(2v).
struct Score {
    numerator: u128,
    denominator: u128,
}

impl Score {
    fn of(candidate: &Candidate) -> Self {
        if candidate.valid_pages == 0 {
            return Score { numerator: 1, denominator: 0 }; // u = 0: infinite at any age
        }
        Score {
            numerator: u128::from(candidate.age) * u128::from(candidate.invalid_pages),
            denominator: 2 * u128::from(candidate.valid_pages),
        }
    }

    /// a/b against c/d is a·d against c·b, also where one denominator is 0.
    fn compare(&self, other: &Score) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}
