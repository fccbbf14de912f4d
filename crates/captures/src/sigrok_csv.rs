//! sigrok's CSV: a header of comments, perhaps a line of labels, then a line for each sample.

use std::io::{BufRead, Read};

use crate::capture::{Ending, Format, Header, Level, Listener};
use crate::error::{Error, Result, quoted};
use crate::seconds::Rate;
use crate::sigrok_session::rate_refused;
use crate::source::Source;

const LINES_BETWEEN_PROGRESS: u64 = 1 << 18;

/// Reads a capture.
pub fn read<R: Read>(mut source: Source<R>, listener: &mut impl Listener) -> Result<Ending> {
    let mut lines = Lines { source: &mut source, line: Vec::new(), number: 0, is_whole: true };
    let (rate, labels) = read_comments(&mut lines)?;
    let rate = rate.ok_or_else(|| {
        Error::whole("the file has no comment '; Samplerate: …', so durations cannot be computed")
    })?;
    let columns = lines.line.split(|byte| *byte == b',').count();
    let is_labels = !is_sample(&lines.line);
    let channels = names(labels, is_labels.then_some(&lines.line[..]), columns);
    listener.start(&Header::new(Format::SigrokCsv, channels, Some(rate.period_ps()))?)?;
    if is_labels && !lines.next()? {
        return Err(Error::line(lines.number, "the file ends before its first sample"));
    }
    read_samples(&mut lines, columns, rate, listener)
}

/// Reads up to the first line that is not a comment.
fn read_comments<R: Read>(lines: &mut Lines<R>) -> Result<(Option<Rate>, Option<Vec<String>>)> {
    let (mut rate, mut labels) = (None, None);
    while lines.next()? {
        let Some(comment) = lines.line.strip_prefix(b";") else {
            return Ok((rate, labels));
        };
        let comment = String::from_utf8_lossy(comment);
        if let Some((key, value)) = comment.split_once(':') {
            let key = key.trim();
            if key == "Samplerate" {
                let value = value.trim();
                rate = Some(Rate::parse(value).ok_or_else(|| rate_refused(value))?);
            } else if key.starts_with("Channels") {
                labels = Some(value.split(',').map(|name| name.trim().to_owned()).collect());
            }
        }
    }
    Err(Error::line(lines.number, "the file ends within its header, before its first sample"))
}

fn is_sample(line: &[u8]) -> bool {
    line.split(|byte| *byte == b',').all(|field| matches!(field, b"0" | b"1"))
}

/// Channel names, from the comment or the line of labels. If both are missing, numbers.
fn names(comment: Option<Vec<String>>, line: Option<&[u8]>, columns: usize) -> Vec<String> {
    let line = line.map(|line| {
        let fields = line.split(|byte| *byte == b',');
        fields.map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect::<Vec<_>>()
    });
    let fits = |names: &Vec<String>| names.len() == columns;
    comment
        .filter(fits)
        .or(line)
        .unwrap_or_else(|| (0..columns).map(|number| format!("D{number}")).collect())
}

fn read_samples<R: Read>(
    lines: &mut Lines<R>,
    columns: usize,
    rate: Rate,
    listener: &mut impl Listener,
) -> Result<Ending> {
    let mut last: Vec<u8> = Vec::new();
    let mut samples: u64 = 0;
    let mut ending = Ending::default();
    loop {
        if !lines.is_whole && lines.line.len() < 2 * columns - 1 {
            ending.cut_tail = true;
            return Ok(ending);
        }
        let time_ps = ending.end_ps;
        if lines.line != last {
            check_sample(lines, columns)?;
            for (channel, value) in lines.line.iter().step_by(2).enumerate() {
                if last.get(2 * channel) != Some(value) {
                    listener.change(time_ps, channel, Level::of(*value == b'1'));
                }
            }
            last.clone_from(&lines.line);
        }
        samples += 1;
        ending.end_ps = rate.time_ps(samples).ok_or_else(|| {
            Error::line(
                lines.number,
                "the capture is longer than 213 days, the longest that is supported",
            )
        })?;
        if samples.is_multiple_of(LINES_BETWEEN_PROGRESS) {
            listener.progress(lines.source.position())?;
        }
        if !lines.next()? {
            return Ok(ending);
        }
    }
}

fn check_sample<R: Read>(lines: &Lines<R>, columns: usize) -> Result<()> {
    if is_sample(&lines.line) && lines.line.len() == 2 * columns - 1 {
        return Ok(());
    }
    let what = format!(
        "{} is not a sample; it must be {columns} of 0 or 1, separated by commas",
        quoted(&lines.line)
    );
    Err(Error::line(lines.number, what))
}

struct Lines<'a, R> {
    source: &'a mut Source<R>,
    line: Vec<u8>,
    number: u64,
    is_whole: bool,
}

impl<R: Read> Lines<'_, R> {
    /// Reads the next non-empty line without its end; false at the end of the file.
    fn next(&mut self) -> Result<bool> {
        loop {
            self.source.renew();
            self.line.clear();
            let read = self.source.read_until(b'\n', &mut self.line);
            read.map_err(|error| Error::line(self.number + 1, error.to_string()))?;
            if self.line.is_empty() {
                return Ok(false);
            }
            self.number += 1;
            self.is_whole = self.line.ends_with(b"\n");
            self.line.truncate(self.line.trim_ascii_end().len());
            if !self.line.is_empty() {
                return Ok(true);
            }
        }
    }
}
