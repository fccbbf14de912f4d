//! Saleae Logic 2's CSV: `Time [s]` and a column for each channel, a row for each change.

use std::io::Read;

use csv::{ByteRecord, ReaderBuilder};

use crate::capture::{Ending, Format, Header, Level, Listener};
use crate::error::{Error, Result, quoted};
use crate::seconds::decimal;
use crate::source::Source;

const ROWS_BETWEEN_PROGRESS: u64 = 1 << 16;
/// Longest row in bytes; a file with longer rows is not a capture.
const MOST_FIELD_BYTES: usize = 1 << 16;

/// Reads a capture.
///
/// Times may start below 0 (before a trigger); they are counted from the first row.
pub fn read<R: Read>(source: Source<R>, listener: &mut impl Listener) -> Result<Ending> {
    let mut rows = ReaderBuilder::new().flexible(true).from_reader(Bounded(source));
    let labels = rows.byte_headers().map_err(|error| damaged(&error, 1))?.clone();
    let mut names = labels.iter().map(|label| String::from_utf8_lossy(label).into_owned());
    let time = names.next().unwrap_or_default();
    if time.trim_start_matches('\u{feff}') != "Time [s]" {
        let what = format!(
            "the first column is {}; it must be Time [s], as Logic 2 exports it",
            quoted(time.as_bytes())
        );
        return Err(Error::line(1, what));
    }
    let channels: Vec<String> = names.collect();
    let columns = channels.len();
    listener.start(&Header::new(Format::SaleaeCsv, channels, None)?)?;
    let mut changes =
        Changes { columns, origin: None, last: Vec::new(), ending: Ending::default() };
    let mut row = ByteRecord::new();
    let mut number: u64 = 0;
    while read_row(&mut rows, &mut row)? {
        changes.take(&row, listener)?;
        number += 1;
        if number.is_multiple_of(ROWS_BETWEEN_PROGRESS) {
            listener.progress(rows.position().byte())?;
        }
    }
    if changes.origin.is_none() {
        return Err(Error::line(1, "the file ends before its first row"));
    }
    Ok(changes.ending)
}

/// A source whose limit restarts at each refill: the length of rows is checked elsewhere.
struct Bounded<R>(Source<R>);

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.0.renew();
        self.0.read(out)
    }
}

fn read_row<R: Read>(rows: &mut csv::Reader<Bounded<R>>, row: &mut ByteRecord) -> Result<bool> {
    let line = rows.position().line();
    let has_row = rows.read_byte_record(row).map_err(|error| damaged(&error, line))?;
    if row.as_slice().len() > MOST_FIELD_BYTES {
        let what = format!("the row is longer than {} KiB", MOST_FIELD_BYTES / 1024);
        return Err(Error::line(line, what));
    }
    Ok(has_row)
}

fn damaged(error: &csv::Error, line: u64) -> Error {
    Error::line(error.position().map_or(line, csv::Position::line), format!("{error}"))
}

struct Changes {
    columns: usize,
    origin: Option<i128>,
    last: Vec<u8>,
    ending: Ending,
}

impl Changes {
    fn take(&mut self, row: &ByteRecord, listener: &mut impl Listener) -> Result<()> {
        let line = row.position().map_or(0, csv::Position::line);
        let at = |what: String| Error::line(line, what);
        if row.len() != self.columns + 1 {
            return Err(at(format!(
                "the row has {} fields; it must have {}, a time and a level for each channel",
                row.len(),
                self.columns + 1
            )));
        }
        let time_ps = self.time_ps(&row[0]).map_err(at)?;
        for channel in 0..self.columns {
            let level = match &row[channel + 1] {
                b"0" => b'0',
                b"1" => b'1',
                other => {
                    let what = format!("a level is {}; it must be 0 or 1", quoted(other));
                    return Err(at(what));
                }
            };
            if self.last.get(channel) != Some(&level) {
                listener.change(time_ps, channel, Level::of(level == b'1'));
            }
            if self.last.len() == channel {
                self.last.push(level);
            } else {
                self.last[channel] = level;
            }
        }
        Ok(())
    }

    fn time_ps(&mut self, text: &[u8]) -> std::result::Result<u64, String> {
        let time = decimal(text).ok_or_else(|| {
            format!("the time is {}; it must be seconds, such as 0.000125", quoted(text))
        })?;
        let origin = *self.origin.get_or_insert(time.value);
        let time_ps = u64::try_from(time.value - origin).ok().filter(|t| *t >= self.ending.end_ps);
        let time_ps = time_ps.ok_or_else(|| {
            format!(
                "the time {} is earlier than that of the row before it, or over 213 days after the \
                 first; times must ascend within 213 days",
                quoted(text)
            )
        })?;
        self.ending.rounded_times += u64::from(time.rounded);
        self.ending.end_ps = time_ps;
        Ok(time_ps)
    }
}
