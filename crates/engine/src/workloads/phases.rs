//! Phases: one workload after another on the same pages, over and over.

use super::NESTED;
use super::{Schedule, Site, Step, Workload, build};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::state::state;

struct Phase {
    writes: u64,
    workload: Box<dyn Workload>,
}

state!(Phase { fixed writes, part workload });

pub struct Phases {
    pages: u32,
    sequence: Vec<Phase>,
    current: usize,
    left: u64,
}

state!(Phases { fixed pages, part sequence, value current, value left } where is_sound);

impl Phases {
    fn is_sound(&self) -> bool {
        self.sequence.get(self.current).is_some_and(|phase| self.left <= phase.writes)
    }
}

impl Workload for Phases {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        if self.left == 0 {
            self.current = (self.current + 1) % self.sequence.len();
            self.left = self.sequence[self.current].writes;
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let step = self.sequence[self.current].workload.next(&mut buffer[..most]);
        let Step::Writes(count) = step else {
            unreachable!("synthetic workloads write without end")
        };
        self.left -= count as u64;
        step
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn schedule(&self) -> Schedule {
        let cycle: f64 = self.sequence.iter().map(|phase| phase.writes as f64).sum();
        let mut found = Schedule { last_change: 0.0, cycle };
        let mut begin = 0.0;
        for phase in &self.sequence {
            let (writes, own) = (phase.writes as f64, phase.workload.schedule());
            let turns = (own.last_change / writes).floor();
            let last_change = match own.last_change {
                0.0 => 0.0,
                at => turns * cycle + begin + at % writes,
            };
            found = found.and(Schedule { last_change, ..own.at_share(writes / cycle) });
            begin += writes;
        }
        found
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
        super::entry("phases", "one workload after another on the same pages, over and over")
            .example("phases:writes=1e5/2e5,of=uniform/hot-cold(f=0.1,r=0.9)")
            .params(&[
                Param::required(
                    "writes",
                    Domain::List(&Domain::Whole(1, u64::MAX)),
                    "page writes of each phase",
                )
                .extent(Extent::Writes),
                Param::required("of", Domain::List(&NESTED), "workload of each phase"),
            ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let (lengths, workloads) = (params.integers("writes"), params.items("of"));
        if lengths.len() != workloads.len() {
            return Err(Error::Spec(format!(
                "phases: {} lengths and {} workloads; give one length for every workload",
                lengths.len(),
                workloads.len()
            )));
        }
        let sequence = lengths
            .into_iter()
            .zip(workloads)
            .enumerate()
            .map(|(index, (writes, workload))| {
                Ok(Phase { writes, workload: build(workload, pages, context.part(index))? })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Phases { pages, left: sequence[0].writes, sequence, current: 0 })
    }
}
