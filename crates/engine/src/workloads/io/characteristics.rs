//! Characteristics of a host as in paper 2: shares, sizes, randomness, strides, queue depth.

use std::ops::Bound::Included;

use super::super::Pacing;
use super::accesses::{Accesses, SizeShare};
use super::jesd219;
use crate::error::{Error, Result};
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::Entry;
use crate::workloads::{NESTED, WORKLOADS};

/// Bytes of a sector. Sizes, strides and offsets are multiples of it.
pub const SECTOR_BYTES: u64 = 512;

/// Largest request, in bytes.
const MOST_REQUEST_BYTES: u64 = 64 << 20;

/// Largest stride or offset in bytes, which exceeds the size of any drive.
const MOST_DISTANCE_BYTES: u64 = 1 << 44;

/// Smallest share of writes above 0.
/// With less, a run of a given number of writes would hardly progress.
const LEAST_WRITE_SHARE: f64 = 1e-4;

/// Largest total share of flushes and TRIMs; other requests must remain.
const MOST_FLUSHES_AND_TRIMS: f64 = 0.99;

/// Specs of the patterns that set the access frequencies of positions.
const SKEWS: [&str; 3] = ["uniform", "zipf", "hot-cold"];

/// Arrival process of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Exponentially distributed intervals.
    Poisson,
    /// Requests arrive at constant intervals.
    Constant,
}

/// Characteristics of a host: paper 2's eight, and others that affect a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct Characteristics {
    /// Share of writes among reads and writes.
    pub write: f64,
    /// Outstanding requests in a closed loop, or None if the spec does not set it.
    pub queue_depth: Option<u32>,
    /// Requests per second in an open loop.
    pub rate_per_s: Option<f64>,
    /// Arrival process of an open loop.
    pub arrivals: Arrivals,
    /// Parameters of writes. TRIMs have the same sizes, and positions from the same sequence.
    pub writes: Accesses,
    /// Parameters of reads.
    pub reads: Accesses,
    /// Offset added to the position of every request, in bytes.
    pub offset_bytes: u64,
    /// Spec of the pattern of the positions of random accesses.
    pub access: String,
    /// Distribution of the sizes of requests, up to the size of their direction, or None if all
    /// have that size.
    pub sizes: Option<&'static [SizeShare]>,
    /// Share of the requests that are flushes.
    pub flush: f64,
    /// Share of the writes with FUA.
    pub fua: f64,
    /// Share of the requests that are TRIMs.
    pub trim: f64,
}

impl Characteristics {
    /// Characteristics from a workload's parameters, or None if the workload writes pages instead
    /// of requests.
    pub fn of(params: &Params) -> Result<Option<Self>> {
        let name = params.entry().name;
        if name == IO.name {
            let writes = accesses(params, "write_size", "write_random", "write_stride")?;
            let reads = accesses(params, "read_size", "read_random", "read_stride")?;
            return Self::new(params, writes, reads, params.text(ACCESS.name)).map(Some);
        }
        if name == RANDOM.name {
            let size_bytes = sectors(params, BS.name)?;
            let align_bytes = align(params, size_bytes)?;
            let both = Accesses { size_bytes, random: 1.0, stride_bytes: 0, align_bytes };
            return Self::new(params, both, both, params.text(ACCESS.name)).map(Some);
        }
        if name == JESD219.name {
            let (both, sizes) = (jesd219::ACCESSES, Some(&jesd219::SIZES[..]));
            let alike = Self::new(params, both, both, SKEWS[0])?;
            return Ok(Some(Characteristics { access: jesd219::ZONES.into(), sizes, ..alike }));
        }
        if name != SEQUENTIAL {
            return Ok(None);
        }
        if params.text(BS.name) == PAGES {
            let of_requests = SEQUENTIAL_PARAMS.iter().find(|param| params.is_given(param.name));
            return match of_requests.filter(|param| param.name != BS.name) {
                None => Ok(None),
                Some(param) => Err(Error::Spec(format!(
                    "{SEQUENTIAL}: {}= needs bs=, as in {SEQUENTIAL}:bs=128k",
                    param.name
                ))),
            };
        }
        let size_bytes = sectors(params, BS.name)?;
        let stride_bytes = sectors(params, STRIDE.name)?;
        let both = Accesses { size_bytes, random: 0.0, stride_bytes, align_bytes: size_bytes };
        Self::new(params, both, both, SKEWS[0]).map(Some)
    }

