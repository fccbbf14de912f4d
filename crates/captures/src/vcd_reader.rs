//! Value Change Dump, IEEE 1364: the changes after the header.
//!
//! A large capture is nearly all changes. The parser crate reads only two million changes per
//! second, so they are parsed here, in the buffer.

use std::io::{BufRead, Read};

use vcd::Parser;

use crate::capture::{Ending, Level, Listener};
use crate::error::{Error, Result, quoted};
use crate::source::Source;
use crate::vcd_header::{Declared, FS_A_PS};

const NO_CHANNEL: u32 = u32::MAX;
const MOST_WORD_BYTES: usize = 1 << 16;

/// Reads a capture.
pub fn read<R: Read>(mut source: Source<R>, listener: &mut impl Listener) -> Result<Ending> {
    let mut parser = Parser::new(&mut source);
    let declared = Declared::read(&mut parser)?;
    let line = parser.line();
    listener.start(&declared.header()?)?;
    let mut changes = Changes {
        codes: Codes::new(declared.codes()),
        clock: Clock { tick_fs: declared.tick_fs()?, now_ps: 0, rounded: 0 },
        expects: Expects::Any,
        start_ps: None,
        // The parser counts a line when it reads past its end.
        line: line + u64::from(source.last_byte() == Some(b'\n')),
    };
    let cut_tail = read_words(&mut source, &mut changes, listener)?;
    Ok(Ending {
        start_ps: changes.start_ps.unwrap_or(0),
        end_ps: changes.clock.now_ps,
        cut_tail: cut_tail || !matches!(changes.expects, Expects::Any),
        rounded_times: changes.clock.rounded,
    })
}

/// Passes each word to `changes`.
/// Returns true if no space follows the last word; that word is not passed.
fn read_words<R: Read>(
    source: &mut Source<R>,
    changes: &mut Changes,
    listener: &mut impl Listener,
) -> Result<bool> {
    let mut carried: Vec<u8> = Vec::new();
    loop {
        source.renew();
        let position = source.position();
        listener.progress(position)?;
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            return Ok(!carried.is_empty());
        }
        let mut rest = bytes;
        if !carried.is_empty() {
            let end = rest.iter().position(|byte| *byte <= b' ').unwrap_or(rest.len());
            carried.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
            if !rest.is_empty() {
                changes.word(&carried, listener)?;
                carried.clear();
            }
        }
        while let Some(start) = changes.skip_spaces(rest) {
            let Some(length) = rest[start..].iter().position(|byte| *byte <= b' ') else {
                carried.extend_from_slice(&rest[start..]);
                break;
            };
            changes.word(&rest[start..start + length], listener)?;
            rest = &rest[start + length..];
        }
        if carried.len() > MOST_WORD_BYTES {
            let what = format!("a word is longer than {} KiB", MOST_WORD_BYTES / 1024);
            return Err(Error::line(changes.line, what));
        }
        let length = bytes.len();
        source.consume(length);
    }
}

/// Kind of the next valid word.
enum Expects {
    Any,
    /// The code of a channel, after the value of a vector of one bit.
    Code(Level),
    /// Words of a comment, to its `$end`.
    EndOfComment,
}

struct Changes {
    codes: Codes,
    clock: Clock,
    expects: Expects,
    start_ps: Option<u64>,
    line: u64,
}

impl Changes {
    /// Skips to the next word, and counts lines.
    #[inline]
    fn skip_spaces(&mut self, bytes: &[u8]) -> Option<usize> {
        for (place, byte) in bytes.iter().enumerate() {
            // A NUL byte, frequent in damaged files, is treated as an empty word.
            if !byte.is_ascii_whitespace() {
                return Some(place);
            }
            self.line += u64::from(*byte == b'\n');
        }
        None
    }

    #[inline]
    fn word(&mut self, word: &[u8], listener: &mut impl Listener) -> Result<()> {
        let result = match (&self.expects, word) {
            (Expects::Any, [b'#', digits @ ..]) => self.go_to(digits),
            (Expects::Any, [value, code @ ..]) if level_of(*value).is_some() => {
                self.change(level_of(*value).unwrap_or(Level::Unknown), code, listener)
            }
            _ => self.rare_word(word, listener),
        };
        result.map_err(|what| Error::line(self.line, what))
    }

