//! sigrok's session files (.sr), version 2: a zip file with metadata and samples in chunks.

use std::io::{Read, Seek};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::capture::{Ending, Format, Header, Level, Listener};
use crate::error::{Error, Result, quoted};
use crate::seconds::Rate;

const CHUNK_BYTES: usize = 1 << 16;
const MOST_METADATA_BYTES: u64 = 1 << 20;
/// Bytes of samples that are compared at once with copies of the last sample.
const COMPARED_BYTES: usize = 512;
/// Bytes of the widest sample: sigrok has no analysers with more than 64 channels.
const MOST_UNIT_BYTES: usize = 8;

/// Reads a capture.
pub fn read<R: Read + Seek>(file: R, listener: &mut impl Listener) -> Result<Ending> {
    let mut archive = ZipArchive::new(file)
        .map_err(|error| Error::whole(format!("the zip file is damaged or cut short: {error}")))?;
    let version = text_of(&mut archive, "version")?;
    if version.trim() != "2" {
        return Err(Error::whole(format!(
            "the file is a sigrok session of version {}; only version 2 can be read",
            quoted(version.as_bytes())
        )));
    }
    let metadata = Metadata::parse(&text_of(&mut archive, "metadata")?)?;
    let chunks = chunks_of(&archive, &metadata.capture_file)?;
    let channels = metadata.probes.iter().map(|(_, name)| name.clone()).collect();
    listener.start(&Header::new(
        Format::SigrokSession,
        channels,
        Some(metadata.rate.period_ps()),
    )?)?;
    let mut samples = Samples::new(&metadata);
    for chunk in chunks {
        read_chunk(&mut archive, &chunk, &mut samples, listener)?;
    }
    samples.ending()
}

fn in_zip(name: &str, error: &ZipError) -> Error {
    Error::whole(format!("cannot read '{name}' in the zip file: {error}"))
}

fn text_of<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> Result<String> {
    let entry = archive.by_name(name).map_err(|error| match error {
        ZipError::FileNotFound => Error::whole(format!(
            "the file is a zip file without '{name}'; a sigrok session has version, metadata and samples"
        )),
        other => in_zip(name, &other),
    })?;
    let mut text = String::new();
    entry
        .take(MOST_METADATA_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| in_zip(name, &ZipError::Io(error)))?;
    Ok(text)
}

/// Names of the sample files in numeric order: `logic-1`, or `logic-1-1`, …
fn chunks_of<R: Read + Seek>(archive: &ZipArchive<R>, capture_file: &str) -> Result<Vec<String>> {
    let prefix = format!("{capture_file}-");
    let names: Vec<_> = archive.file_names().filter_map(std::result::Result::ok).collect();
    let number = |name: &str| name.strip_prefix(&prefix)?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| number(name)).collect();
    numbers.sort_unstable();
    if numbers.is_empty() && names.iter().any(|name| name == capture_file) {
        return Ok(vec![capture_file.to_owned()]);
    }
    if numbers.is_empty() {
        let what = format!("the session has no samples: neither '{capture_file}' nor '{prefix}1'");
        return Err(Error::whole(what));
    }
    if let Some(missing) =
        (1..).zip(&numbers).find_map(|(due, number)| (due != *number).then_some(due))
    {
        return Err(Error::whole(format!(
            "'{prefix}{missing}' is missing, or occurs twice, among the {} chunks of samples",
            numbers.len()
        )));
    }
    Ok(numbers.into_iter().map(|number| format!("{prefix}{number}")).collect())
}

fn read_chunk<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    name: &str,
    samples: &mut Samples,
    listener: &mut impl Listener,
) -> Result<()> {
    let mut entry = archive.by_name(name).map_err(|error| in_zip(name, &error))?;
    // 840 bytes are a multiple of every sample width up to 8 bytes, so no sample is split.
    let mut buffer = vec![0; CHUNK_BYTES / 840 * 840];
    loop {
        let filled =
            fill(&mut entry, &mut buffer).map_err(|error| in_zip(name, &ZipError::Io(error)))?;
        samples.take(&buffer[..filled], listener)?;
        listener.progress(samples.bytes)?;
        if filled < buffer.len() {
            return Ok(());
        }
    }
}

