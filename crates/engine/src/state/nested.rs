//! States of boxes, options, vectors and arrays of values with a state.
//! The number of values is set at construction, and is not saved.

use super::{Reader, State, Writer};
use crate::error::Result;

impl<T: State + ?Sized> State for Box<T> {
    fn save(&self, to: &mut Writer) {
        (**self).save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        (**self).restore(from)
    }
}

impl<T: State> State for Option<T> {
    fn save(&self, to: &mut Writer) {
        if let Some(state) = self {
            state.save(to);
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.iter_mut().try_for_each(|state| state.restore(from))
    }
}

impl<T: State> State for [T] {
    fn save(&self, to: &mut Writer) {
        for state in self {
            state.save(to);
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.iter_mut().try_for_each(|state| state.restore(from))
    }
}

impl<T: State> State for Vec<T> {
    fn save(&self, to: &mut Writer) {
        self[..].save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self[..].restore(from)
    }
}
