//! Reader of a saved state, which validates all data.

use std::collections::VecDeque;

use serde::de::DeserializeOwned;

use super::Element;
use crate::error::{Error, Result};

/// Reader of a state: the remaining bytes.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Builds a reader of the whole of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Reads a value of a type that serde supports.
    /// `what` names the value in errors, here and in the methods below.
    pub fn value<T: DeserializeOwned>(&mut self, what: &str) -> Result<T> {
        let (value, rest) =
            postcard::take_from_bytes(self.rest).map_err(|_| contradiction(what))?;
        self.rest = rest;
        Ok(value)
    }

    /// Reads a saved table into an allocated table of the same length.
    pub fn table<T: Element>(&mut self, items: &mut [T], what: &str) -> Result<()> {
        let bytes = self.take(items.len(), T::BYTES, what)?;
        let mut are_valid = true;
        for (item, bytes) in items.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
            match T::get(bytes) {
                Some(element) => *item = element,
                None => are_valid = false,
            }
        }
        if are_valid { Ok(()) } else { Err(contradiction(what)) }
    }

    /// Reads a list of any length.
    pub fn list<T: Element, L: List<T>>(&mut self, items: &mut L, what: &str) -> Result<()> {
        let mut count = [0u64];
        self.table(&mut count, what)?;
        let count = usize::try_from(count[0]).map_err(|_| contradiction(what))?;
        let bytes = self.take(count, T::BYTES, what)?;
        items.clear();
        items.make_room(count)?;
        for bytes in bytes.chunks_exact(T::BYTES) {
            items.push(T::get(bytes).ok_or_else(|| contradiction(what))?);
        }
        Ok(())
    }

    /// Returns an error if bytes remain.
    pub fn finish(self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(contradiction("its length")) }
    }

    fn take(&mut self, count: usize, each: usize, what: &str) -> Result<&'a [u8]> {
        let length = count.checked_mul(each).filter(|length| *length <= self.rest.len());
        let (taken, rest) = self.rest.split_at(length.ok_or_else(|| contradiction(what))?);
        self.rest = rest;
        Ok(taken)
    }
}

/// Collection that [`Reader::list`] fills.
pub trait List<T> {
    fn clear(&mut self);
    fn make_room(&mut self, items: usize) -> Result<()>;
    fn push(&mut self, item: T);
}

macro_rules! lists {
    ($($list:ident: $push:ident),+) => {
        $(impl<T> List<T> for $list<T> {
            fn clear(&mut self) {
                $list::clear(self);
            }

            fn make_room(&mut self, items: usize) -> Result<()> {
                self.try_reserve(items).map_err(|_| Error::OutOfMemory {
                    bytes: items as u64 * size_of::<T>() as u64,
                })
            }

            #[inline(always)]
            fn push(&mut self, item: T) {
                self.$push(item);
            }
        })+
    };
}

lists!(Vec: push, VecDeque: push_back);

/// Builds the error for a state that no drive can reach.
pub fn contradiction(what: &str) -> Error {
    Error::State(format!(
        "the state does not fit the drive: invalid value of {what}; save the state again with this \
         version of the engine"
    ))
}
