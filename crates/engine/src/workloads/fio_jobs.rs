//! Jobs of fio: streams of requests in fio's order, of which several run at the same time.
//!
//! The sequences are those of the crate `writeamp_fio`. This file mixes them, and cuts them into
//! pages.

use std::ops::Bound::{Excluded, Included, Unbounded};

use writeamp_fio::{
    Copy, Direction, Distribution, Generator, Io, Job, Kind, Mode, Seeding, Strides,
};

use super::io::{Merger, touched_pages, whole_pages};
use super::zipf::MOST_RANKS_PER_PAGE;
use super::{Context, MOST_GROUPS, Pacing, Site, Step, TRIM, Unserved, Workload};
use crate::error::{Error, Result};
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params, Specs, words};
use crate::registry::{Entry, Registered, Registry};
use crate::request::{Op, Request};
use crate::state::{Reader, State, Writer, require};

const FLAG: Domain = Domain::Whole(0, 1);
const BYTES: Domain = Domain::Bytes(0, 1 << 60);
const COUNT: Domain = Domain::Whole(0, u32::MAX as u64);
const EACH_DIRECTION: Domain = Domain::List(&Domain::Whole(1, 1 << 31));
const PER_CENT: Domain = Domain::List(&Domain::Whole(0, 100));
const NONE: &str = "none";
const ENDLESS: &str = "endless";

const MODES: [(&str, Mode); 5] = [
    ("read", Mode::Read),
    ("write", Mode::Write),
    ("trim", Mode::Trim),
    ("rw", Mode::Mixed),
    ("trimwrite", Mode::TrimWrite),
];
const GENERATORS: [(&str, Generator); 3] = [
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
        Param::new("fsync", "0", COUNT, "writes between flushes; 0: no flushes"),
        Param::new("seeding", SEEDINGS[0], Domain::Word(&SEEDINGS), "seeds of the generators"),
        Param::new("seed", "0", Domain::Whole(0, u64::MAX), "randseed"),
        Param::new("number", "1", Domain::Whole(1, u32::MAX as u64), "number of the copy"),
        Param::new("name_hash", "0", COUNT, "hash of the file's name"),
    ]);

/// Streams that a job may have.
static STREAMS: Registry = Registry {
    name: "streams",
    noun: "stream",
    plural: "streams",
    entries: &[STREAM],
    absent: &[],
};

const STREAM_LIST: Domain = Domain::List(&Domain::Spec(|| &STREAMS));
const RUNS: Param = Param::new(
    "runs",
    ENDLESS,
    Domain::Either(&Domain::Word(&[ENDLESS]), &Domain::Whole(1, u32::MAX as u64)),
    "number of runs of all streams, or endless",
);
const PAGES_OF_DRIVE: Param = Param::new(
    "pages_of_drive",
    "1",
    Domain::Number(Included(1.0), Included(MOST_RANKS_PER_PAGE)),
    "pages of the full drive for each page of a smaller one in its place",
)
.extent(Extent::PerPage)
.later();

/// Stream with its place in the order of the job.
#[derive(Debug, Clone)]
struct Plan {
    job: Job,
    phase: u32,
    weight: f64,
    handle: u8,
    is_fresh: bool,
}

/// Running stream.
#[derive(Debug, Clone)]
struct Running {
    copy: Copy,
    weight: f64,
    /// Time of the next request, in units of the job's own.
    due: f64,
}

pub struct FioJobs {
    plans: Vec<Plan>,
    pages: u32,
    page_bytes: u32,
    depth: u32,
    runs: Option<u64>,
    seed: u64,
    group_of_page: Table<u8>,
    groups: Vec<Group>,
    merger: Merger,
    /// Number of requests drawn, from which a saved job is restored.
    drawn: u64,
    run: u64,
    phase: usize,
    running: Vec<Running>,
}

impl FioJobs {
    fn new(params: &Params, site: &Site) -> Result<Self> {
        let &Site { pages, page_bytes, ref context } = site;
        let scale = params.number(PAGES_OF_DRIVE.name);
        let end = u64::from(pages) * u64::from(page_bytes);
        let mut plans = Vec::new();
        for text in params.items("streams") {
            plans.push(plan_of(&STREAMS.read_nested(text, 1)?, end, scale)?);
        }
        // Only time would end a stream that others wait for, so it makes its passes only.
        let last = plans.iter().map(|plan| plan.phase).max().unwrap_or(0);
        plans
            .iter_mut()
            .filter(|plan| plan.phase < last)
            .for_each(|plan| plan.job.is_timed = false);
        let (group_of_page, groups) = groups_of(&plans, pages, page_bytes)?;
        let mut jobs = FioJobs {
            plans,
            pages,
            page_bytes,
            depth: params.integer("depth"),
            runs: (params.text(RUNS.name) != ENDLESS).then(|| params.integer(RUNS.name)),
            seed: seed_of(context),
            group_of_page,
            groups,
            merger: Merger::default(),
            drawn: 0,
            run: 0,
            phase: 0,
            running: Vec::new(),
        };
        jobs.begin();
        jobs.check_for_writes()?;
        Ok(jobs)
    }

