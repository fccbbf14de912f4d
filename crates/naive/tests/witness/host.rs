//! Requests of the host: bursts of writes and trims, handed over in batches.

use proptest::collection::vec;
use proptest::prelude::*;

/// One batch: pages written, or trimmed, in order; or a LUN that is idle.
#[derive(Debug, Clone)]
pub enum Request {
    Write(Vec<u32>),
    Trim(Vec<u32>),
    Idle(u32),
}

/// The logical pages that a burst is about; numbers are taken modulo what the drive has.
#[derive(Debug, Clone)]
pub enum Target {
    Anywhere,
    /// One page after the other.
    InTurn,
    /// Few pages, so that they are hot.
    Range {
        first: u32,
        pages: u32,
    },
    /// The pages that lie on one LUN when a batch begins. Striping takes their new versions
    /// elsewhere, so in the end all invalid pages are in one place.
    OnLun(u32),
}

/// Picks among the pages of a target, cut into batches.
#[derive(Debug, Clone)]
pub struct Burst {
    pub target: Target,
    pub picks: Vec<u32>,
    pub batch_pages: usize,
    /// Every such batch is a TRIM; 0 for none.
    pub trim_every: usize,
    /// In place of every such batch the drive is idle and may collect; 0 for none.
    pub idle_every: usize,
}

impl Burst {
    /// Writes every logical page once, in order.
    pub fn fill(logical_pages: u32) -> Self {
        let picks = vec![0; logical_pages as usize];
        Burst { target: Target::InTurn, picks, batch_pages: 64, trim_every: 0, idle_every: 0 }
    }

    pub fn batches(&self) -> usize {
        self.picks.len().div_ceil(self.batch_pages)
    }

    /// Batch number `batch` of this burst; `on_lun` tells which logical pages lie on a LUN.
    pub fn request(
        &self,
        batch: usize,
        logical_pages: u32,
        on_lun: impl FnOnce(u32) -> Vec<u32>,
    ) -> Request {
        let mut target: Vec<u32> = match self.target {
            Target::Anywhere | Target::InTurn => Vec::new(),
            Target::Range { first, pages } => {
                (first % logical_pages..logical_pages).take(pages as usize).collect()
            }
            Target::OnLun(lun) => on_lun(lun),
        };
        if target.is_empty() {
            target = (0..logical_pages).collect();
        }
        let first = batch * self.batch_pages;
        let end = (first + self.batch_pages).min(self.picks.len());
        let index = |at: usize| match self.target {
            Target::InTurn => at,
            _ => self.picks[at] as usize,
        };
        let pages = (first..end).map(|at| target[index(at) % target.len()]).collect();
        if self.idle_every > 0 && batch % self.idle_every == self.idle_every - 1 {
            return Request::Idle(self.picks[first]);
        }
        if self.trim_every > 0 && batch % self.trim_every == self.trim_every - 1 {
            Request::Trim(pages)
        } else {
            Request::Write(pages)
        }
    }
}

/// Random bursts on a drive that is mostly, but not always, filled first.
pub fn bursts() -> impl Strategy<Value = Vec<Burst>> {
    let target = prop_oneof![
        3 => Just(Target::Anywhere),
        1 => Just(Target::InTurn),
        3 => (any::<u32>(), 1..=40u32).prop_map(|(first, pages)| Target::Range { first, pages }),
        3 => any::<u32>().prop_map(Target::OnLun),
    ];
    let picks = vec(any::<u32>(), 1..=700);
    let batch_pages = prop_oneof![1 => Just(1), 4 => 2..=60usize, 2 => 61..=700usize];
    let trim_every = prop_oneof![3 => Just(0), 2 => 2..=20usize];
    let idle_every = prop_oneof![3 => Just(0), 1 => 2..=7usize];
    let burst = (target, picks, batch_pages, trim_every, idle_every).prop_map(
        |(target, picks, batch_pages, trim_every, idle_every)| Burst {
            target,
            picks,
            batch_pages,
            trim_every,
            idle_every,
        },
    );
    vec(burst, 1..=5)
}
