//! `SepBIT`: streams by the inferred remaining life of pages.
//!
//! Classes 1 to 6 of the paper are streams 0 to 5.

use std::collections::HashMap;

use super::{Collected, Hint, Scheme, Setup, Spec};

#[derive(Default)]
pub struct SepBit {
    written_at: HashMap<u32, u64>,
    /// Lifespans of the blocks of class 1 collected since the mean was last computed.
    lifespans: Vec<u64>,
    /// Sum of the last 16 lifespans, which is 16 times their mean ℓ.
    last_sixteen: Option<u64>,
}

impl SepBit {
    /// True if `age` is below `multiple`·ℓ; ℓ is infinite at first.
    fn is_below(&self, age: u64, multiple: u64) -> bool {
        self.last_sixteen.is_none_or(|sum| 16 * age < multiple * sum)
    }
}

impl Scheme for SepBit {
    fn read(_spec: &Spec, _setup: &Setup) -> Self {
        SepBit::default()
    }

    fn migration_stream(&self) -> usize {
        4
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        match self.written_at.insert(logical, now) {
            Some(previous_write) if self.is_below(now - previous_write, 1) => 0,
            _ => 1,
        }
    }

    fn collected(&mut self, victim: Collected) {
        if victim.stream == 0 {
            self.lifespans.push(victim.now - victim.opened);
        }
        if self.lifespans.len() == 16 {
            self.last_sixteen = Some(self.lifespans.drain(..).sum());
        }
    }

    fn on_unmapped(&mut self, logical: u32) {
        self.written_at.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        let age = victim.now - self.written_at[&logical];
        match victim.stream {
            0 => 2,
            _ if self.is_below(age, 4) => 3,
            _ if self.is_below(age, 16) => 4,
            _ => 5,
        }
    }
}