    fn begin(&mut self) {
        (self.drawn, self.run, self.phase) = (0, 0, 0);
        self.begin_phase();
    }

    /// Checks that the job writes a page, as a run that never does would not end.
    fn check_for_writes(&mut self) -> Result<()> {
        /// Requests after which a job without a write is refused.
        const MOST: u32 = 1 << 22;
        let (runs, start) = (self.runs.replace(1), self.running.clone());
        let has_write = (0..MOST).map_while(|_| self.draw()).any(|request| request.op == Op::Write);
        self.runs = runs;
        (self.drawn, self.phase, self.running) = (0, 0, start);
        if has_write {
            return Ok(());
        }
        Err(Error::Spec(
            "the job writes nothing, so that its WA is undefined; give it writes, within the \
             drive's size"
                .into(),
        ))
    }

    fn phases(&self) -> Vec<u32> {
        let mut phases: Vec<u32> = self.plans.iter().map(|plan| plan.phase).collect();
        phases.sort_unstable();
        phases.dedup();
        phases
    }

    fn begin_phase(&mut self) {
        let phase = self.phases()[self.phase];
        let run = self.run;
        let plans = self.plans.iter().filter(|plan| plan.phase == phase);
        self.running = plans
            .map(|plan| {
                let mut job = plan.job.clone();
                if plan.is_fresh {
                    let seed = self.seed.wrapping_add(run.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                    job.seeding = Seeding::Fresh(seed);
                }
                let weight = plan.weight;
                Running { copy: Copy::new(job), weight, due: 1.0 / weight }
            })
            .collect();
    }

    fn draw(&mut self) -> Option<Request> {
        loop {
            let request = self.draw_any()?;
            self.drawn += 1;
            // A TRIM may cover no whole page.
            if request.op == Op::Flush || request.pages > 0 {
                return Some(request);
            }
        }
    }

    fn draw_any(&mut self) -> Option<Request> {
        loop {
            let due = |(_, running): &(usize, &Running)| running.due;
            let next = self.running.iter().enumerate().min_by(|a, b| due(a).total_cmp(&due(b)));
            let Some((index, _)) = next else {
                if !self.advance() {
                    return None;
                }
                continue;
            };
            let running = &mut self.running[index];
            running.due += 1.0 / running.weight;
            match running.copy.next() {
                Some(io) => return Some(self.request_of(io)),
                None => _ = self.running.remove(index),
            }
        }
    }

    /// Begins the next phase or run; false after the last run.
    fn advance(&mut self) -> bool {
        self.phase += 1;
        if self.phase == self.phases().len() {
            if self.runs.is_some_and(|runs| self.run + 1 >= runs) {
                self.phase -= 1;
                return false;
            }
            (self.run, self.phase) = (self.run + 1, 0);
        }
        self.begin_phase();
        true
    }

    fn request_of(&self, Io { direction, offset, bytes }: Io) -> Request {
        let end = offset + bytes;
        match direction {
            None => Request::flush(),
            Some(Direction::Trim) => whole_pages(offset, end, self.page_bytes),
            Some(Direction::Read) => touched_pages(Op::Read, offset, end, self.page_bytes),
            Some(Direction::Write) => touched_pages(Op::Write, offset, end, self.page_bytes),
        }
    }
}

fn seed_of(context: &Context) -> u64 {
    context.random().bits()
}

/// Start and size of a stream's region; on a smaller drive, in whole blocks of `unit` bytes.
fn region_of(params: &Params, end: u64, scale: f64, unit: u64) -> Result<(u64, u64)> {
    let whole = |bytes: u64| bytes / unit * unit;
    let share = |name: &str, of: u64| (params.number(name) * of as f64) as u64;
    let offset = params.bytes("offset") + share("offset_share", end);
    let offset = if scale > 1.0 { whole(offset) } else { offset };
    let rest = end.saturating_sub(offset);
    let size = match params.bytes("size") {
        0 if params.number("size_share") < 1.0 => whole(share("size_share", end)).min(rest),
        0 => rest,
        size if scale > 1.0 => whole(size).max(unit),
        size => size,
    };
    if size < unit || offset + size > end {
        return Err(Error::Spec(format!(
            "the job accesses {size} bytes from byte {offset} on, but the drive has {end}; give \
             a larger drive, or another size or offset of the job"
        )));
    }
    Ok((offset, size))
}

/// Options of a stream on a drive of `end` bytes.
/// The drive represents one of `scale` times its size.
fn plan_of(params: &Params, end: u64, scale: f64) -> Result<Plan> {
    let each = |name: &str| -> Result<[u64; 3]> {
        params.integers(name).try_into().map_err(|_| {
            Error::Spec(format!("stream: {name}={} must have three values", params.text(name)))
        })
    };
    let is_given = |name: &str| params.text(name) != NONE;
    let least = each("least")?;
    let unit = least.iter().copied().min().unwrap_or(1);
    let whole = |bytes: u64| bytes / unit * unit;
    let (offset, size) = region_of(params, end, scale, unit)?;
    let io_size = match (params.bytes("io_size"), params.number("io_share")) {
        (0, 0.0) => None,
        (0, share) => Some((share * size as f64) as u64),
        (bytes, _) => Some(bytes),
    };
    let pairs: Vec<u64> = if is_given("zones") { params.integers("zones") } else { Vec::new() };
    let zones: Vec<(u64, u64)> = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let parameter = params.number("parameter");
    let distribution = match params.text("distribution") {
        "zipf" => Distribution::Skew(Kind::Zipf, parameter),
        "pareto" => Distribution::Skew(Kind::Pareto, parameter),
        "normal" => Distribution::Normal(parameter),
        "zoned" => Distribution::Zoned(zones),
        "zoned-abs" => {
            let bytes =
                |(access, bytes): (u64, u64)| (access, whole((bytes as f64 / scale) as u64));
            Distribution::ZonedAbs(zones.into_iter().map(bytes).collect())
        }
        _ => Distribution::Uniform,
    };
    let mut splits: [Vec<(u64, u64)>; 3] = Default::default();
    if is_given("splits") {
        for triple in params.integers::<u64>("splits").chunks_exact(3) {
            splits[(triple[0] as usize).min(2)].push((triple[1], triple[2]));
        }
    }
    let range = params.bytes("stride_range");
    let strides = (range > 0).then(|| Strides {
        range: whole(range).max(unit),
        size: whole(params.bytes("stride_size")).max(unit),
        skip: whole(params.bytes("stride_skip")),
    });
    let seed = params.integer("seed");
    let seeding = match params.text("seeding") {
        "continued" => Seeding::Continued(seed),
        "fixed" => Seeding::Fixed(seed),
        "fresh" => Seeding::Fresh(seed),
        _ => Seeding::Repeated,
    };
    let is_set = |name: &str| params.integer::<u64>(name) == 1;
    let job = Job {
        mode: params.choice("mode", &MODES),
        is_random: is_set("random"),
        run: params.integer::<u64>("run").max(1),
        skip: params.number("skip") as i64,
        is_identical: is_set("identical"),
        least,
        most: each("most")?,
        align: each("align")?,
        splits,
        is_unaligned: is_set("unaligned"),
        is_by_order: is_set("by_order"),
        read_percent: params.integer("read_percent"),
        random_percent: each("random_percent")?,
        has_map: is_set("map") && distribution == Distribution::Uniform,
        generator: params.choice("generator", &GENERATORS),
        distribution,
        center: is_given("center").then(|| params.number("center")),
        offset,
        size,
        end,
        loops: params.integer("loops"),
        io_size,
        number_ios: is_given("requests").then(|| params.integer("requests")),
        is_timed: is_set("endless"),
        strides,
        fsync: params.integer("fsync"),
        seeding,
        number: params.integer("number"),
        scale,
        file_hash: params.integer("name_hash"),
    };
    Ok(Plan {
        is_fresh: matches!(seeding, Seeding::Fresh(_)),
        job,
        phase: params.integer("phase"),
        weight: params.number("weight"),
        handle: params.integer("handle"),
    })
}

/// Group of each page: the placement handle of the streams that write it.
fn groups_of(plans: &[Plan], pages: u32, page_bytes: u32) -> Result<(Table<u8>, Vec<Group>)> {
    let handles = plans.iter().map(|plan| plan.handle).max().unwrap_or(0);
    let mut group_of_page = filled(0, if handles == 0 { 0 } else { pages as usize })?;
    let mut groups = vec![Group { pages: 0, write_share: 0.0 }; usize::from(handles) + 1];
    groups.truncate(MOST_GROUPS);
    if handles == 0 {
        groups[0] = Group { pages, write_share: 1.0 };
        return Ok((group_of_page, groups));
    }
    let mut is_taken = vec![false; pages as usize];
    let mut rates = vec![0.0; groups.len()];
    for Plan { job, handle, weight, .. } in plans {
        let share = match job.mode {
            Mode::Read | Mode::Trim => continue,
            Mode::Mixed => 1.0 - job.read_percent as f64 / 100.0,
            Mode::Write | Mode::TrimWrite => 1.0,
        };
        rates[usize::from(*handle)] += weight * share * (job.least[1] + job.most[1]) as f64;
        let page = |bytes: u64| (bytes / u64::from(page_bytes)) as usize;
        for at in page(job.offset)..page(job.offset + job.size) {
            if is_taken[at] && group_of_page[at] != *handle {
                return Err(Error::Spec(
                    "streams with different placement handles write the same pages; give each \
                     its own offset and size"
                        .into(),
                ));
            }
            (is_taken[at], group_of_page[at]) = (true, *handle);
        }
    }
    let all: f64 = rates.iter().sum();
    for (group, rate) in groups.iter_mut().zip(rates) {
        group.write_share = rate / all;
    }
    for &group in &group_of_page {
        groups[usize::from(group)].pages += 1;
    }
    Ok((group_of_page, groups))
}

impl State for FioJobs {
    fn save(&self, to: &mut Writer) {
        to.value(&[self.drawn, !self.drawn]);
        self.merger.save(to);
    }

