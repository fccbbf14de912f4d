//! `SepGC`: a stream for the pages of the host, and a stream for migrated pages.

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct SepGc;

impl Scheme for SepGc {
    fn read(_spec: &Spec, _setup: &Setup) -> Self {
        SepGc
    }

    fn migration_stream(&self) -> usize {
        1
    }

    fn host(&mut self, _logical: u32, _now: u64, _hint: Hint) -> usize {
        0
    }

    fn migrated(&mut self, _logical: u32, _victim: Collected) -> usize {
        1
    }
}
