//! Writer of a saved state.

use serde::Serialize;

use super::Element;
use crate::error::Error;

/// Bytes of a table that are converted at once; a chunk fits in the first-level cache.
const CHUNK_BYTES: usize = 8 << 10;

/// Passes the bytes of `items` to `pass_on`, chunk by chunk.
fn in_chunks<T: Element>(items: &[T], mut pass_on: impl FnMut(&[u8])) {
    let mut chunk = [0; CHUNK_BYTES];
    for items in items.chunks(CHUNK_BYTES / T::BYTES) {
        for (item, bytes) in items.iter().zip(chunk.chunks_exact_mut(T::BYTES)) {
            item.put(bytes);
        }
        pass_on(&chunk[..items.len() * T::BYTES]);
    }
}

/// CRC-32 of tables that are too large to be saved, for an [`super::Identity`].
#[derive(Debug, Default)]
pub struct Checksum(crc32fast::Hasher);

impl Checksum {
    /// Adds a table, given as its length and its elements.
    pub fn add<T: Element>(&mut self, length: usize, items: impl Iterator<Item = T>) {
        self.0.update(&(length as u64).to_le_bytes());
        let mut chunk = [0; CHUNK_BYTES];
        let mut filled = 0;
        items.for_each(|item| {
            if filled + T::BYTES > CHUNK_BYTES {
                self.0.update(&chunk[..filled]);
                filled = 0;
            }
            item.put(&mut chunk[filled..filled + T::BYTES]);
            filled += T::BYTES;
        });
        self.0.update(&chunk[..filled]);
    }

    /// Checksum of all added tables.
    pub fn value(self) -> u32 {
        self.0.finalize()
    }
}

/// Writer of a state.
#[derive(Debug, Default)]
pub struct Writer {
    pub(super) bytes: Vec<u8>,
    pub(super) refused: Option<Error>,
}

impl Writer {
    /// Records the reason why the state cannot be saved; saving then fails.
    pub fn refuse(&mut self, why: Error) {
        self.refused.get_or_insert(why);
    }

    /// Writes a value of a type that serde supports.
    pub fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        let bytes = std::mem::take(&mut self.bytes);
        self.bytes = postcard::to_extend(value, bytes)
            .expect("sequences in a saved state must have a known length");
    }

    /// Writes a table whose length is known at restoration.
    pub fn table<T: Element>(&mut self, items: &[T]) {
        self.bytes.reserve(items.len() * T::BYTES);
        in_chunks(items, |bytes| self.bytes.extend_from_slice(bytes));
    }

    /// Writes a list of any length.
    pub fn list<'a, T: Element + 'a, L>(&mut self, items: &'a L)
    where
        &'a L: IntoIterator<Item = &'a T, IntoIter: ExactSizeIterator>,
    {
        let items = items.into_iter();
        let at = self.bytes.len() + size_of::<u64>();
        let count = items.len();
        self.table(&[count as u64]);
        self.bytes.resize(at + count * T::BYTES, 0);
        for (item, bytes) in items.zip(self.bytes[at..].chunks_exact_mut(T::BYTES)) {
            item.put(bytes);
        }
    }
}
