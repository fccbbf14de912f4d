//! Statistics of captures of Ready/Busy pins: durations, and counts over time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_captures::{
    BUCKETS, Channel, Durations, Ending, Error, Folding, Result, Timeline, read,
};

use crate::errors::WriteampError;
use crate::interruptible::interruptible_with;

/// Progress of reading a capture, and a flag to cancel it.
#[derive(Default)]
struct Watch {
    bytes: AtomicU64,
    cancelled: AtomicBool,
}

impl Watch {
    fn set_progress(&self, bytes: u64) -> Result<()> {
        self.bytes.store(bytes, Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Reads a capture.
///
/// A pin is busy while it is low, or while it is high if the capture is `inverted`. `progress` is
/// called regularly with the number of bytes read; if it raises an exception, the reading ends.
#[pyfunction]
#[pyo3(signature = (path, *, inverted, progress=None))]
pub fn read_capture<'py>(
    py: Python<'py>,
    path: PathBuf,
    inverted: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let watch = Arc::new(Watch::default());
    let reader = Arc::clone(&watch);
    let work = move || {
        let mut folding = Folding::new(inverted, |bytes| reader.set_progress(bytes));
        let ending = read(&path, &mut folding)?;
        folding.finish(&ending);
        Ok((folding.header().cloned(), Statistics::of(&folding), ending))
    };
    let report = |_: Python<'_>| match &progress {
        Some(progress) => progress.call1((watch.bytes.load(Ordering::Relaxed),)).map(drop),
        None => Ok(()),
    };
    let (header, statistics, ending) = interruptible_with(py, work, report)
        .inspect_err(|_| watch.cancelled.store(true, Ordering::Relaxed))?
        .map_err(|error: Error| WriteampError::new_err(error.to_string()))?;
    let header = header.expect("every capture that was read has a header");
    let dict = PyDict::new(py);
    dict.set_item("format", header.format.name())?;
    dict.set_item("channels", header.channels)?;
    dict.set_item("resolution_ps", header.resolution_ps)?;
    statistics.fill(py, &dict)?;
    of_ending(&ending, &dict)?;
    Ok(dict)
}

/// Statistics of a capture, copied from the listener that computed them.
struct Statistics {
    channels: Vec<Channel>,
    timeline: Timeline,
}

impl Statistics {
    fn of<P: FnMut(u64) -> Result<()>>(folding: &Folding<P>) -> Self {
        Statistics { channels: folding.channels().to_vec(), timeline: folding.timeline().clone() }
    }

    fn fill<'py>(&self, py: Python<'py>, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        let pins = self.channels.iter().map(|channel| pin(py, channel));
        dict.set_item("pins", pins.collect::<PyResult<Vec<_>>>()?)?;
        let line = &self.timeline;
        let counts = PyArray1::from_slice(py, line.counts());
        let columns = line.counts().len() / BUCKETS;
        dict.set_item("timeline_counts", counts.reshape([BUCKETS, columns])?)?;
        dict.set_item("timeline_busy_ps", PyArray1::from_slice(py, line.busy_ps()))?;
        dict.set_item("timeline_origin_ps", line.origin_ps())?;
        dict.set_item("timeline_width_ps", line.width_ps())?;
        let edges_ps = PyArray1::from_vec(py, Timeline::duration_edges_ps());
        dict.set_item("timeline_edges_ps", edges_ps)
    }
}

fn pin<'py>(py: Python<'py>, channel: &Channel) -> PyResult<Bound<'py, PyDict>> {
    let dict = binned(py, channel.durations())?;
    dict.set_item("pulses", channel.pulses())?;
    dict.set_item("busy_ps", channel.busy_ps())?;
    dict.set_item("gaps", binned(py, channel.gaps())?)?;
    let tally = channel.tally();
    let repairs = PyDict::new(py);
    for (name, count) in [
        ("cut_at_start", tally.cut_at_start),
        ("cut_at_end", tally.cut_at_end),
        ("cut_by_unknown", tally.cut_by_unknown),
        ("unknown_levels", tally.unknown_levels),
        ("repeated_levels", tally.repeated_levels),
        ("zero_length", tally.zero_length),
        ("bridged", tally.bridged),
    ] {
        repairs.set_item(name, count)?;
    }
    dict.set_item("repairs", repairs)?;
    Ok(dict)
}

fn binned<'py>(py: Python<'py>, durations: &Durations) -> PyResult<Bound<'py, PyDict>> {
    let bins: Vec<_> = durations.bins().collect();
    let dict = PyDict::new(py);
    dict.set_item("low_ps", PyArray1::from_iter(py, bins.iter().map(|bin| bin.low_ps)))?;
    dict.set_item("high_ps", PyArray1::from_iter(py, bins.iter().map(|bin| bin.high_ps)))?;
    dict.set_item("count", PyArray1::from_iter(py, bins.iter().map(|bin| bin.count)))?;
    Ok(dict)
}

fn of_ending(ending: &Ending, dict: &Bound<'_, PyDict>) -> PyResult<()> {
    dict.set_item("start_ps", ending.start_ps)?;
    dict.set_item("end_ps", ending.end_ps)?;
    dict.set_item("cut_tail", ending.cut_tail)?;
    dict.set_item("rounded_times", ending.rounded_times)
}
