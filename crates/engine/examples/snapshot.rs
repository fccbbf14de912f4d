//! Time that saving and restoring a full drive takes, and the bytes of its state.
//!
//! `cargo run --release --example snapshot -- [GIB] [MANAGER] [WORKLOAD]`

use std::time::Instant;

use writeamp_engine::Result;
use writeamp_engine::flash::Geometry;
use writeamp_engine::managers::{self, Setup};
use writeamp_engine::simulation::{DEFAULT_BATCH_PAGES, Simulation};
use writeamp_engine::workloads::{self, Context};

const PAGES_PER_GIB: u32 = 1 << 18;
const PAGES_PER_BLOCK: u32 = 512;
const ROUNDS: usize = 5;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let gib: u32 = arguments.next().map_or(100, |text| text.parse().expect("a number of GiB"));
    let manager = arguments.next().unwrap_or_else(|| "single".into());
    let workload = arguments.next().unwrap_or_else(|| "uniform".into());
    let logical_pages = gib * PAGES_PER_GIB;
    let build = || {
        let blocks = logical_pages / 8 * 9 / PAGES_PER_BLOCK; // op = 12.5%
        let setup = Setup { logical_pages, ..Setup::new(Geometry::flat(blocks, PAGES_PER_BLOCK)?) };
        let drive = managers::build(&manager, setup)?;
        let workload = workloads::build(&workload, logical_pages, Context::root(1))?;
        Simulation::new(drive, workload, DEFAULT_BATCH_PAGES)
    };
    let mut run = build()?;
    run.fill(0, logical_pages)?;
    run.run(u64::from(logical_pages) / 2)?;
    println!("{manager} under {workload}, {gib} GiB of 4 KiB pages:");
    let (mut saving, mut restoring) = (Vec::new(), Vec::new());
    let mut bytes = Vec::new();
    for _ in 0..ROUNDS {
        drop(bytes);
        let start = Instant::now();
        bytes = run.save();
        saving.push(start.elapsed().as_secs_f64());
        let fresh = build()?;
        let start = Instant::now();
        let restored = fresh.restored(&bytes)?;
        restoring.push(start.elapsed().as_secs_f64());
        assert!(restored.counters() == run.counters());
    }
    println!("{:.1} MB", bytes.len() as f64 / 1e6);
    for (what, mut seconds) in [("save", saving), ("restore", restoring)] {
        seconds.sort_by(f64::total_cmp);
        let (least, median, most) = (seconds[0], seconds[ROUNDS / 2], seconds[ROUNDS - 1]);
        println!("{what}: {median:.3} s, of {ROUNDS} from {least:.3} to {most:.3}");
    }
    Ok(())
}
