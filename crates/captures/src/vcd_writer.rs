//! Value Change Dump, written change by change.

use std::io::{self, Write};

use vcd::{IdCode, TimescaleUnit, Value, Writer};

use crate::capture::Level;
use crate::error::{Error, Result};

/// Writer of a capture. The first edges, at its start, set the initial level of each channel.
pub struct VcdWriter<W: Write> {
    inner: Writer<W>,
    codes: Vec<IdCode>,
    timescale_ps: u64,
    ticks: Option<u64>,
}

fn failed(error: &io::Error) -> Error {
    Error::Setting(format!("cannot write the capture: {error}"))
}

impl<W: Write> VcdWriter<W> {
    /// Begins a capture.
    ///
    /// `out` should be buffered. `timescale_ps` must be a power of ten, from 1 ps to 100 s. Each
    /// comment is a line of the header.
    pub fn new(
        out: W,
        channels: &[String],
        timescale_ps: u64,
        comments: &[String],
    ) -> Result<Self> {
        let (number, unit) = timescale(timescale_ps)?;
        if let Some(bad) = channels.iter().find(|name| !is_name(name)) {
            return Err(Error::Setting(format!(
                "the channel {bad:?} cannot be named so in a VCD; a name must have neither spaces \
                 nor control characters, and must not be empty or begin with [ or $"
            )));
        }
        let mut inner = Writer::new(out);
        let codes =
            begin(&mut inner, channels, (number, unit), comments).map_err(|e| failed(&e))?;
        Ok(VcdWriter { inner, codes, timescale_ps, ticks: None })
    }

    /// Sets a channel to a level from a time on, which must not decrease.
    ///
    /// The time is truncated to the timescale.
    pub fn edge(&mut self, time_ps: u64, channel: usize, level: Level) -> Result<()> {
        let Some(code) = self.codes.get(channel).copied() else {
            return Err(Error::Setting(format!(
                "unknown channel {channel}; valid are 0 to {}",
                self.codes.len().saturating_sub(1)
            )));
        };
        self.go_to(time_ps)?;
        let value = match level {
            Level::Low => Value::V0,
            Level::High => Value::V1,
            Level::Unknown => Value::X,
        };
        self.inner.change_scalar(code, value).map_err(|e| failed(&e))
    }

    /// Ends the capture at a time and flushes the output.
    pub fn finish(mut self, end_ps: u64) -> Result<()> {
        self.go_to(end_ps)?;
        self.inner.flush().map_err(|e| failed(&e))
    }

    fn go_to(&mut self, time_ps: u64) -> Result<()> {
        let ticks = time_ps / self.timescale_ps;
        if self.ticks == Some(ticks) {
            return Ok(());
        }
        if self.ticks.is_some_and(|last| ticks < last) {
            return Err(Error::Setting(format!(
                "the edge at {time_ps} ps is earlier than the one before it; edges must be in order"
            )));
        }
        self.ticks = Some(ticks);
        self.inner.timestamp(ticks).map_err(|e| failed(&e))
    }
}

fn begin<W: Write>(
    inner: &mut Writer<W>,
    channels: &[String],
    (number, unit): (u32, TimescaleUnit),
    comments: &[String],
) -> io::Result<Vec<IdCode>> {
    for comment in comments {
        // A literal $end would end the comment.
        inner.comment(&comment.replace("$end", "$ end"))?;
    }
    inner.timescale(number, unit)?;
    inner.add_module("ready_busy")?;
    let codes = channels.iter().map(|name| inner.add_wire(1, name)).collect::<io::Result<_>>()?;
    inner.upscope()?;
    inner.enddefinitions()?;
    Ok(codes)
}

fn is_name(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_graphic());
    plain && !name.is_empty() && !name.starts_with(['[', '$'])
}

fn timescale(timescale_ps: u64) -> Result<(u32, TimescaleUnit)> {
    let units = [
        (1, TimescaleUnit::PS),
        (1_000, TimescaleUnit::NS),
        (1_000_000, TimescaleUnit::US),
        (1_000_000_000, TimescaleUnit::MS),
        (1_000_000_000_000, TimescaleUnit::S),
    ];
    units
        .into_iter()
        .flat_map(|(unit_ps, unit)| [1u32, 10, 100].map(|n| (u64::from(n) * unit_ps, n, unit)))
        .find(|(found_ps, ..)| *found_ps == timescale_ps)
        .map(|(_, number, unit)| (number, unit))
        .ok_or_else(|| {
            Error::Setting(format!(
                "the timescale is {timescale_ps} ps; it must be 1, 10 or 100 of ps, ns, us, ms or s"
            ))
        })
}