    fn new(params: &Params, writes: Accesses, reads: Accesses, access: &str) -> Result<Self> {
        let entry = params.entry().name;
        let queue_depth = (params.text(QD.name) != AUTO).then(|| params.integer(QD.name));
        let rate_per_s = (params.text(RATE.name) != NONE).then(|| params.number(RATE.name));
        if let (Some(queue_depth), Some(rate)) = (queue_depth, rate_per_s) {
            return Err(Error::Spec(format!(
                "{entry}: qd={queue_depth} and rate={rate} exclude each other; give qd \
                 (outstanding requests of a closed loop) or rate (requests per second of an open \
                 loop)"
            )));
        }
        let has_arrivals = Some(params.text(ARRIVALS.name)) != ARRIVALS.default;
        if rate_per_s.is_none() && has_arrivals {
            return Err(Error::Spec(format!(
                "{entry}: {}= needs rate=, because it is for open loops",
                ARRIVALS.name
            )));
        }
        let write = params.number(WRITE.name);
        if write > 0.0 && write < LEAST_WRITE_SHARE {
            let domain = format!("0 or a number from {LEAST_WRITE_SHARE} to 1");
            return Err(params.outside(WRITE.name, write, domain));
        }
        let flush = params.number(FLUSH.name);
        let trim = if entry == JESD219.name { 0.0 } else { params.number(TRIM.name) };
        if flush + trim > MOST_FLUSHES_AND_TRIMS {
            return Err(Error::Spec(format!(
                "{entry}: flush={flush} and trim={trim} leave too few reads and writes; give shares \
                 that add up to at most {MOST_FLUSHES_AND_TRIMS}"
            )));
        }
        let pattern = WORKLOADS.read(access)?;
        if !SKEWS.contains(&pattern.entry().name) {
            return Err(params.outside(ACCESS.name, access, "uniform, zipf or hot-cold"));
        }
        Ok(Characteristics {
            write,
            queue_depth,
            rate_per_s,
            arrivals: params.choice(ARRIVALS.name, &ALL_ARRIVALS),
            writes,
            reads,
            offset_bytes: sectors(params, OFFSET.name)?,
            access: pattern.canonical(),
            sizes: None,
            flush,
            fua: params.number(FUA.name),
            trim,
        })
    }

    /// True if random accesses choose all positions with equal probability.
    pub fn is_uniform(&self) -> bool {
        self.access == SKEWS[0]
    }

    /// True if some requests are writes or TRIMs.
    pub fn has_changes(&self) -> bool {
        self.write > 0.0 || self.trim > 0.0
    }

    /// Pacing of the requests.
    pub fn pacing(&self) -> Pacing {
        match (self.rate_per_s, self.queue_depth) {
            (Some(_), _) => Pacing::Open,
            (None, Some(queue_depth)) => Pacing::Closed { queue_depth },
            (None, None) => Pacing::default(),
        }
    }

    /// True if the spec sets the pacing (`qd` or `rate`).
    pub fn is_timed(&self) -> bool {
        self.queue_depth.is_some() || self.rate_per_s.is_some()
    }
}

fn accesses(params: &Params, size: &str, random: &str, stride: &str) -> Result<Accesses> {
    let size_bytes = sectors(params, size)?;
    Ok(Accesses {
        size_bytes,
        random: params.number(random),
        stride_bytes: sectors(params, stride)?,
        align_bytes: align(params, size_bytes)?,
    })
}

/// Alignment of accesses in bytes. The default is the size of the accesses, as in fio.
fn align(params: &Params, size_bytes: u64) -> Result<u64> {
    if params.text(ALIGN.name) == OWN_SIZE {
        return Ok(size_bytes);
    }
    sectors(params, ALIGN.name)
}

fn sectors(params: &Params, name: &str) -> Result<u64> {
    let bytes = params.bytes(name);
    if !bytes.is_multiple_of(SECTOR_BYTES) {
        let domain = format!("a multiple of {SECTOR_BYTES} bytes");
        return Err(params.outside(name, params.text(name), domain));
    }
    Ok(bytes)
}

const AUTO: &str = "auto";
const NONE: &str = "none";
const OWN_SIZE: &str = "size";
const PAGES: &str = "pages";
const ALL_ARRIVALS: [(&str, Arrivals); 2] =
    [("poisson", Arrivals::Poisson), ("constant", Arrivals::Constant)];

const SIZE: Domain = Domain::Bytes(SECTOR_BYTES, MOST_REQUEST_BYTES);
const DISTANCE: Domain = Domain::Bytes(0, MOST_DISTANCE_BYTES);

const OF_LAPS: Extent = Extent::Place(
    "with gaps between requests, the pages of the next lap depend on the drive's size",
);

const WRITE: Param =
    Param::new("write", "1", Domain::SHARE, "number of writes, as a share of all reads and writes");
