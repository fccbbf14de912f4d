//! Phases: one workload after another on the same pages, repeated without end or a fixed
//! number of times.

use super::{NESTED_OR_REQUESTS, TRIM};
use super::{Schedule, Site, Step, Unserved, Workload, build_for};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::request::{Op, Request};
use crate::state::state;

/// Word for an endless number of turns, which are passes through all phases.
const ENDLESS: &str = "endless";

const TURNS: Param = Param::new(
    "turns",
    ENDLESS,
    Domain::Either(&Domain::Word(&[ENDLESS]), &Domain::Whole(1, u32::MAX as u64)),
    "number of turns through all phases, or endless",
);

struct Phase {
    writes: u64,
    workload: Box<dyn Workload>,
}

state!(Phase { fixed writes, nested workload });

pub struct Phases {
    pages: u32,
    sequence: Vec<Phase>,
    turns: Option<u64>,
    current: usize,
    left: u64,
    /// Number of turns that follow the current one; not used if the number of turns is endless.
    turns_left: u64,
    /// Skipped reads and flushes of phases that have ended.
    unserved: Unserved,
}

state! {
    Phases {
        fixed pages,
        nested sequence,
        fixed turns,
        value current,
        value left,
        value turns_left,
        value unserved,
    } where is_sound
}

impl Phases {
    fn is_sound(&self) -> bool {
        self.sequence.get(self.current).is_some_and(|phase| self.left <= phase.writes)
            && self.turns_left < self.turns.unwrap_or(1)
            && self.unserved.is_plausible()
    }

    /// Begins the next phase if the current one is complete. Returns false if no phase is left.
    fn advance_phase(&mut self) -> bool {
        if self.left > 0 {
            return true;
        }
        let next = (self.current + 1) % self.sequence.len();
        if next == 0 && self.turns.is_some() {
            let Some(turns_left) = self.turns_left.checked_sub(1) else { return false };
            self.turns_left = turns_left;
        }
        // The end of a phase may cut off a request. The rest is discarded, so that the next turn
        // begins with a whole request.
        let ended = &mut self.sequence[self.current].workload;
        ended.cut_request();
        self.unserved = self.unserved + ended.take_unserved();
        self.current = next;
        self.left = self.sequence[next].writes;
        true
    }

    fn writes_of_turn(&self) -> f64 {
        self.sequence.iter().map(|phase| phase.writes as f64).sum()
    }
}

impl Workload for Phases {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        if !self.advance_phase() {
            return Step::End;
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let step = self.sequence[self.current].workload.next(&mut buffer[..most]);
        if let Step::Writes(count) = step {
            self.left -= count as u64;
        }
        step
    }

    fn next_request(&mut self) -> Option<Request> {
        if !self.advance_phase() {
            return None;
        }
        let request = self.sequence[self.current].workload.next_request()?;
        if request.op != Op::Write {
            return Some(request);
        }
        let is_cut = u64::from(request.pages) > self.left;
        let pages = if is_cut { self.left as u32 } else { request.pages };
        self.left -= u64::from(pages);
        let tail_bytes = if is_cut { 0 } else { request.tail_bytes };
        Some(Request { pages, tail_bytes, ..request })
    }

    fn take_unserved(&mut self) -> Unserved {
        let current = self.sequence[self.current].workload.take_unserved();
        std::mem::take(&mut self.unserved) + current
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn schedule(&self) -> Schedule {
        let cycle = self.writes_of_turn();
        if let Some(turns) = self.turns {
            let last = self.sequence.last().map_or(0.0, |phase| phase.writes as f64);
            return Schedule { last_change: turns as f64 * cycle - last, cycle: 0.0 };
        }
        let mut schedule = Schedule { last_change: 0.0, cycle };
        let mut begin = 0.0;
        for phase in &self.sequence {
            let (writes, own) = (phase.writes as f64, phase.workload.schedule());
            let turns = (own.last_change / writes).floor();
            let last_change = match own.last_change {
                0.0 => 0.0,
                at => turns * cycle + begin + at % writes,
            };
            schedule = schedule.and(Schedule { last_change, ..own.at_share(writes / cycle) });
            begin += writes;
        }
        schedule
    }

    fn groups(&self) -> Option<Vec<Group>> {
        self.sequence[self.current].workload.groups()
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        self.sequence[self.current].workload.find_groups(pages, group_of);
    }
}

impl Registered<Site> for Phases {
    const ENTRY: Entry =
        Entry::new("phases", "one workload after another on the same pages, repeatedly")
            .common(&[TRIM, TURNS])
            .example("phases:writes=1e5/2e5,of=uniform/hot-cold(f=0.1,r=0.9)")
            .variants(&["phases:writes=101/203,of=random(bs=20k,align=512,trim=0.1)/uniform"])
            .params(&[
                Param::required(
                    "writes",
                    Domain::List(&Domain::Whole(1, u64::MAX)),
                    "number of page writes of each phase",
                )
                .extent(Extent::Writes),
                Param::required(
                    "of",
                    Domain::List(&NESTED_OR_REQUESTS),
                    "workload of each phase, which writes pages or consists of requests",
                ),
            ]);

    fn build(params: &Params, site: &Site) -> Result<Self> {
        let (lengths, workloads) = (params.integers("writes"), params.items("of"));
        if lengths.len() != workloads.len() {
            return Err(Error::Spec(format!(
                "phases: {} lengths and {} workloads; give one length for every workload",
                lengths.len(),
                workloads.len()
            )));
        }
        let turns = (params.text(TURNS.name) != ENDLESS).then(|| params.integer(TURNS.name));
        if turns.is_some() && params.number(TRIM.name) > 0.0 {
            return Err(Error::Spec(
                "phases: turns= and trim= exclude each other, because TRIMs make the number of \
                 page writes random; give one of the two"
                    .into(),
            ));
        }
        let sequence = lengths
            .into_iter()
            .zip(workloads)
            .enumerate()
            .map(|(index, (writes, workload))| {
                let site = Site { context: site.context.child(index), ..site.clone() };
                Ok(Phase { writes, workload: build_for(workload, &site)? })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Phases {
            pages: site.pages,
            left: sequence[0].writes,
            sequence,
            turns,
            current: 0,
            turns_left: turns.map_or(0, |turns| turns - 1),
            unserved: Unserved::default(),
        })
    }
}

/// Checks that the units written in phases that end do not depend on where requests begin.
pub fn check_in_units(params: &Params) -> Result<()> {
    if params.text(TURNS.name) == ENDLESS {
        return Ok(());
    }
    for workload in params.items("of") {
        if super::characteristics(workload)?.is_some() {
            return Err(Error::Spec(format!(
                "phases: with turns=, {workload} cannot be counted in mapping units, because the \
                 units of a request depend on where it begins; leave turns= out"
            )));
        }
    }
    Ok(())
}

/// Page writes after which phases with these parameters end, or None if they do not end.
pub fn writes_in_all(params: &Params) -> Option<u64> {
    if params.text(TURNS.name) == ENDLESS {
        return None;
    }
    let writes_per_turn = params.integers("writes").into_iter().fold(0, u64::saturating_add);
    Some(writes_per_turn.saturating_mul(params.integer(TURNS.name)))
}

#[cfg(test)]
mod tests;
