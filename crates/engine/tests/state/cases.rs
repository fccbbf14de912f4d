//! Runs of everything that is registered, in every combination that the engine accepts.

use writeamp_engine::detectors::DETECTORS;
use writeamp_engine::flash::{EraseUnit, Geometry, Shape, Wear};
use writeamp_engine::leveling::WEAR_LEVELERS;
use writeamp_engine::managers::MANAGERS;
use writeamp_engine::managers::{self, Layout, Setup};
use writeamp_engine::registry::{Entry, Registry};
use writeamp_engine::request::{Op, Request};
use writeamp_engine::rng::Stream;
use writeamp_engine::simulation::Simulation;
use writeamp_engine::victims::VICTIMS;
use writeamp_engine::workloads::WORKLOADS;
use writeamp_engine::workloads::{self, Context, Trace, Workload};
use writeamp_engine::{Error, Result};

use crate::forms::is_full;

/// Logical pages of a run: small enough for thousands; six streams on each LUN leave room.
const LOGICAL_PAGES: u32 = 700;
const FILLED_PAGES: u32 = 600;

/// Pages of a batch: odd, so that cuts fall anywhere in a batch of an own rhythm.
const BATCH_PAGES: usize = 29;

/// Further workloads, whose states depend on their parameters.
/// These are nested ones, and those that change in mid-run.
const MORE_WORKLOADS: [&str; 8] = [
    "groups:sizes=0.5/0.5,freq=0.1/0.9,swap_at=300/700,period=500",
    "drift:f=0.1,r=0.9,period=700,steps=100",
    "phases:writes=101/203,of=permutation/sequential",
    "phases:writes=101/203,of=random(bs=20k,write=0.8,trim=0.1)/zipf,turns=90",
    "database:sizes=0.5/0.1/0.2/0.2,updates=zipf,sort_every=1,rebuild_every=2,log=0.5",
    "mix:sizes=0.5/0.5,weights=0.4/0.6,of=permutation/phases(writes=50/70,of=uniform/zipf)",
    "io:write=0.6,write_size=20k,align=512,write_random=0.5,access=zipf,flush=0.1,fua=0.1,trim=0.2",
    TRACE,
];

/// Spec that stands for a trace with every kind of request.
const TRACE: &str = "trace";
/// Number of tags of the trace's requests.
const TAGS: u8 = 3;

#[derive(Debug, Clone)]
pub struct Case {
    pub manager: String,
    pub victims: &'static str,
    pub layout: Layout,
    pub leveler: Option<&'static str>,
    pub wear: Wear,
    pub workload: &'static str,
    pub seed: u64,
}

impl Case {
    pub fn drive(&self) -> Result<Box<dyn managers::BlockManager>> {
        let geometry = Geometry::new(Shape {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 50,
            pages_per_block: 18,
            page_bytes: 4096,
            erase_unit: EraseUnit::Block,
        })?;
        let setup = Setup {
            logical_pages: LOGICAL_PAGES,
            layout: self.layout,
            victims: Some(self.victims.to_owned()),
            wear_leveling: self.leveler.map(str::to_owned),
            seed: self.seed,
            wear: self.wear,
            tags: (self.workload == TRACE).then_some(TAGS),
            ..Setup::new(geometry)
        };
        managers::build(&self.manager, setup)
    }

    /// True if one of its policies, or its workload, is the entry of that name.
    fn is_of(&self, name: &str) -> bool {
        let specs = [&*self.manager, self.victims, self.leveler.unwrap_or("none"), self.workload];
        // A detector is named within the spec of its manager.
        specs.iter().any(|spec| spec.split([':', '(', ')', '=', ',']).any(|word| word == name))
    }

    /// A new run; an error if the engine knows no such combination.
    pub fn build(&self) -> Result<Simulation> {
        Simulation::new(self.drive()?, workload(self.workload, self.seed)?, BATCH_PAGES)
    }

