//! Benchmarks of the loops in which runs spend their time.
//!
//! `cargo bench` runs all benchmarks, `cargo bench -- greedy` those with "greedy" in their name. A
//! drive is filled, then the load writes twice its size before the measurement, so that the drive is
//! in its steady state. Throughput is in host pages, draws or trimmed pages per second; the name of the group
//! states the unit.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use writeamp_engine::flash::{EraseUnit, Geometry, Shape};
use writeamp_engine::managers::{self, BlockManager, Setup};
use writeamp_engine::meanfield::{self, Model};
use writeamp_engine::request::{Op, Request};
use writeamp_engine::simulation::{DEFAULT_BATCH_PAGES, Simulation};
use writeamp_engine::workloads::{self, Context, Trace, Workload};

const SEED: u64 = 1;
const BLOCKS: u32 = 2048;
const PAGES_PER_BLOCK: u32 = 128;
const HOT_COLD: &str = "hot-cold:f=0.1,r=0.9";

fn logical_pages(fill: f64) -> u32 {
    (f64::from(BLOCKS * PAGES_PER_BLOCK) * fill) as u32
}

fn drive(manager: &str, victims: Option<&str>, fill: f64) -> Box<dyn BlockManager> {
    let shape = Shape {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS,
        pages_per_block: PAGES_PER_BLOCK,
        page_bytes: 4096,
        erase_unit: EraseUnit::Block,
    };
    let setup = Setup {
        logical_pages: logical_pages(fill),
        victims: victims.map(str::to_owned),
        seed: SEED,
        ..Setup::new(Geometry::new(shape).expect("a small drive"))
    };
    managers::build(manager, setup).expect("a registered manager")
}

fn workload(spec: &str, pages: u32) -> Box<dyn Workload> {
    workloads::build(spec, pages, Context::root(SEED)).expect("a registered workload")
}

fn host_writes(criterion: &mut Criterion) {
    const WRITES: u64 = 1 << 18;
    let mut group = criterion.benchmark_group("host pages written");
    group.throughput(Throughput::Elements(WRITES));
    for (manager, victims, load, fill) in [
        ("single", Some("greedy"), "uniform", 0.70),
        ("single", Some("greedy"), "uniform", 0.87),
        ("sepbit", Some("cost-benefit"), HOT_COLD, 0.87),
        ("hcwf-swap:d=10,d_swap=100", None, HOT_COLD, 0.87),
        ("wolf-interval", None, HOT_COLD, 0.87),
    ] {
        let pages = logical_pages(fill);
        let drive = drive(manager, victims, fill);
        let mut run = Simulation::new(drive, workload(load, pages), DEFAULT_BATCH_PAGES)
            .expect("a workload of the drive's size");
        run.fill(0, pages).expect("the fill");
        run.run(2 * u64::from(pages)).expect("the warm-up");
        let victims = victims.map(|name| format!(" {name}")).unwrap_or_default();
        group.bench_function(format!("{manager}{victims} {load} {fill:.2}"), |bencher| {
            bencher.iter(|| run.run(black_box(WRITES)).expect("writes"));
        });
    }
    group.finish();
}

fn trims(criterion: &mut Criterion) {
    let (pages, count) = (logical_pages(0.87), 1 << 12);
    let written: Vec<u32> = (0..pages).collect();
    let mut drive = drive("single", Some("greedy"), 0.87);
    let mut first = 0;
    let mut group = criterion.benchmark_group("pages trimmed and written again");
    group.throughput(Throughput::Elements(u64::from(count)));
    group.bench_function("single greedy, ranges of 4096", |bencher| {
        bencher.iter(|| {
            let range = first..first + count;
            drive.trim(black_box(range.clone())).expect("a trim");
            drive.write(&written[first as usize..range.end as usize], None).expect("writes");
            first = (first + 7 * count) % (pages - count);
        });
    });
    group.finish();
}

fn replay(criterion: &mut Criterion) {
    const WRITES: u64 = 1 << 18;
    let pages = logical_pages(0.87);
    let mut group = criterion.benchmark_group("host pages replayed");
    group.throughput(Throughput::Elements(WRITES));
    for (length, has_reads) in [(1, false), (1, true), (8, false)] {
        let mut first_pages = vec![0; 1 << 16];
        workload("zipf:s=0.99", pages - length).next(&mut first_pages);
        let requests = first_pages.iter().map(|&first| {
            let is_read = has_reads && first.is_multiple_of(2);
            let op = if is_read { Op::Read } else { Op::Write };
            Request::of_pages(op, first..first + length)
        });
        let trace = Trace::new(requests, 4096, u64::MAX).expect("a trace");
        let drive = drive("single", Some("greedy"), 0.87);
        let mut run = Simulation::new(drive, Box::new(trace), DEFAULT_BATCH_PAGES)
            .expect("a trace of its size");
        run.fill(0, pages).expect("the fill");
        run.run(2 * u64::from(pages)).expect("the warm-up");
        let reads = if has_reads { ", half of them reads" } else { "" };
        let name = format!("single greedy, requests of {length} pages{reads}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| run.run(black_box(WRITES)).expect("writes"));
        });
    }
    group.finish();
}

fn draws(criterion: &mut Criterion) {
    let mut batch = vec![0; DEFAULT_BATCH_PAGES];
    let mut group = criterion.benchmark_group("pages drawn");
    group.throughput(Throughput::Elements(batch.len() as u64));
    for spec in ["uniform", HOT_COLD, "zipf:s=0.99", "tpcc"] {
        let mut workload = workload(spec, logical_pages(0.87));
        group.bench_function(spec, |bencher| {
            bencher.iter(|| workload.next(black_box(&mut batch)));
        });
    }
    group.finish();
}

fn fixed_points(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mean-field fixed points");
    for (name, d_swap) in [("hcwf", None), ("hcwf-swap", Some(8))] {
        let model = Model::new(64, 0.12, 9, d_swap, 0.2, 0.77).expect("a model");
        group.bench_function(format!("{name}, 64 pages per block"), |bencher| {
            bencher.iter(|| meanfield::solve(black_box(&model)).expect("a fixed point"));
        });
    }
    group.finish();
}

criterion_group! {
    name = hot_loops;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(4));
    targets = host_writes, trims, replay, draws, fixed_points
}
criterion_main!(hot_loops);
