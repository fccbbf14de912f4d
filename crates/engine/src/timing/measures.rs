//! Measures of a device by its host: latencies, bandwidth and throughput.
//! Laws that these measures must obey, such as Little's law, are checked here.

use hdrhistogram::Histogram;

use super::device::{BlockDevice, Busy};
use super::late::{Shift, TagShift};
use crate::error::{Error, Result};
use crate::flash::{Cause, Counters};
use crate::request::Op;

/// Longest latency that is recorded: more than a day.
const MOST_NS: u64 = 100_000_000_000_000;
/// Largest number of rows of throughput over time, one row per time span.
/// When there would be more, each pair of rows becomes one row of twice the time span.
const MOST_ROWS: usize = 512;
const FIRST_ROW_NS: u64 = 100_000;
/// Largest number of samples of the counters.
/// When there would be more, every second sample is dropped.
const MOST_SAMPLES: usize = 4096;

/// Directions of data whose latencies are measured separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Reads of the host.
    Read,
    /// Writes of the host.
    Write,
}

/// Requests in one direction in the measured interval.
#[derive(Debug)]
pub struct Served {
    /// Latencies in nanoseconds, with three significant digits.
    pub latencies: Histogram<u64>,
    /// Exact sum of the latencies, in nanoseconds.
    pub sum_ns: u128,
    /// Shortest and longest latency, in nanoseconds.
    pub range_ns: (u64, u64),
    /// Number of requests in this direction.
    pub requests: u64,
    /// Number of bytes in this direction.
    pub bytes: u64,
}

/// Requests served in a time span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Row {
    /// Number of bytes read in the time span.
    pub read_bytes: u64,
    /// Number of bytes written in the time span.
    pub written_bytes: u64,
    /// Number of reads in the time span.
    pub reads: u64,
    /// Number of writes in the time span.
    pub writes: u64,
    /// Sum of the read latencies, in ns.
    pub read_ns: u64,
    /// Sum of the write latencies, in ns.
    pub write_ns: u64,
}

/// Counters of a device at one moment.
#[derive(Debug, Default)]
pub struct Sampled {
    /// All counters; 0 for devices without flash.
    pub counters: Counters,
    /// Counters by tag, as [`crate::flash::TagCounters::row`].
    /// Empty if the device does not count by tag.
    pub by_tag: Vec<u64>,
}

impl Sampled {
    /// Counters of `device` now.
    pub fn of(device: &dyn BlockDevice) -> Self {
        Sampled {
            counters: device.counters().unwrap_or_default(),
            by_tag: device.tag_counters().map_or_else(Vec::new, |tags| tags.row(&Cause::ALL)),
        }
    }
}

/// Measures of a run.
#[derive(Debug)]
pub struct Measures {
    reads: Served,
    writes: Served,
    /// Number of requests other than reads and writes.
    pub others: u64,
    from_ns: Option<u64>,
    until_ns: Option<u64>,
    rows: Vec<Row>,
    row_ns: u64,
    samples: Vec<(u64, Counters)>,
    /// Counters by tag of each sample, as [`Sampled::by_tag`].
    tag_samples: Vec<Vec<u64>>,
    /// For each sample: number of intervals of the device that had ended.
    ended: Vec<u32>,
    sample_bytes: u64,
    next_sample_bytes: u64,
    /// Number of outstanding requests, integrated over time, in ns.
    /// The next field is the sum of all latencies, in ns. By Little's law they are equal.
    outstanding_ns: u128,
    sojourn_ns: u128,
}

impl Measures {
    /// Builds empty measures. Samples are at first 16 written pages apart.
    /// `now` has the device's counters, and `ended` is its number of completed intervals.
    pub fn new(now: Sampled, ended: u32, page_bytes: u32) -> Result<Self> {
        let sample_bytes = 16 * u64::from(page_bytes);
        Ok(Measures {
            reads: Served::new()?,
            writes: Served::new()?,
            others: 0,
            from_ns: None,
            until_ns: None,
            rows: Vec::with_capacity(MOST_ROWS),
            row_ns: FIRST_ROW_NS,
            samples: vec![(0, now.counters)],
            tag_samples: vec![now.by_tag],
            ended: vec![ended],
            sample_bytes,
            next_sample_bytes: sample_bytes,
            outstanding_ns: 0,
            sojourn_ns: 0,
        })
    }

