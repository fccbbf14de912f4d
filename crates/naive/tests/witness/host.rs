//! Requests of the host: bursts of writes and trims, in batches.

use proptest::collection::vec;
use proptest::prelude::*;

/// A batch: pages that are written or trimmed in order, or a pause in which a LUN is idle.
#[derive(Debug, Clone)]
pub enum Request {
    Write(Vec<u32>),
    Trim(Vec<u32>),
    Idle(u32),
}

/// Logical pages of a burst. Numbers are taken modulo the number of the drive's pages.
#[derive(Debug, Clone)]
pub enum Target {
    Anywhere,
    /// All pages in order.
    InTurn,
    /// Few pages, so that they are hot.
    Range {
        first: u32,
        pages: u32,
    },
    /// The pages that lie on one LUN when a batch begins. Striping writes their new versions to
    /// other LUNs, so that all invalid pages are on this LUN.
    OnLun(u32),
}

/// Choices of pages of a target, divided into batches.
#[derive(Debug, Clone)]
pub struct Burst {
    pub target: Target,
    pub picks: Vec<u32>,
    pub batch_pages: usize,
    /// Period of TRIMs in batches: with 3, every third batch is a TRIM. 0 for no TRIMs.
    pub trim_every: usize,
    /// Period of pauses, in which the drive may collect, in batches. 0 for no pauses.
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

    /// Returns batch number `batch` of this burst; `on_lun` returns the logical pages on a LUN.
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

/// Generates random bursts. The first burst mostly fills the drive.
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
