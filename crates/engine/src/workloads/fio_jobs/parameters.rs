//! Parameters of jobs and of their streams.

use std::ops::Bound::{Excluded, Included, Unbounded};

use writeamp_fio::{Generator, Mode};

use crate::params::{Domain, Extent, Param, words};
use crate::registry::{Entry, Registry};
use crate::workloads::zipf::MOST_RANKS_PER_PAGE;

const FLAG: Domain = Domain::Whole(0, 1);
const BYTES: Domain = Domain::Bytes(0, 1 << 60);
const COUNT: Domain = Domain::Whole(0, u32::MAX as u64);
const EACH_DIRECTION: Domain = Domain::List(&Domain::Whole(1, 1 << 31));
const PER_CENT: Domain = Domain::List(&Domain::Whole(0, 100));
pub(super) const NONE: &str = "none";
pub(super) const ENDLESS: &str = "endless";

pub(super) const MODES: [(&str, Mode); 5] = [
    ("read", Mode::Read),
    ("write", Mode::Write),
    ("trim", Mode::Trim),
    ("rw", Mode::Mixed),
    ("trimwrite", Mode::TrimWrite),
];
pub(super) const GENERATORS: [(&str, Generator); 3] = [
    ("tausworthe", Generator::Tausworthe),
    ("tausworthe64", Generator::Tausworthe64),
    ("lfsr", Generator::Lfsr),
];
const DISTRIBUTIONS: [&str; 6] = ["random", "zipf", "pareto", "normal", "zoned", "zoned-abs"];
const SEEDINGS: [&str; 4] = ["repeated", "continued", "fixed", "fresh"];

