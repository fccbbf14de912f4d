//! Reader of Saleae Logic 2's binary export, version 0, which has a file for each channel.

use std::fs::{File, read_dir};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::capture::{Ending, Format, Header, Level, Listener};
use crate::error::{Error, Result};
use crate::source::Source;

const MAGIC: &[u8; 8] = b"<SALEAE>";
const DIGITAL: i32 = 0;
const CHANGES_BETWEEN_PROGRESS: u64 = 1 << 18;
const PS_A_S: f64 = 1e12;
/// Longest time of a capture, 208 days. It is a little below 2⁶⁴ ps, which is 213 days.
const LONGEST_S: f64 = 1.8e7;

/// Reads a file.
pub fn read<R: Read>(
    mut source: Source<R>,
    name: String,
    listener: &mut impl Listener,
) -> Result<Ending> {
    let head = Head::read(&mut source)?;
    listener.start(&Header::new(Format::SaleaeBinary, vec![name], None)?)?;
    read_changes(&mut source, &head, head.begin_s, 0, 0, listener)
}

/// Reads a folder of files `digital_N.bin`, ordered by N.
pub fn read_folder(folder: &Path, listener: &mut impl Listener) -> Result<Ending> {
    let mut files: Vec<(u32, PathBuf)> = Vec::new();
    for entry in read_dir(folder)? {
        let path = entry?.path();
        if let Some(number) = number_of(&path) {
            files.push((number, path));
        }
    }
    files.sort_unstable();
    if files.is_empty() {
        let what = "the folder has no digital_N.bin, as Logic 2's binary export names its files";
        return Err(Error::whole(what));
    }
    let channels = files.iter().map(|(number, _)| format!("Channel {number}")).collect();
    listener.start(&Header::new(Format::SaleaeBinary, channels, None)?)?;
    let mut read = Ending::default();
    let (mut origin_s, mut bytes) = (None, 0);
    for (channel, (_, path)) in files.iter().enumerate() {
        let of_file = |error: Error| error.of_file(path);
        let mut source = Source::new(File::open(path).map_err(|e| of_file(e.into()))?);
        let head = Head::read(&mut source).map_err(of_file)?;
        let origin_s = *origin_s.get_or_insert(head.begin_s);
        let ending = read_changes(&mut source, &head, origin_s, channel, bytes, listener);
        let ending = ending.map_err(of_file)?;
        bytes += source.position();
        if channel > 0 && ending.end_ps != read.end_ps {
            let what = "the channel ends at another time than the previous channels; files of one \
                capture end together";
            return Err(of_file(Error::whole(what)));
        }
        read = ending;
    }
    Ok(read)
}

/// Channel name of a file.
pub fn channel_of(path: &Path) -> String {
    match number_of(path) {
        Some(number) => format!("Channel {number}"),
        None => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

fn number_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix("digital_")?.strip_suffix(".bin")?.parse().ok()
}

struct Head {
    is_high: bool,
    begin_s: f64,
    end_s: f64,
    changes: u64,
}

impl Head {
    fn read<R: Read>(source: &mut Source<R>) -> Result<Self> {
        if &bytes::<8, R>(source)? != MAGIC {
            return Err(Error::byte(0, "the file does not begin with <SALEAE>"));
        }
        let version = i32::from_le_bytes(bytes(source)?);
        if version != 0 {
            return Err(Error::byte(
                8,
                format!(
                    "the file is version {version} of Saleae's binary export; version 0 is read, so export \
                 the capture as CSV"
                ),
            ));
        }
        let kind = i32::from_le_bytes(bytes(source)?);
        if kind != DIGITAL {
            return Err(Error::byte(
                12,
                format!("the file is of type {kind}; only digital channels (type 0) can be read"),
            ));
        }
        let initial = u32::from_le_bytes(bytes(source)?);
        if initial > 1 {
            return Err(Error::byte(
                16,
                format!("the first level is {initial}; it must be 0 or 1"),
            ));
        }
        let begin_s = f64::from_le_bytes(bytes(source)?);
        let end_s = f64::from_le_bytes(bytes(source)?);
        let changes = u64::from_le_bytes(bytes(source)?);
        if !(begin_s.abs() < LONGEST_S && end_s.abs() < LONGEST_S && end_s >= begin_s) {
            return Err(Error::byte(
                20,
                format!(
                    "the capture lasts from {begin_s} s to {end_s} s; the end must not be before the \
                 beginning"
                ),
            ));
        }
        Ok(Head { is_high: initial == 1, begin_s, end_s, changes })
    }
}

fn read_changes<R: Read>(
    source: &mut Source<R>,
    head: &Head,
    origin_s: f64,
    channel: usize,
    bytes_before: u64,
    listener: &mut impl Listener,
) -> Result<Ending> {
    // Times are rounded because binary floating-point seconds are inexact.
    let ps_of = |time_s: f64| ((time_s - origin_s) * PS_A_S).round() as u64;
    let mut level = head.is_high;
    let mut last_s = head.begin_s;
    listener.change(ps_of(last_s), channel, Level::of(level));
    for number in 0..head.changes {
        let at = source.position();
        let time_s = f64::from_le_bytes(bytes(source)?);
        if !(last_s <= time_s && time_s <= head.end_s) {
            return Err(Error::byte(
                at,
                format!(
                    "change {number} is at {time_s} s; it must lie from {last_s} s, that of the change \
                 before it, to {} s, the end",
                    head.end_s
                ),
            ));
        }
        (last_s, level) = (time_s, !level);
        listener.change(ps_of(time_s), channel, Level::of(level));
        if number % CHANGES_BETWEEN_PROGRESS == 0 {
            listener.progress(bytes_before + source.position())?;
        }
    }
    let at = source.position();
    if source.read(&mut [0])? > 0 {
        let what = format!("the file continues after its {} changes", head.changes);
        return Err(Error::byte(at, what));
    }
    Ok(Ending { end_ps: ps_of(head.end_s), ..Ending::default() })
}

fn bytes<const N: usize, R: Read>(source: &mut Source<R>) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    source.renew();
    source.read_exact(&mut bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => {
            Error::byte(source.position(), "the file has fewer changes than its header states")
        }
        _ => Error::from(error),
    })?;
    Ok(bytes)
}