    /// Draws all requests again, as the maps of written blocks are large.
    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        let [drawn, inverse]: [u64; 2] = from.value("FioJobs.drawn")?;
        require(drawn == !inverse, "FioJobs.drawn")?;
        self.merger.restore(from)?;
        require(self.merger.is_sound(self.pages, self.page_bytes), "FioJobs")?;
        self.begin();
        while self.drawn < drawn && self.draw_any().is_some() {
            self.drawn += 1;
        }
        Ok(())
    }
}

impl Workload for FioJobs {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        let (mut merger, page_bytes) = (std::mem::take(&mut self.merger), self.page_bytes);
        let step = merger.next(buffer, page_bytes, || self.draw());
        self.merger = merger;
        step
    }

    fn next_request(&mut self) -> Option<Request> {
        self.merger.take_pending().or_else(|| self.draw())
    }

    fn take_unserved(&mut self) -> Unserved {
        std::mem::take(&mut self.merger.unserved)
    }

    fn cut_request(&mut self) {
        self.merger.cut();
    }

    fn pacing(&self) -> Pacing {
        Pacing::Closed { queue_depth: self.depth }
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(self.groups.clone())
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, &page) in group_of.iter_mut().zip(pages) {
            *group = self.group_of_page.get(page as usize).copied().unwrap_or(0);
        }
    }
}