    /// Requests served in one direction (reads or writes).
    pub fn served(&self, direction: Direction) -> &Served {
        match direction {
            Direction::Read => &self.reads,
            Direction::Write => &self.writes,
        }
    }

    /// Start and end of the measured interval.
    pub fn interval_ns(&self) -> (u64, u64) {
        let from_ns = self.from_ns.unwrap_or(0);
        (from_ns, self.until_ns.unwrap_or(from_ns))
    }

    /// Rows of requests over time, and the time span that each row covers.
    pub fn rows(&self) -> (&[Row], u64) {
        (&self.rows, self.row_ns)
    }

    /// Samples: times and counters, at nearly equal distances in bytes written.
    /// After the run, each sample includes work that was done later for writes before it.
    pub fn samples(&self) -> &[(u64, Counters)] {
        &self.samples
    }

    /// Counters by tag of each of [`Self::samples`], as [`crate::flash::TagCounters::row`].
    /// The rows are empty if the device does not count by tag.
    pub fn tag_samples(&self) -> &[Vec<u64>] {
        &self.tag_samples
    }

    /// True until the warm-up is over.
    pub fn is_warming_up(&self) -> bool {
        self.from_ns.is_none()
    }

    /// Ends the warm-up: discards the latencies and counts of requests so far.
    /// Rows over time and samples are kept.
    pub fn end_of_warmup(&mut self, now_ns: u64) {
        self.from_ns = Some(now_ns);
        self.reads.clear();
        self.writes.clear();
        self.others = 0;
    }

    /// Begins the measurement window, like [`Self::end_of_warmup`], and restarts the samples.
    /// `now` and `written_bytes` are the present values.
    pub fn begin_anew(&mut self, now: Sampled, now_ns: u64, written_bytes: u64) {
        self.samples = vec![(now_ns, now.counters)];
        self.tag_samples = vec![now.by_tag];
        self.ended = vec![0];
        self.next_sample_bytes = written_bytes + self.sample_bytes;
        self.end_of_warmup(now_ns);
    }

    /// Ends the measured interval at `now_ns`, or at `limit_ns` if that is earlier.
    /// Later calls have no effect.
    pub fn end_of_issue(&mut self, now_ns: u64, limit_ns: Option<u64>) {
        self.until_ns.get_or_insert(limit_ns.map_or(now_ns, |limit_ns| limit_ns.min(now_ns)));
    }

    /// Adds a time span with this number of outstanding requests.
    #[inline]
    pub fn pass_time(&mut self, from_ns: u64, to_ns: u64, outstanding: u64) {
        self.outstanding_ns += u128::from(to_ns - from_ns) * u128::from(outstanding);
    }

    /// Records a request that completed at `at_ns`.
    /// If `is_measured` is false, the request counts only for Little's law.
    #[inline]
    pub fn record(&mut self, op: Op, bytes: u64, at_ns: u64, latency_ns: u64, is_measured: bool) {
        self.sojourn_ns += u128::from(latency_ns);
        if !is_measured {
            return;
        }
        let row = self.row(at_ns);
        let served = match op {
            Op::Read => {
                row.read_bytes += bytes;
                row.reads += 1;
                row.read_ns = row.read_ns.saturating_add(latency_ns);
                &mut self.reads
            }
            Op::Write => {
                row.written_bytes += bytes;
                row.writes += 1;
                row.write_ns = row.write_ns.saturating_add(latency_ns);
                &mut self.writes
            }
            Op::Trim | Op::Flush => {
                self.others += 1;
                return;
            }
        };
        served.record(bytes, latency_ns);
    }

    fn row(&mut self, at_ns: u64) -> &mut Row {
        while at_ns / self.row_ns >= MOST_ROWS as u64 {
            let half = self.rows.len().div_ceil(2);
            for at in 0..half {
                let second = self.rows.get(2 * at + 1).copied().unwrap_or_default();
                self.rows[at] = self.rows[2 * at].plus(&second);
            }
            self.rows.truncate(half);
            self.row_ns *= 2;
        }
        let at = (at_ns / self.row_ns) as usize;
        if at >= self.rows.len() {
            self.rows.resize(at + 1, Row::default());
        }
        &mut self.rows[at]
    }

    /// True if the next sample is due after `written_bytes` written bytes.
    #[inline]
    pub fn wants_sample(&self, written_bytes: u64) -> bool {
        written_bytes >= self.next_sample_bytes
    }

