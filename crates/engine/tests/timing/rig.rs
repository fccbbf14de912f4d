//! Small drives, and a host that asks at stated times.

use writeamp_engine::flash::{EraseUnit, Geometry, Recorder, Shape};
use writeamp_engine::managers::{self, BlockManager, Layout, Setup};
use writeamp_engine::request::Op;
use writeamp_engine::timing::{
    Array, BlockDevice, Bus, ByKind, Completion, IoRequest, Ssd, Timing,
};

pub const PAGE: u64 = 4096;

/// One die with one plane.
pub const ONE_DIE: Shape = Shape {
    channels: 1,
    chips_per_channel: 1,
    dies_per_chip: 1,
    planes_per_die: 1,
    blocks_per_plane: 16,
    pages_per_block: 4,
    page_bytes: PAGE as u32,
    erase_unit: EraseUnit::Block,
};

/// Round numbers, and a channel that takes a nanosecond for a byte.
pub fn timing() -> Timing {
    Timing {
        timing: Array {
            read_us: ByKind::Same(1.0),
            program_us: ByKind::Same(10.0),
            erase_us: 50.0,
            ..Array::default()
        },
        bus: Bus {
            channel_mb_s: 1000.0,
            read_command_ns: 100,
            program_command_ns: 200,
            erase_command_ns: 300,
            ..Bus::default()
        },
        ..Timing::default()
    }
}

pub fn setup(shape: Shape, layout: Layout, logical_pages: u32) -> Setup {
    Setup { logical_pages, layout, ..Setup::new(Geometry::new(shape).expect("a small drive")) }
}

/// A drive that can be timed, some of its pages written before time begins.
pub fn written(manager: &str, setup: Setup, pages: &[u32]) -> Box<dyn BlockManager> {
    let mut drive = managers::build_observed(manager, setup, Box::new(Recorder::default()))
        .expect("a drive that can be built");
    drive.write(pages, None).expect("pages of the drive");
    drive
}

/// A drive of 16 logical pages for the host, each on a LUN of its own in turn, all written.
pub fn ssd(shape: Shape, timing: &Timing) -> Ssd {
    let logical_pages = Ssd::logical_pages(timing, 16, PAGE as u32);
    let pages: Vec<u32> = (0..logical_pages).collect();
    let table_pages = Ssd::pages_apart(timing, 16, PAGE as u32);
    let setup = Setup { table_pages, ..setup(shape, Layout::Static, logical_pages) };
    let drive = written("single", setup, &pages);
    Ssd::new(drive, timing.clone(), 16, 1).expect("a possible profile")
}

pub fn of_pages(op: Op, page: u64, pages: u64) -> IoRequest {
    IoRequest::new(op, page * PAGE, pages * PAGE)
}

pub fn read(page: u64) -> IoRequest {
    of_pages(Op::Read, page, 1)
}

pub fn write(page: u64) -> IoRequest {
    of_pages(Op::Write, page, 1)
}

pub const FLUSH: IoRequest = IoRequest::new(Op::Flush, 0, 0);

/// Times at which requests are answered that are asked at given times.
pub fn answers(ssd: &mut Ssd, asked: &[(u64, IoRequest)]) -> Vec<u64> {
    let mut completed: Vec<Completion> = Vec::new();
    for (id, (at_ns, request)) in asked.iter().enumerate() {
        while ssd.next_event_ns().is_some_and(|next_ns| next_ns < *at_ns) {
            ssd.step(&mut completed).expect("a drive that goes on");
        }
        ssd.submit(*at_ns, request, id as u32).expect("a request within the drive");
    }
    while ssd.next_event_ns().is_some() {
        ssd.step(&mut completed).expect("a drive that goes on");
    }
    completed.sort_by_key(|completion| completion.id);
    assert_eq!(completed.len(), asked.len(), "every request is answered");
    completed.iter().map(|completion| completion.at_ns).collect()
}
