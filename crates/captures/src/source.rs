//! Buffered reader of a file, with its position and a memory limit.

use std::io::{self, BufRead, Read};

const BUFFER_BYTES: usize = 1 << 16;
/// Largest number of buffers that one line, token or command may fill: 1 MiB in total.
/// Usual lines, tokens and commands have tens of bytes.
const MOST_REFILLS: u32 = 16;

/// Reader of a file. [`Source::renew`] starts a line, token or command.
pub struct Source<R> {
    inner: R,
    buffer: Box<[u8]>,
    at: usize,
    filled: usize,
    before_buffer: u64,
    refills: u32,
}

impl<R: Read> Source<R> {
    /// Creates a reader of `inner`.
    pub fn new(inner: R) -> Self {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Source { inner, buffer, at: 0, filled: 0, before_buffer: 0, refills: 0 }
    }

    /// Number of bytes read so far.
    pub fn position(&self) -> u64 {
        self.before_buffer + self.at as u64
    }

    /// Restarts the limit for a line, token or command.
    #[inline]
    pub fn renew(&mut self) {
        self.refills = 0;
    }

    /// Last byte read.
    pub fn last_byte(&self) -> Option<u8> {
        self.buffer[..self.at].last().copied()
    }

    /// Returns the underlying reader, at its current position.
    pub fn into_inner(self) -> R {
        self.inner
    }

    fn refill(&mut self) -> io::Result<()> {
        self.refills += 1;
        if self.refills > MOST_REFILLS {
            let most_kib = MOST_REFILLS as usize * BUFFER_BYTES / 1024;
            let what = format!("one line or command is longer than {most_kib} KiB");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        self.before_buffer += self.filled as u64;
        (self.at, self.filled) = (0, 0);
        self.filled = loop {
            match self.inner.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        Ok(())
    }
}

impl<R: Read> Read for Source<R> {
    #[inline]
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.filled {
            self.refill()?;
        }
        // Fast path for parsers that read single bytes.
        if let ([slot], Some(byte)) = (&mut *out, self.buffer[..self.filled].get(self.at)) {
            *slot = *byte;
            self.at += 1;
            return Ok(1);
        }
        let count = out.len().min(self.filled - self.at);
        out[..count].copy_from_slice(&self.buffer[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

impl<R: Read> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.filled {
            self.refill()?;
        }
        Ok(&self.buffer[self.at..self.filled])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}
