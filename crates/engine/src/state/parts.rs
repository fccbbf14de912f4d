//! States of boxes, options, vectors and arrays of parts.
//! There are as many parts as there were when these were built.

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
        if let Some(part) = self {
            part.save(to);
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.iter_mut().try_for_each(|part| part.restore(from))
    }
}

impl<T: State> State for [T] {
    fn save(&self, to: &mut Writer) {
        for part in self {
            part.save(to);
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.iter_mut().try_for_each(|part| part.restore(from))
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
