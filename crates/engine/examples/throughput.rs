//! Host page writes a second of one core in steady state: `throughput [BLOCKS PAGES_PER_BLOCK FILL
//! VICTIMS MANAGER WORKLOAD WRITES]`.

use std::time::Instant;

use writeamp_engine::flash::{Geometry, Silent};
use writeamp_engine::managers::{self, Layout, Setup};
use writeamp_engine::simulation::{DEFAULT_BATCH_PAGES, Simulation};
use writeamp_engine::workloads::{self, Context};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let defaults = ["8192", "128", "0.70", "greedy", "single", "uniform", "1e8"].map(String::from);
    let mut words = defaults.clone();
    for (word, given) in words.iter_mut().zip(std::env::args().skip(1)) {
        *word = given;
    }
    let [blocks, pages_per_block, fill, victims, manager, workload, writes] = words;
    let geometry = Geometry::flat(blocks.parse()?, pages_per_block.parse()?)?;
    let logical_pages = (fill.parse::<f64>()? * f64::from(geometry.physical_pages())) as u32;
    let setup =
        Setup { geometry, logical_pages, layout: Layout::Flat, victims, seed: 1, observer: Silent };
    let drive = managers::build(&manager, setup)?;
    let load = workloads::build(&workload, logical_pages, Context::root(1))?;
    let mut simulation = Simulation::new(drive, load, DEFAULT_BATCH_PAGES)?;
    simulation.fill(logical_pages)?;
    simulation.run(2 * u64::from(logical_pages))?;

    let before = *simulation.counters();
    let start = Instant::now();
    let done = simulation.run(writes.parse::<f64>()? as u64)?;
    let seconds = start.elapsed().as_secs_f64();
    let after = simulation.counters();
    let wa = (after.flash_pages() - before.flash_pages()) as f64 / done as f64;
    println!(
        "wa {wa:.4}  {:.2} M host pages/s  {:.2} M programs/s",
        done as f64 / seconds / 1e6,
        done as f64 * wa / seconds / 1e6
    );
    Ok(())
}