    fn rare_word(
        &mut self,
        word: &[u8],
        listener: &mut impl Listener,
    ) -> std::result::Result<(), String> {
        if let Expects::EndOfComment = self.expects {
            if word == b"$end" {
                self.expects = Expects::Any;
            }
            return Ok(());
        }
        match (&self.expects, word) {
            (Expects::Code(level), code) => {
                let level = *level;
                self.expects = Expects::Any;
                self.change(level, code, listener)?;
            }
            (Expects::Any, b"$comment") => self.expects = Expects::EndOfComment,
            (Expects::Any, b"$end" | b"$dumpvars" | b"$dumpall" | b"$dumpon" | b"$dumpoff") => {}
            (Expects::Any, [b'b' | b'B', bit]) if level_of(*bit).is_some() => {
                self.expects = Expects::Code(level_of(*bit).unwrap_or(Level::Unknown));
            }
            (_, word) => {
                return Err(format!(
                    "{} is not a change; valid are #TIME, and 0, 1, x or z with the code of a wire",
                    quoted(word)
                ));
            }
        }
        Ok(())
    }

    #[inline]
    fn go_to(&mut self, digits: &[u8]) -> std::result::Result<(), String> {
        self.clock.go_to(digits)?;
        self.start_ps.get_or_insert(self.clock.now_ps);
        Ok(())
    }

    #[inline]
    fn change(
        &mut self,
        level: Level,
        code: &[u8],
        listener: &mut impl Listener,
    ) -> std::result::Result<(), String> {
        let channel = self
            .codes
            .channel(code)
            .ok_or_else(|| format!("the code {} was not declared by any $var", quoted(code)))?;
        listener.change(self.clock.now_ps, channel, level);
        Ok(())
    }
}

fn level_of(value: u8) -> Option<Level> {
    match value {
        b'0' => Some(Level::Low),
        b'1' => Some(Level::High),
        b'x' | b'X' | b'z' | b'Z' => Some(Level::Unknown),
        _ => None,
    }
}

struct Clock {
    tick_fs: u64,
    now_ps: u64,
    rounded: u64,
}

impl Clock {
    /// Advances to a time in ticks, or returns the error.
    #[inline]
    fn go_to(&mut self, digits: &[u8]) -> std::result::Result<(), String> {
        let ticks = number(digits).ok_or_else(|| {
            format!("the time #{} is not a whole number of ticks", String::from_utf8_lossy(digits))
        })?;
        let exact_fs = u128::from(ticks) * u128::from(self.tick_fs);
        let time_ps = if self.tick_fs.is_multiple_of(FS_A_PS) {
            ticks.checked_mul(self.tick_fs / FS_A_PS)
        } else {
            self.rounded += u64::from(!exact_fs.is_multiple_of(u128::from(FS_A_PS)));
            u64::try_from(exact_fs / u128::from(FS_A_PS)).ok()
        };
        let time_ps = time_ps.ok_or_else(|| {
            format!("#{ticks} is later than 213 days, the longest time that is supported")
        })?;
        if time_ps < self.now_ps {
            return Err(format!("#{ticks} is earlier than the time before it; times may not fall"));
        }
        self.now_ps = time_ps;
        Ok(())
    }
}

#[inline]
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Channels by their code.
/// Nearly all codes have one character, so these have a table of their own.
struct Codes {
    short: [u32; 256],
    long: Vec<(Vec<u8>, usize)>,
}

impl Codes {
    fn new(codes: impl Iterator<Item = String>) -> Self {
        let mut sorted = Codes { short: [NO_CHANNEL; 256], long: Vec::new() };
        for (channel, code) in codes.enumerate() {
            match code.as_bytes() {
                [byte] => sorted.short[usize::from(*byte)] = channel as u32,
                longer => sorted.long.push((longer.to_vec(), channel)),
            }
        }
        sorted.long.sort_unstable();
        sorted
    }

    #[inline]
    fn channel(&self, code: &[u8]) -> Option<usize> {
        if let [byte] = code {
            let channel = self.short[usize::from(*byte)];
            return (channel != NO_CHANNEL).then_some(channel as usize);
        }
        let place = self.long.binary_search_by(|(other, _)| other.as_slice().cmp(code)).ok()?;
        Some(self.long[place].1)
    }
}