/// Parameters of a stream, which is a copy of a job.
/// Values per direction are for reads, writes and trims.
const STREAM: Entry =
    Entry::new("stream", "requests of one copy of a job, in fio's order").params(&[
        Param::new("phase", "0", COUNT, "streams of one phase run at the same time"),
        Param::new(
            "weight",
            "1",
            Domain::Number(Excluded(0.0), Unbounded),
            "relative rate of the stream's requests",
        ),
        Param::new("handle", "0", Domain::Whole(0, 255), "placement handle of the writes"),
        Param::new("mode", "write", Domain::Word(&words(&MODES)), "kinds of requests"),
        Param::new("random", "1", FLAG, "1 for random places"),
        Param::new("run", "1", COUNT, "requests from each random place on"),
        Param::new("skip", "0", Domain::Number(Unbounded, Unbounded), "bytes between requests"),
        Param::new("identical", "0", FLAG, "1 if a run repeats its first place"),
        Param::new("least", "4096/4096/4096", EACH_DIRECTION, "smallest requests"),
        Param::new("most", "4096/4096/4096", EACH_DIRECTION, "largest requests"),
        Param::new("align", "4096/4096/4096", EACH_DIRECTION, "alignments of random places"),
        Param::new(
            "splits",
            NONE,
            Domain::Either(&Domain::Word(&[NONE]), &Domain::List(&COUNT)),
            "triples of direction, bytes and per cent of the requests",
        ),
        Param::new("unaligned", "0", FLAG, "1 if sizes are not rounded"),
        Param::new("by_order", "0", FLAG, "1 if sizes differ by order instead of direction"),
        Param::new("read_percent", "50", Domain::Whole(0, 100), "share of the reads in a mix"),
        Param::new("random_percent", "100/100/100", PER_CENT, "shares of the random places"),
        Param::new("map", "1", FLAG, "1 if each block is written once in a pass"),
        Param::new(
            "generator",
            "tausworthe",
            Domain::Word(&words(&GENERATORS)),
            "generator of random blocks",
        ),
        Param::new(
            "distribution",
            DISTRIBUTIONS[0],
            Domain::Word(&DISTRIBUTIONS),
            "distribution of random blocks",
        ),
        Param::new(
            "parameter",
            "0",
            Domain::Number(Included(0.0), Unbounded),
            "theta of zipf, h of pareto, deviation of normal in per cent",
        ),
        Param::new(
            "center",
            NONE,
            Domain::Either(&Domain::Word(&[NONE]), &Domain::SHARE),
            "centre of the distribution",
        ),
        Param::new(
            "zones",
            NONE,
            Domain::Either(&Domain::Word(&[NONE]), &Domain::List(&Domain::Whole(0, 1 << 60))),
            "pairs of per cent of the accesses, and of per cent of the blocks or bytes",
        ),
        Param::new("offset", "0", BYTES, "start of the region").extent(Extent::Bytes),
        Param::new("offset_share", "0", Domain::SHARE, "start of the region, beyond offset"),
        Param::new("size", "0", BYTES, "size of the region; 0: up to the end")
            .extent(Extent::Bytes),
        Param::new("size_share", "1", Domain::SHARE, "size of the region, if size is 0"),
        Param::new("io_size", "0", BYTES, "bytes of all requests; 0: the region's size")
            .extent(Extent::Bytes),
        Param::new(
            "io_share",
            "0",
            Domain::Number(Included(0.0), Unbounded),
            "bytes of all requests over the region's size, if io_size is 0",
        ),
        Param::new("loops", "1", Domain::Whole(1, u32::MAX as u64), "number of passes"),
        Param::new(
            "requests",
            NONE,
            Domain::Either(&Domain::Word(&[NONE]), &Domain::Whole(1, 1 << 60)),
            "number of requests",
        )
        .extent(Extent::Writes),
        Param::new("endless", "0", FLAG, "1 if only time ends the stream"),
        Param::new("stride_range", "0", BYTES, "size of a strided zone; 0: no zones")
            .extent(Extent::Bytes),
        Param::new("stride_size", "0", BYTES, "bytes of requests in a strided zone")
            .extent(Extent::Bytes),
        Param::new("stride_skip", "0", BYTES, "gap between strided zones").extent(Extent::Bytes),
        Param::new(
            "spr_op",
            NONE,
            Domain::Either(&Domain::Word(&[NONE]), &Domain::Number(Excluded(0.0), Excluded(1.0))),
            "over-provisioning for which sprandom prepares the drive; none: no sprandom",
        ),
        Param::new("spr_regions", "100", Domain::Whole(1, 1 << 20), "number of sprandom's regions"),
        Param::new("spr_cache", "0", BYTES, "write cache beyond which sprandom writes again")
            .extent(Extent::Bytes),
        Param::new("fsync", "0", COUNT, "writes between flushes; 0: no flushes"),
        Param::new("seeding", SEEDINGS[0], Domain::Word(&SEEDINGS), "seeds of the generators"),
        Param::new("seed", "0", Domain::Whole(0, u64::MAX), "randseed"),
        Param::new("number", "1", Domain::Whole(1, u32::MAX as u64), "number of the copy"),
        Param::new("name_hash", "0", COUNT, "hash of the file's name"),
    ]);

/// Streams that a job may have.
pub(super) static STREAMS: Registry = Registry {
    name: "streams",
    noun: "stream",
    plural: "streams",
    entries: &[STREAM],
    absent: &[],
};

pub(super) const STREAM_LIST: Domain = Domain::List(&Domain::Spec(|| &STREAMS));
pub(super) const RUNS: Param = Param::new(
    "runs",
    ENDLESS,
    Domain::Either(&Domain::Word(&[ENDLESS]), &Domain::Whole(1, u32::MAX as u64)),
    "number of runs of all streams, or endless",
);
pub(super) const PAGES_OF_DRIVE: Param = Param::new(
    "pages_of_drive",
    "1",
    Domain::Number(Included(1.0), Included(MOST_RANKS_PER_PAGE)),
    "pages of the full drive for each page of a smaller one in its place",
)
.extent(Extent::PerPage)
.later();
