//! Jobs of fio: streams of requests in fio's order, of which several run at the same time.
//!
//! The sequences are those of the crate `writeamp_fio`. This file mixes them, and cuts them into
//! pages.

mod parameters;
mod plan;

use writeamp_fio::{Copy, Direction, Io, Seeding};

use super::io::{Merger, touched_pages, whole_pages};
use super::{Context, Pacing, Site, Step, TRIM, Unserved, Workload};
use crate::error::{Error, Result};
use crate::flash::Table;
use crate::hints::Group;
use crate::params::{Domain, Param, Params, Specs};
use crate::registry::{Entry, Registered};
use crate::request::{Op, Request};
use crate::state::{Reader, State, Writer, require};
use parameters::{ENDLESS, PAGES_OF_DRIVE, RUNS, STREAM_LIST, STREAMS};
use plan::{Plan, groups_of, plan_of};

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
            "the jobs write nothing, so their WA is undefined; add a job that writes, such as \
             rw=randwrite"
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
            .variants(&[
                "fio:streams=stream(mode=trimwrite,size_share=0.5)/\
             stream(phase=1,least=512/512/512,most=9000/9000/9000,seeding=fresh,endless=1)",
                "fio:streams=stream(spr_op=0.15,spr_regions=4)/stream(phase=1,endless=1)",
            ])
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