    /// Stores a sample of the counters; `ended` is the number of completed intervals.
    pub fn sample(&mut self, now: Sampled, ended: u32, now_ns: u64, written_bytes: u64) {
        self.samples.push((now_ns, now.counters));
        self.tag_samples.push(now.by_tag);
        self.ended.push(ended);
        if self.samples.len() >= MOST_SAMPLES {
            keep_every_second(&mut self.samples);
            keep_every_second(&mut self.tag_samples);
            keep_every_second(&mut self.ended);
            self.sample_bytes *= 2;
        }
        self.next_sample_bytes = written_bytes + self.sample_bytes;
    }

    /// Adds work that was done late to the samples taken after its writes, by interval.
    pub fn shift_samples(&mut self, shifts: &[Shift]) {
        let (mut sum, mut summed) = (Shift::default(), 0);
        for ((_, counters), &ended) in self.samples.iter_mut().zip(&self.ended) {
            let ended = shifts.len().min(ended as usize);
            shifts[summed..ended].iter().for_each(|shift| sum.add(shift));
            summed = ended;
            *counters = sum.applied_to(counters);
        }
    }

    /// Adds work that was done late to the counters by tag, like [`Self::shift_samples`].
    pub fn shift_tag_samples(&mut self, shifts: &[TagShift]) {
        let (mut sum, mut summed) = (TagShift::new(), 0);
        for (row, &ended) in self.tag_samples.iter_mut().zip(&self.ended) {
            let ended = shifts.len().min(ended as usize);
            for (&place, &by) in shifts[summed..ended].iter().flatten() {
                *sum.entry(place).or_default() += by;
            }
            summed = ended;
            for (&place, &by) in &sum {
                let count = row[place].checked_add_signed(by);
                row[place] = count.expect("a counter must not become negative");
            }
        }
    }

    /// Asserts Little's law, and that no device part was busy for longer than the elapsed time.
    /// Little's law: the mean number of outstanding requests is throughput times mean latency.
    pub fn assert_laws(&self, now_ns: u64, busy: &[Busy]) {
        assert_eq!(self.outstanding_ns, self.sojourn_ns, "Little's law");
        for Busy { level, parts, busy_ns } in busy {
            assert!(
                *busy_ns <= u64::from(*parts) * now_ns,
                "the busy time of each {level} must not exceed the elapsed time"
            );
        }
    }
}

fn keep_every_second<T>(list: &mut Vec<T>) {
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        at % 2 == 1
    });
}

impl Row {
    fn plus(&self, other: &Row) -> Row {
        Row {
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            read_ns: self.read_ns.saturating_add(other.read_ns),
            write_ns: self.write_ns.saturating_add(other.write_ns),
        }
    }
}

impl Served {
    /// Builds empty measures.
    pub fn new() -> Result<Self> {
        let latencies = Histogram::new_with_bounds(1, MOST_NS, 3).map_err(|error| {
            Error::Spec(format!("cannot build the histogram of latencies: {error}"))
        })?;
        Ok(Served { latencies, sum_ns: 0, range_ns: (u64::MAX, 0), requests: 0, bytes: 0 })
    }

    /// Discards all measures of this direction.
    pub fn clear(&mut self) {
        self.latencies.clear();
        (self.sum_ns, self.range_ns, self.requests, self.bytes) = (0, (u64::MAX, 0), 0, 0);
    }

    /// Records a completed request of this direction: its latency and its bytes.
    #[inline]
    pub fn record(&mut self, bytes: u64, latency_ns: u64) {
        self.latencies.saturating_record(latency_ns);
        self.sum_ns += u128::from(latency_ns);
        self.range_ns = (self.range_ns.0.min(latency_ns), self.range_ns.1.max(latency_ns));
        self.requests += 1;
        self.bytes += bytes;
    }

    /// Mean latency in ns, or None without requests.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.sum_ns as f64 / self.requests as f64)
    }

    /// Percentile of the latency: the value that this share of the requests does not exceed,
    /// limited to the shortest and longest latency.
    pub fn quantile_ns(&self, share: f64) -> Option<u64> {
        let (least, most) = self.range_ns;
        (self.requests > 0).then(|| self.latencies.value_at_quantile(share).clamp(least, most))
    }
}