fn fill(from: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

#[derive(Debug)]
struct Metadata {
    capture_file: String,
    unit_bytes: usize,
    rate: Rate,
    /// Bits of a sample and the names of the probes (channels) that they record.
    probes: Vec<(usize, String)>,
}

impl Metadata {
    fn parse(text: &str) -> Result<Self> {
        let (mut capture_file, mut unit_bytes, mut rate) = (None, None, None);
        let mut probes = Vec::new();
        let mut devices = 0;
        for line in text.lines().map(str::trim) {
            if line.starts_with("[device") {
                devices += 1;
            }
            let Some((key, value)) = line.split_once('=').map(|(k, v)| (k.trim(), v.trim())) else {
                continue;
            };
            match key {
                "capturefile" => capture_file = Some(value.to_owned()),
                "unitsize" => unit_bytes = Some(unit_of(value)?),
                "samplerate" => {
                    rate = Some(Rate::parse(value).ok_or_else(|| rate_refused(value))?);
                }
                _ => {
                    if let Some(number) = key.strip_prefix("probe").and_then(|n| n.parse().ok()) {
                        probes.push((number, value.to_owned()));
                    }
                }
            }
        }
        if devices > 1 {
            return Err(Error::whole(format!(
                "the session has {devices} devices; it must have exactly one"
            )));
        }
        let lacks = |key: &str| Error::whole(format!("its metadata lacks {key}"));
        let unit_bytes = unit_bytes.ok_or_else(|| lacks("unitsize"))?;
        Ok(Metadata {
            capture_file: capture_file.ok_or_else(|| lacks("capturefile"))?,
            unit_bytes,
            rate: rate.ok_or_else(|| lacks("samplerate"))?,
            probes: bits_of(probes, unit_bytes)?,
        })
    }
}

fn unit_of(value: &str) -> Result<usize> {
    value.parse().ok().filter(|bytes| (1..=MOST_UNIT_BYTES).contains(bytes)).ok_or_else(|| {
        let shown = quoted(value.as_bytes());
        Error::whole(format!("unitsize is {shown}; it must be 1 to {MOST_UNIT_BYTES} bytes"))
    })
}

/// Error for an invalid sampling rate.
pub fn rate_refused(value: &str) -> Error {
    Error::whole(format!(
        "the samplerate is {}; it must be a rate such as 10 MHz, or its number of Hz",
        quoted(value.as_bytes())
    ))
}

/// Bits of the probes: probe N is bit N − 1.
fn bits_of(mut probes: Vec<(usize, String)>, unit_bytes: usize) -> Result<Vec<(usize, String)>> {
    probes.sort_unstable();
    for pair in probes.windows(2) {
        if pair[0].0 == pair[1].0 {
            return Err(Error::whole(format!("probe{} is named twice", pair[0].0)));
        }
    }
    if let Some((bad, _)) = probes.iter().find(|(n, _)| !(1..=8 * unit_bytes).contains(n)) {
        return Err(Error::whole(format!(
            "probe{bad} has no bit in samples of {unit_bytes} bytes; valid are 1 to {}",
            8 * unit_bytes
        )));
    }
    Ok(probes.into_iter().map(|(number, name)| (number - 1, name)).collect())
}

/// Decoder of raw samples, most of which equal the previous one.
struct Samples {
    unit_bytes: usize,
    rate: Rate,
    bits: Vec<usize>,
    mask: u64,
    last: Option<u64>,
    repeated: [u8; COMPARED_BYTES],
    compared: usize,
    count: u64,
    bytes: u64,
}

impl Samples {
    fn new(metadata: &Metadata) -> Self {
        let bits: Vec<usize> = metadata.probes.iter().map(|(bit, _)| *bit).collect();
        Samples {
            unit_bytes: metadata.unit_bytes,
            rate: metadata.rate,
            mask: bits.iter().fold(0, |mask, bit| mask | 1 << bit),
            bits,
            last: None,
            repeated: [0; COMPARED_BYTES],
            compared: COMPARED_BYTES / metadata.unit_bytes * metadata.unit_bytes,
            count: 0,
            bytes: 0,
        }
    }

    fn take(&mut self, bytes: &[u8], listener: &mut impl Listener) -> Result<()> {
        if !bytes.len().is_multiple_of(self.unit_bytes) {
            return Err(Error::byte(
                self.bytes + bytes.len() as u64,
                format!("the samples end within one of {} bytes", self.unit_bytes),
            ));
        }
        self.time_ps(bytes.len() as u64 / self.unit_bytes as u64)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Some((same, after)) = rest.split_at_checked(self.compared)
                && self.last.is_some()
                && same == &self.repeated[..self.compared]
            {
                self.count += (self.compared / self.unit_bytes) as u64;
                rest = after;
                continue;
            }
            let (block, after) = rest.split_at(self.compared.min(rest.len()));
            for sample in block.chunks_exact(self.unit_bytes) {
                self.sample(sample, listener)?;
            }
            rest = after;
        }
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    #[inline]
    fn sample(&mut self, bytes: &[u8], listener: &mut impl Listener) -> Result<()> {
        let mut whole = [0; MOST_UNIT_BYTES];
        whole[..bytes.len()].copy_from_slice(bytes);
        let sample = u64::from_le_bytes(whole);
        let changed = self.last.map_or(self.mask, |last| (last ^ sample) & self.mask);
        if changed != 0 {
            let time_ps = self.time_ps(0)?;
            for (channel, bit) in self.bits.iter().enumerate() {
                if changed >> bit & 1 == 1 {
                    listener.change(time_ps, channel, Level::of(sample >> bit & 1 == 1));
                }
            }
        }
        if self.last != Some(sample) {
            self.last = Some(sample);
            for copy in self.repeated[..self.compared].chunks_exact_mut(self.unit_bytes) {
                copy.copy_from_slice(bytes);
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Time of the sample that is `more` samples after the current one.
    fn time_ps(&self, more: u64) -> Result<u64> {
        self.rate.time_ps(self.count + more).ok_or_else(|| {
            Error::byte(
                self.bytes,
                "the capture is longer than 213 days, the longest that is supported",
            )
        })
    }

    fn ending(&self) -> Result<Ending> {
        if self.count == 0 {
            return Err(Error::whole("the session has no samples: its chunks are empty"));
        }
        Ok(Ending { end_ps: self.time_ps(0)?, ..Ending::default() })
    }
}
