//! Single: one stream for all pages.

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct Single;

impl Scheme for Single {
    fn read(_spec: &Spec, _setup: &Setup) -> Self {
        Single
    }

    fn migration_stream(&self) -> usize {
        1
    }

    fn host(&mut self, _logical: u32, _now: u64, _hint: Hint) -> usize {
        0
    }

    fn migrated(&mut self, _logical: u32, _victim: Collected) -> usize {
        0
    }
}
