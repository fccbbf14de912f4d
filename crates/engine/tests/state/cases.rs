//! Runs of everything that is registered, in every combination that the engine accepts.

use writeamp_engine::flash::{EraseUnit, Geometry, Shape, Wear};
use writeamp_engine::managers::{self, Layout, Setup};
use writeamp_engine::request::{Op, Request};
use writeamp_engine::rng::Stream;
use writeamp_engine::simulation::Simulation;
use writeamp_engine::workloads::{self, Context, Trace, Workload};
use writeamp_engine::{Error, Result, detectors, leveling, spec, victims};

/// Small enough for thousands of runs; six streams on each LUN leave it room.
const LOGICAL_PAGES: u32 = 700;
const FILLED_PAGES: u32 = 600;

/// Odd, so that cuts fall anywhere in a batch of an own rhythm.
const BATCH_PAGES: usize = 29;

const LAYOUTS: [Layout; 3] = [Layout::Flat, Layout::Striped, Layout::StripedPerLun];

/// What a manager keeps depends on its parameters: what the registry's examples leave out.
const MORE_MANAGERS: [&str; 9] = [
    "nvme-fdp:handles=3,isolation=persistent,by=range",
    "wolf:detector=bloom,interval=0.05,weight=0.2,hold=4,ratio=1.3,demotion=0.5",
    "wolf:detector=bloom,groups=3,max_groups=3,interval=0.1,allocation=frequency",
    "wolf:detector=none",
    "wolf:interval=0.1,allocation=closed-form",
    "wolf-interval:interval=0.05,weight=0.2,ratio=1.2",
    "fdp-frequency:class=current,interval=0.1",
    "fdp-frequency:detector=bloom,groups=3,interval=0.1",
    "sfs:samples=16",
];

/// Likewise for workloads: nested ones, and those that change in mid-run.
const MORE_WORKLOADS: [&str; 6] = [
    "groups:sizes=0.5/0.5,freq=0.1/0.9,swap_at=300/700,period=500",
    "drift:f=0.1,r=0.9,period=700,steps=100",
    "phases:writes=101/203,of=permutation/sequential",
    "database:sizes=0.5/0.1/0.2/0.2,updates=zipf,sort_every=1,rebuild_every=2,log=0.5",
    "mix:sizes=0.5/0.5,weights=0.4/0.6,of=permutation/phases(writes=50/70,of=uniform/zipf)",
    TRACE,
];

/// Stands for a trace with every kind of request.
const TRACE: &str = "trace";

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
        let setup = Setup {
            geometry: Geometry::new(Shape {
                channels: 2,
                chips_per_channel: 1,
                dies_per_chip: 1,
                planes_per_die: 1,
                blocks_per_plane: 50,
                pages_per_block: 18,
                page_bytes: 4096,
                erase_unit: EraseUnit::Block,
            })?,
            logical_pages: LOGICAL_PAGES,
            layout: self.layout,
            victims: Some(self.victims.to_owned()),
            wear_leveling: self.leveler.map(str::to_owned),
            seed: self.seed,
            wear: self.wear,
        };
        managers::build(&self.manager, setup)
    }

    /// A new run; an error if the engine knows no such combination.
    pub fn build(&self) -> Result<Simulation> {
        Simulation::new(self.drive()?, workload(self.workload, self.seed)?, BATCH_PAGES)
    }

    /// A run that has filled the drive, `None` if the engine knows no such combination.
    pub fn filled(&self) -> Option<Simulation> {
        let mut run = match self.build() {
            Ok(run) => run,
            Err(Error::Spec(_) | Error::Geometry(_)) => return None,
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
        Request { at_ns: at * 1000, tail_bytes, ..Request::of_pages(op, range) }
    };
    let requests = (0..80).map(&mut request).chain([Request::flush()]);
    Ok(Box::new(Trace::new(requests.collect::<Vec<_>>(), 4096, 1_000_000)?))
}

fn examples(entries: &'static [spec::Entry]) -> impl Iterator<Item = &'static str> {
    entries.iter().map(|entry| entry.example)
}

fn manager_specs() -> Vec<String> {
    let hcwf = ["hcwf", "hcwf-swap"].into_iter();
    let detected = hcwf.flat_map(|manager| {
        examples(detectors::ENTRIES).map(move |d| format!("{manager}:detector={}", nested(d)))
    });
    let registered = examples(managers::ENTRIES).chain(MORE_MANAGERS).map(str::to_owned);
    registered.chain(detected).collect()
}

/// A spec as the value of another's parameter.
fn nested(spec: &str) -> String {
    spec.split_once(':').map_or(spec.to_owned(), |(name, params)| format!("{name}({params})"))
}

fn levelers() -> Vec<Option<&'static str>> {
    // With the thresholds of the examples, small drives would never be levelled.
    let small = |spec: &'static str| match spec {
        "youngest-free:reserve=8" => "youngest-free:reserve=1",
        "static:threshold=16" => "static:threshold=2",
        "dual-pool:threshold=16" => "dual-pool:threshold=2",
        other => other,
    };
    [None].into_iter().chain(examples(leveling::ENTRIES).map(small).map(Some)).collect()
}

/// Every combination, in turn: manager, victims, layout, leveller, wear and workload.
pub fn all() -> impl Iterator<Item = Case> {
    let victims: Vec<_> = examples(victims::ENTRIES).collect();
    let workloads: Vec<_> = examples(workloads::ENTRIES).chain(MORE_WORKLOADS).collect();
    let (managers, levelers) = (manager_specs(), levelers());
    let wears = [Wear::default(), Wear { limit: 4, spare_blocks_per_pool: 2 }];
    let radices = [
        managers.len(),
        victims.len(),
        LAYOUTS.len(),
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
            layout: LAYOUTS[digits[2]],
            leveler: levelers[digits[3]],
            wear: wears[digits[4]],
            workload: workloads[digits[5]],
            seed: number as u64,
        }
    })
}

/// Every `nth` combination, or all of them where a full test is asked for. No other stride below is a
/// divisor of what there is of anything, so each pair of entries comes up.
pub fn some(nth: usize) -> impl Iterator<Item = Case> {
    let is_full = std::env::var_os("WRITEAMP_TEST_FULL").is_some();
    all().step_by(if is_full { 1 } else { nth })
}