impl Registered<Site> for FioJobs {
    const ENTRY: Entry =
        Entry::new("fio", "jobs of fio; --fio makes this workload from a job file")
            .common(&[TRIM, RUNS])
            .example("fio:streams=stream(loops=2)")
            .variants(&["fio:streams=stream(mode=trimwrite,size_share=0.5)/\
             stream(phase=1,least=512/512/512,most=9000/9000/9000,seeding=fresh,endless=1)"])
            .params(&[
                Param::required("streams", STREAM_LIST, "streams of requests"),
                Param::new(
                    "depth",
                    "1",
                    Domain::Whole(1, 65_536),
                    "queue depth of a timed run, of all streams together",
                ),
                PAGES_OF_DRIVE,
            ])
            .alone();

    fn build(params: &Params, site: &Site) -> Result<Self> {
        if params.text(RUNS.name) != ENDLESS && params.number(TRIM.name) > 0.0 {
            return Err(Error::Spec(
                "fio: runs= and trim= exclude each other, because TRIMs make the number of page \
                 writes random; give one of the two"
                    .into(),
            ));
        }
        FioJobs::new(params, site)
    }
}

/// Page writes after which jobs with these parameters end, or None if they do not end.
pub fn writes_in_all(params: &Params, site: &Site) -> Result<Option<u64>> {
    if params.text(RUNS.name) == ENDLESS {
        return Ok(None);
    }
    let mut jobs = FioJobs::new(params, site)?;
    let last = jobs.phases().len() as u32 - 1;
    if jobs.plans.iter().any(|plan| plan.phase >= last && plan.job.is_timed) {
        return Ok(None);
    }
    let mut written = 0;
    while let Some(request) = jobs.draw() {
        written += if request.op == Op::Write { u64::from(request.pages) } else { 0 };
    }
    Ok(Some(written))
}
