//! Capture of the Ready/Busy pins during a timed run.

use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::mem;
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use writeamp_captures::{Edge, Error, Level, Result, Sampler, Sampling, VcdWriter};
use writeamp_engine::timing;

use crate::errors::WriteampError;
use crate::interruptible::interruptible;
use crate::timed::PyTimedRun;

const PS_PER_NS: u64 = 1000;

/// Writes the Ready/Busy edges of a run to a VCD file, exact or sampled.
#[pyclass(frozen, name = "CaptureWriter", module = "writeamp._engine")]
pub struct PyCaptureWriter(Mutex<Option<Writing>>);

/// An open capture.
struct Writing {
    vcd: VcdWriter<BufWriter<File>>,
    sampler: Option<Sampler>,
    /// Edges of the pins that are not written to the file yet.
    taken: Vec<timing::Edge>,
    written: u64,
}

#[pymethods]
impl PyCaptureWriter {
    /// Begins a capture in an existing file, with one channel per die. At first all dies are
    /// ready.
    ///
    /// With `period_ps`, the pins are sampled with that period, jitter and share of missed pulses.
    #[new]
    #[pyo3(signature = (path, *, channels, comments, period_ps=None, jitter_ns=0.0, missed=0.0, seed=0))]
    fn new(
        path: PathBuf,
        channels: Vec<String>,
        comments: Vec<String>,
        period_ps: Option<u64>,
        jitter_ns: f64,
        missed: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let file = OpenOptions::new().write(true).truncate(true).open(path)?;
        let sampler = period_ps
            .map(|period_ps| {
                Sampler::new(Sampling { period_ps, jitter_ns, missed }, channels.len(), seed)
            })
            .transpose()
            .map_err(raised)?;
        let timescale_ps = period_ps.map_or(PS_PER_NS, timescale_of);
        let vcd = VcdWriter::new(BufWriter::new(file), &channels, timescale_ps, &comments);
        let mut writing =
            Writing { vcd: vcd.map_err(raised)?, sampler, taken: Vec::new(), written: 0 };
        for channel in 0..channels.len() {
            writing.vcd.edge(0, channel, Level::High).map_err(raised)?;
        }
        Ok(PyCaptureWriter(Mutex::new(Some(writing))))
    }

    /// Writes the edges that a run has recorded since the last call.
    ///
    /// Returns the number of edges written by all calls so far. The initial levels do not count.
    fn drain(this: Py<Self>, py: Python<'_>, run: Py<PyTimedRun>) -> PyResult<u64> {
        interruptible(py, move || this.get().write(&run))?.map_err(raised)
    }

    /// Ends the capture at a time; returns the number of edges written by all calls.
    fn finish(&self, end_ns: u64) -> PyResult<u64> {
        let writing = self.0.lock().expect("no thread panicked while it held this lock").take();
        let Some(writing) = writing else {
            return Err(PyOSError::new_err("the capture has already ended"));
        };
        writing.end(end_ns).map_err(raised)
    }
}

impl PyCaptureWriter {
    fn write(&self, run: &Py<PyTimedRun>) -> Result<u64> {
        let mut guard = self.0.lock().expect("no thread panicked while it held this lock");
        let Some(writing) = guard.as_mut() else {
            return Err(Error::Setting("the capture has already ended".into()));
        };
        run.get().take_edges_into(&mut writing.taken);
        writing.write()
    }
}

impl Writing {
    fn write(&mut self) -> Result<u64> {
        let mut taken = mem::take(&mut self.taken);
        // The edges of a RAID array arrive one member device after another, so they are sorted.
        taken.sort_by_key(|edge| edge.at_ns);
        for edge in taken.drain(..) {
            let edge = Edge {
                time_ps: edge.at_ns * PS_PER_NS,
                channel: edge.die as usize,
                is_high: !edge.busy,
            };
            self.put(edge)?;
        }
        self.taken = taken;
        Ok(self.written)
    }

    fn put(&mut self, edge: Edge) -> Result<()> {
        let Writing { vcd, sampler, written, .. } = self;
        let Some(sampler) = sampler else { return put(vcd, written, edge) };
        let mut outcome = Ok(());
        sampler.edge(edge, |seen| {
            if outcome.is_ok() {
                outcome = put(vcd, written, seen);
            }
        })?;
        outcome
    }

    fn end(self, end_ns: u64) -> Result<u64> {
        let Writing { mut vcd, sampler, mut written, .. } = self;
        let mut last_ps = end_ns * PS_PER_NS;
        let mut outcome = Ok(());
        if let Some(sampler) = sampler {
            sampler.finish(|seen| {
                // Jitter may move the last edge beyond the end of the run, so the capture ends at
                // the later of both.
                last_ps = last_ps.max(seen.time_ps);
                if outcome.is_ok() {
                    outcome = put(&mut vcd, &mut written, seen);
                }
            });
        }
        outcome?;
        vcd.finish(last_ps)?;
        Ok(written)
    }
}

fn put(vcd: &mut VcdWriter<BufWriter<File>>, written: &mut u64, edge: Edge) -> Result<()> {
    *written += 1;
    vcd.edge(edge.time_ps, edge.channel, Level::of(edge.is_high))
}

/// Tick of the VCD file in ps: the largest power of ten that divides the sampling period.
fn timescale_of(period_ps: u64) -> u64 {
    let mut timescale_ps = 1;
    while timescale_ps < period_ps && period_ps.is_multiple_of(timescale_ps * 10) {
        timescale_ps *= 10;
    }
    timescale_ps
}

fn raised(error: Error) -> PyErr {
    WriteampError::new_err(error.to_string())
}
