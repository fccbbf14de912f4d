//! Latencies of single requests on `MQSim`'s shipped configuration, to the nanosecond.
//! They are as `MQSim` (commit 7ec40e3) answers them.

use writeamp_engine::flash::{EraseUnit, Shape};
use writeamp_engine::managers::Layout;
use writeamp_engine::request::Op;
use writeamp_engine::timing::{
    Array, BlockDevice, Bus, ByKind, Interface, IoRequest, MapCache, Ssd, Timing, WriteCache,
};

use crate::rig::{answers, setup, written};

const HOST_PAGES: u32 = 32 * 64;

fn timing() -> Timing {
    Timing {
        timing: Array {
            read_us: ByKind::Same(75.02),
            program_us: ByKind::Same(750.0),
            erase_us: 3800.0,
            ..Array::default()
        },
        bus: Bus {
            channel_mb_s: 333.333_333_3,
            read_command_ns: 290,
            program_command_ns: 361,
            ..Bus::default()
        },
        host: Interface {
            depth: 512,
            link_mb_s: 3_282.051_282,
            link_packet_bytes: 128,
            read_in_ns: 49,
            write_in_ns: 57,
            out_ns: 11,
            read_modify_write: false,
            ..Interface::default()
        },
        ..Timing::default()
    }
}

/// 32 dies of 4 blocks: what is asked of one does not depend on how many blocks it has.
fn drive(timing: Timing) -> Ssd {
    let shape = Shape {
        channels: 8,
        chips_per_channel: 4,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 2,
        pages_per_block: 64,
        page_bytes: 8192,
        erase_unit: EraseUnit::Block,
    };
    let logical_pages = Ssd::logical_pages(&timing, HOST_PAGES, 8192);
    let pages: Vec<u32> = (0..logical_pages).collect();
    let drive = written("single", setup(shape, Layout::Static, logical_pages), &pages);
    Ssd::new(drive, timing, HOST_PAGES, 1).expect("a possible profile")
}

fn latency_ns(timing: Timing, op: Op, length: u64) -> u64 {
    answers(&mut drive(timing), &[(0, IoRequest::new(op, 0, length))])[0]
}

#[test]
fn reads_take_as_long_as_in_mqsim() {
    assert_eq!(latency_ns(timing(), Op::Read, 4096), 88_906);
    assert_eq!(latency_ns(timing(), Op::Read, 8192), 102_442);
    assert_eq!(latency_ns(timing(), Op::Read, 128 * 1024), 164_458);
}

#[test]
fn a_read_whose_mapping_is_not_in_memory_takes_as_long_as_in_mqsim() {
    let map_cache = MapCache { bytes: 2 << 20, segment_bytes: 512, ..MapCache::default() };
    assert_eq!(latency_ns(Timing { map_cache, ..timing() }, Op::Read, 4096), 165_752);
}

#[test]
fn writes_take_as_long_as_in_mqsim() {
    assert_eq!(latency_ns(timing(), Op::Write, 4096), 763_965);
    let write_cache =
        WriteCache { bytes: 256 << 20, access_ns: 26, mb_s: 200.0, ..WriteCache::default() };
    assert_eq!(latency_ns(Timing { write_cache, ..timing() }, Op::Write, 4096), 21_822);
}

#[test]
fn what_was_read_to_keep_the_other_half_of_a_page_delays_a_write_as_in_mqsim() {
    let mut timing = timing();
    timing.host.read_modify_write = true;
    let mut drive = drive(timing);
    let half = IoRequest::new(Op::Write, 0, 4096);
    let found_ns = answers(&mut drive, &[(0, half)])[0];
    // The program then brings the whole page over the channel, for which MQSim takes no time.
    assert_eq!(found_ns, 763_965 + 87_598 + 3 * 4096);
    assert_eq!(drive.read_operations(), 1);
}
