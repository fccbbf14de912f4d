//! Benchmark of the timed drive, in flash operations per second: `cargo bench --bench timed`.
//!
//! Flash operations are all reads, programs and erases of the array, including those of collection.
//! The drives are in their steady state before the measurement. Each sample continues with the drive
//! of the previous sample.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use writeamp_engine::flash::{EraseUnit, Geometry, Recorder, Shape};
use writeamp_engine::managers::{self, Layout, Setup};
use writeamp_engine::request::Op;
use writeamp_engine::rng::Stream;
use writeamp_engine::timing::{
    Array, BlockDevice, Bus, ByKind, Completion, IoRequest, Ssd, Timing,
};

const PAGE_BYTES: u32 = 4096;
/// Number of requests that are outstanding at a time.
const DEPTH: u32 = 64;
/// Number of flash operations in a sample.
const OPERATIONS: u64 = 1 << 18;

/// Returns a drive of eight channels with two dies each; spare factor 0.22, op 0.28.
fn ssd() -> Ssd {
    let geometry = Geometry::new(Shape {
        channels: 8,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 128,
        pages_per_block: 128,
        page_bytes: PAGE_BYTES,
        erase_unit: EraseUnit::Block,
    })
    .expect("a small drive");
    let host_pages = (f64::from(geometry.blocks() * geometry.pages_per_block()) / 1.28) as u32;
    let setup =
        Setup { logical_pages: host_pages, layout: Layout::StripedPerLun, ..Setup::new(geometry) };
    let mut drive = managers::build_observed("single", setup, Box::new(Recorder::default()))
        .expect("a registered manager");
    let mut random = Stream::new(1, "aging");
    let pages: Vec<u32> =
        (0..host_pages).chain((0..2 * host_pages).map(|_| random.below(host_pages))).collect();
    drive.write(&pages, None).expect("pages of the drive");
    let timing = Timing {
        timing: Array {
            read_us: ByKind::Same(50.0),
            program_us: ByKind::Same(600.0),
            erase_us: 3000.0,
            ..Array::default()
        },
        bus: Bus {
            channel_mb_s: 400.0,
            read_command_ns: 200,
            program_command_ns: 200,
            erase_command_ns: 200,
            ..Bus::default()
        },
        ..Timing::default()
    };
    Ssd::new(drive, timing, host_pages, 1).expect("a possible profile")
}

/// A drive with random requests of one page, of which [`DEPTH`] are always outstanding.
struct Loop {
    ssd: Ssd,
    op: Op,
    random: Stream,
    now_ns: u64,
    completed: Vec<Completion>,
}

impl Loop {
    fn new(op: Op) -> Self {
        let (random, completed) = (Stream::new(2, "workload"), Vec::new());
        let mut begun = Loop { ssd: ssd(), op, random, now_ns: 0, completed };
        (0..DEPTH).for_each(|id| begun.ask(id));
        begun
    }

    fn ask(&mut self, id: u32) {
        let pages = (self.ssd.capacity_bytes() / u64::from(PAGE_BYTES)) as u32;
        let offset = u64::from(self.random.below(pages)) * u64::from(PAGE_BYTES);
        let length = u64::from(PAGE_BYTES);
        let request = IoRequest::new(self.op, offset, length);
        self.ssd.submit(self.now_ns, &request, id).expect("a page of the drive");
    }

    fn operations(&self) -> u64 {
        let erases = self.ssd.counters().expect("a flash drive").erases;
        self.ssd.read_operations() + self.ssd.program_operations() + erases
    }

    /// Continues for this number of flash operations.
    fn go_on(&mut self, operations: u64) {
        let end = self.operations() + operations;
        while self.operations() < end {
            self.now_ns = self.ssd.next_event_ns().expect("requests are under way");
            self.ssd.step(&mut self.completed).expect("a drive that goes on");
            while let Some(completion) = self.completed.pop() {
                self.ask(completion.id);
            }
        }
    }
}

fn flash_operations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("flash operations in time");
    group.throughput(Throughput::Elements(OPERATIONS));
    for (name, op) in [("random reads", Op::Read), ("random writes, op 0.28", Op::Write)] {
        let mut host = Loop::new(op);
        host.go_on(OPERATIONS);
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|samples| {
                let begin = Instant::now();
                (0..samples).for_each(|_| host.go_on(OPERATIONS));
                begin.elapsed()
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = timed;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(5));
    targets = flash_operations
}
criterion_main!(timed);
