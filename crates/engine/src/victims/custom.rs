//! Custom victim policies: adapter from [`VictimCalls`] to the drive.
//!
//! The candidates are tracked here, in order of closing, so that the policy is not called for each
//! page write. It is only called to choose a victim from the listed candidates.

use std::sync::{Arc, Mutex, MutexGuard};

use super::{Candidates, Census, VictimCalls, VictimPolicy};
use crate::error::{Error, Result};
use crate::faults::{Failure, Hook};
use crate::flash::{Blocks, Geometry, Table, filled};
use crate::rng::Stream;
use crate::state::{Reader, State, Writer, require};

/// Custom policy for one collection domain.
/// All domains of a drive share the same custom policy, but each has its own candidates.
pub struct CustomVictims {
    name: Arc<str>,
    calls: Arc<Mutex<Box<dyn VictimCalls>>>,
    /// True for the only instance that saves the state of the shared policy.
    is_keeper: bool,
    candidates: Vec<u32>,
    /// Clock at which each block of the drive closed.
    /// The next field has the clock of each block's last change.
    closed_at: Table<u64>,
    changed_at: Table<u64>,
    shown: Shown,
    failure: Option<Error>,
}

/// Columns of candidates that are passed to the policy.
#[derive(Debug, Clone, Default)]
struct Shown {
    invalid_pages: Vec<u32>,
    closed_at: Vec<u64>,
    changed_at: Vec<u64>,
}

impl CustomVictims {
    /// Wraps the policy behind `calls`.
    pub fn new(name: &str, calls: Box<dyn VictimCalls>, geometry: &Geometry) -> Result<Self> {
        let blocks = geometry.blocks() as usize;
        Ok(CustomVictims {
            name: name.into(),
            calls: Arc::new(Mutex::new(calls)),
            is_keeper: true,
            candidates: Vec::new(),
            closed_at: filled(0, blocks)?,
            changed_at: filled(0, blocks)?,
            shown: Shown::default(),
            failure: None,
        })
    }

    fn calls(&self) -> MutexGuard<'_, Box<dyn VictimCalls>> {
        self.calls.lock().expect("no thread panicked while it held this lock")
    }

    fn remove(&mut self, block: u32) {
        self.candidates.retain(|other| *other != block);
    }

    fn show(&mut self, flash: &Blocks) {
        let Shown { invalid_pages: invalid, closed_at, changed_at } = &mut self.shown;
        let blocks = || self.candidates.iter().map(|&block| block as usize);
        invalid.clear();
        invalid.extend(self.candidates.iter().map(|&block| flash.invalid_pages(block)));
        closed_at.clear();
        closed_at.extend(blocks().map(|block| self.closed_at[block]));
        changed_at.clear();
        changed_at.extend(blocks().map(|block| self.changed_at[block]));
    }

    fn fail(&mut self, now: u64, failure: Failure) {
        let hook = self.calls().word(Hook::Choose);
        self.failure = Some(Error::of_policy(&self.name, hook, (now, None), failure));
    }
}

impl Clone for CustomVictims {
    /// Shares the policy, with separate candidates.
    fn clone(&self) -> Self {
        CustomVictims {
            name: Arc::clone(&self.name),
            calls: Arc::clone(&self.calls),
            is_keeper: false,
            candidates: self.candidates.clone(),
            closed_at: self.closed_at.clone(),
            changed_at: self.changed_at.clone(),
            shown: Shown::default(),
            failure: None,
        }
    }
}

impl VictimPolicy for CustomVictims {
    fn on_close(&mut self, block: u32, _invalid_pages: u32, now: u64) {
        self.closed_at[block as usize] = now;
        self.changed_at[block as usize] = now;
        self.candidates.push(block);
    }

    #[inline(always)]
    fn on_invalidate(&mut self, block: u32, _invalid_pages: u32, now: u64) {
        self.changed_at[block as usize] = now;
    }

    fn choose(&mut self, blocks: &Blocks, now: u64, _random: &mut Stream) -> Option<u32> {
        if self.candidates.is_empty() {
            return None;
        }
        self.show(blocks);
        let candidates = Candidates {
            blocks: &self.candidates,
            invalid_pages: &self.shown.invalid_pages,
            closed_at: &self.shown.closed_at,
            changed_at: &self.shown.changed_at,
            now,
        };
        let answer = self.calls().choose(&candidates);
        let count = self.candidates.len();
        let failure = match answer {
            Ok(at) if (at as u64) < count as u64 => {
                return Some(self.candidates.remove(at as usize));
            }
            Ok(at) => Failure::of(format!(
                "returned {at}, but there are {count} candidates, numbered from 0; return one of \
                 these numbers"
            )),
            Err(failure) => failure,
        };
        self.fail(now, failure);
        None
    }

    fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    fn forget(&mut self, block: u32, _invalid_pages: u32) {
        self.remove(block);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        let are_past = |times: &[u64]| times.iter().all(|&at| at <= census.now());
        require(are_past(&self.closed_at), "the closing time of a block")?;
        require(are_past(&self.changed_at), "the time of the last change of a block")?;
        census.count_all(&self.candidates)?;
        let closed_at = |block: &u32| self.closed_at[*block as usize];
        require(self.candidates.is_sorted_by_key(closed_at), "the order of candidates")
    }
}

impl State for CustomVictims {
    fn save(&self, to: &mut Writer) {
        to.list(&self.candidates);
        to.table(&self.closed_at);
        to.table(&self.changed_at);
        if self.is_keeper {
            match self.calls().save() {
                Ok(bytes) => to.list(&bytes),
                Err(error) => to.refuse(error),
            }
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        from.list(&mut self.candidates, "the candidates of the victim policy")?;
        from.table(&mut self.closed_at, "the closing times of blocks")?;
        from.table(&mut self.changed_at, "the times of the last changes of blocks")?;
        if self.is_keeper {
            let mut bytes: Vec<u8> = Vec::new();
            from.list(&mut bytes, "the state of the victim policy")?;
            self.calls().restore(&bytes)?;
        }
        Ok(())
    }
}