const QD: Param = Param::new(
    "qd",
    AUTO,
    Domain::Either(&Domain::Word(&[AUTO]), &Domain::Whole(1, 1 << 16)),
    "number of outstanding requests; a number makes the run timed, and auto is 1 if the run is \
     timed",
);
const RATE: Param = Param::new(
    "rate",
    NONE,
    Domain::Either(&Domain::Word(&[NONE]), &Domain::Number(Included(1e-3), Included(1e9))),
    "requests per second, issued however long earlier ones take; replaces qd",
);
const ARRIVALS: Param = Param::new(
    "arrivals",
    "poisson",
    Domain::Word(&["poisson", "constant"]),
    "times of requests with rate: random (poisson) or equally spaced (constant)",
);
const BS: Param = Param::new("bs", "4k", SIZE, "bytes of a request");
const STRIDE: Param = Param::new(
    "stride",
    "0",
    DISTANCE,
    "bytes from the end of a request to the start of the next sequential request",
)
.extent(OF_LAPS);
const ALIGN: Param = Param::new(
    "align",
    OWN_SIZE,
    Domain::Either(&Domain::Word(&[OWN_SIZE]), &SIZE),
    "alignment of random requests in bytes, by default their size",
);
const OFFSET: Param =
    Param::new("offset", "0", DISTANCE, "bytes added to the position of every request")
        .extent(Extent::Place("it is a position on the drive"));
const ACCESS: Param = Param::new(
    "access",
    SKEWS[0],
    NESTED,
    "distribution of random requests over positions: uniform, zipf or hot-cold",
);
const FLUSH: Param =
    Param::new("flush", "0", Domain::SHARE, "share of the requests that are flushes");
const FUA: Param = Param::new(
    "fua",
    "0",
    Domain::SHARE,
    "share of the writes with FUA, which complete only when they survive a power loss",
);
const TRIM: Param = Param::new(
    "trim",
    "0",
    Domain::SHARE,
    "share of the requests that are TRIMs, with sizes and positions as of writes",
);

/// Registry entry of the full form.
pub const IO: Entry = Entry::new(
    "io",
    "requests with the parameters of paper 2: shares, sizes, randomness, strides and queue depth",
)
.example("io:write=0.5,write_size=4k,read_size=16k,read_random=0.5,read_stride=64k")
.variants(&[
    "io:qd=8,access=zipf(s=1.2),flush=0.01,fua=0.1,trim=0.1",
    "io:rate=1e5,write_size=12k,read_size=2k,align=512,offset=512,write_random=0.5",
])
.params(&[
    WRITE.default("0.5"),
    QD,
    RATE,
    ARRIVALS,
    Param::new("write_size", "4k", SIZE, "bytes of a write"),
    Param::new("read_size", "4k", SIZE, "bytes of a read"),
    Param::new(
        "write_random",
        "1",
        Domain::SHARE,
        "share of the writes that go to random positions",
    ),
    Param::new("read_random", "1", Domain::SHARE, "share of the reads that go to random positions"),
    Param::new(
        "write_stride",
        "0",
        DISTANCE,
        "bytes from the end of a write to the start of the next sequential write",
    )
    .extent(OF_LAPS),
    Param::new(
        "read_stride",
        "0",
        DISTANCE,
        "bytes from the end of a read to the start of the next sequential read",
    )
    .extent(OF_LAPS),
    ALIGN,
    OFFSET,
    ACCESS,
    FLUSH,
    FUA,
    TRIM,
])
.alone();

/// Registry entry of the short form for random requests.
pub const RANDOM: Entry = Entry::new("random", "requests of one size at random positions")
    .example("random:bs=4k")
    .variants(&["random:bs=16k,write=0.7,qd=32,access=hot-cold(f=0.1,r=0.9)"])
    .params(&[BS, WRITE, QD, RATE, ARRIVALS, ALIGN, OFFSET, ACCESS, FLUSH, FUA, TRIM])
    .alone();

/// Registry entry of the enterprise workload of JESD219.
pub const JESD219: Entry = Entry::new(
    "jesd219",
    "the enterprise workload of JESD219: requests of 512 bytes to 64 KiB; half of them go to the \
     first 5% of the addresses, and 30% to the next 15%",
)
.variants(&["jesd219:write=1,qd=4"])
.params(&[WRITE.default("0.6"), QD, RATE, ARRIVALS, OFFSET, FLUSH, FUA])
.alone();

/// Name of the workload that writes whole pages, or requests if the spec gives their size.
pub const SEQUENTIAL: &str = "sequential";

/// Parameters of sequential requests, in addition to the share of TRIMs.
pub const SEQUENTIAL_PARAMS: &[Param] = &[
    Param::new(
        BS.name,
        PAGES,
        Domain::Either(&Domain::Word(&[PAGES]), &SIZE),
        "size of a request in bytes, or pages to write page by page without requests",
    ),
    WRITE,
    QD,
    RATE,
    ARRIVALS,
    STRIDE,
    OFFSET,
    FLUSH,
    FUA,
];