    /// A run that has filled the drive, `None` if the engine knows no such combination.
    pub fn filled(&self) -> Option<Simulation> {
        let mut run = match self.build() {
            Ok(run) => run,
            Err(Error::Spec(_) | Error::OutOfDomain(_) | Error::Geometry(_)) => return None,
            Err(other) => panic!("{self:?}: {other}"),
        };
        match run.fill(0, FILLED_PAGES).and_then(|()| run.run(1)) {
            Ok(_) => {
                run.start_series(97);
                Some(run)
            }
            Err(Error::Spec(_)) => None,
            Err(other) => panic!("{self:?}: {other}"),
        }
    }
}

fn workload(text: &str, seed: u64) -> Result<Box<dyn Workload>> {
    if text != TRACE {
        return workloads::build(text, LOGICAL_PAGES, Context::root(seed));
    }
    let mut random = Stream::new(seed, "trace");
    let mut request = |at: u64| {
        let first = random.below(LOGICAL_PAGES - 40);
        let range = first..first + 1 + random.below(40);
        let op = [Op::Write, Op::Write, Op::Write, Op::Trim, Op::Read][random.below(5) as usize];
        let tail_bytes = random.below(4) * 512;
        let tag = random.below(TAGS.into()) as u8;
        Request { at_ns: at * 1000, tail_bytes, tag, ..Request::of_pages(op, range) }
    };
    let requests = (0..80).map(&mut request).chain([Request::flush()]);
    Ok(Box::new(Trace::new(requests.collect::<Vec<_>>(), 4096, 1_000_000)?))
}

fn small_specs(registry: &'static Registry) -> impl Iterator<Item = &'static str> {
    registry.entries.iter().flat_map(Entry::small_specs)
}

fn examples(registry: &'static Registry) -> impl Iterator<Item = &'static str> {
    registry.entries.iter().map(|entry| entry.example)
}

/// Specs of managers that small drives feel, and each detector if there is a choice of them.
fn manager_specs() -> Vec<String> {
    let detected = MANAGERS.entries.iter().flat_map(|manager| {
        examples(&DETECTORS).map(|d| format!("{}:detector={}", manager.name, nested(d)))
    });
    let valid = detected.filter(|spec| MANAGERS.read(spec).is_ok());
    small_specs(&MANAGERS).map(str::to_owned).chain(valid).collect()
}

/// A spec as the value of another's parameter.
fn nested(spec: &str) -> String {
    spec.split_once(':').map_or(spec.to_owned(), |(name, params)| format!("{name}({params})"))
}

/// Every combination, in turn: manager, victims, layout, leveller, wear and workload.
pub fn all() -> impl Iterator<Item = Case> {
    let victims: Vec<_> = examples(&VICTIMS).collect();
    let workloads: Vec<_> = examples(&WORKLOADS).chain(MORE_WORKLOADS).collect();
    let managers = manager_specs();
    let levelers: Vec<_> =
        [None].into_iter().chain(small_specs(&WEAR_LEVELERS).map(Some)).collect();
    let wears = [Wear::default(), Wear { limit: 4, spare_blocks_per_pool: 2 }];
    let radices = [
        managers.len(),
        victims.len(),
        Layout::ALL.len(),
        levelers.len(),
        wears.len(),
        workloads.len(),
    ];
    (0..radices.iter().product::<usize>()).map(move |number| {
        let mut rest = number;
        let digits = radices.map(|radix| {
            let digit = rest % radix;
            rest /= radix;
            digit
        });
        Case {
            manager: managers[digits[0]].clone(),
            victims: victims[digits[1]],
            layout: Layout::ALL[digits[2]],
            leveler: levelers[digits[3]],
            wear: wears[digits[4]],
            workload: workloads[digits[5]],
            seed: number as u64,
        }
    })
}

/// Every `nth` combination, or all of them where a full test is asked for.
/// Where `make check-policy` names an entry, they are those of that entry. No other stride below is
/// a divisor of what there is of anything, so each pair of entries comes up.
pub fn some(nth: usize) -> impl Iterator<Item = Case> {
    let only = std::env::var("WRITEAMP_POLICY").ok();
    let is_asked = move |case: &Case| only.as_deref().is_none_or(|name| case.is_of(name));
    all().filter(is_asked).step_by(if is_full() { 1 } else { nth })
}
