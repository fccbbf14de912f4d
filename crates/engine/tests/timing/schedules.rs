//! Schedules worked out by hand, in nanoseconds.
//! A read takes 100 for its command, 1000 in the array and 4096 on the channel, 5196 in all; a
//! program 200 + 4096 and 10,000, 14,296 in all; an erase 300 and 50,000.

use writeamp_engine::flash::{Cause, EraseUnit, Shape};
use writeamp_engine::managers::Layout;
use writeamp_engine::request::Op;
use writeamp_engine::timing::{
    Arbitration, BlockDevice, IoRequest, MapCache, Program, Scheduling, Ssd, Timing, WriteCache,
};

use crate::rig::{
    FLUSH, ONE_DIE, PAGE, answers, of_pages, read, setup, ssd, timing, write, written,
};

#[test]
fn two_dies_of_a_channel_read_together_and_send_one_after_the_other() {
    let mut drive = ssd(Shape { dies_per_chip: 2, ..ONE_DIE }, &timing());
    assert_eq!(answers(&mut drive, &[(0, read(0)), (0, read(1))]), [5196, 5196 + 4096]);
}

#[test]
fn two_channels_share_nothing() {
    let mut drive = ssd(Shape { channels: 2, ..ONE_DIE }, &timing());
    assert_eq!(answers(&mut drive, &[(0, read(0)), (0, read(1))]), [5196, 5196]);
}

#[test]
fn a_chip_without_die_interleaving_serves_its_dies_one_after_the_other() {
    let mut timing = timing();
    timing.bus.die_interleaving = false;
    let mut drive = ssd(Shape { dies_per_chip: 2, ..ONE_DIE }, &timing);
    assert_eq!(answers(&mut drive, &[(0, read(0)), (0, read(1))]), [5196, 2 * 5196]);
}

#[test]
fn data_that_leave_a_die_go_before_a_command_that_came_first() {
    // Die 0 has its data at 1100, while the program of die 1 has the channel up to 4396 and that
    // of die 2 has been waiting for it since 0.
    let mut drive = ssd(Shape { chips_per_channel: 3, ..ONE_DIE }, &timing());
    let asked = [(0, read(0)), (0, write(1)), (0, write(2))];
    let data_ns = 4396 + 4096;
    assert_eq!(answers(&mut drive, &asked), [data_ns, 4396 + 10_000, data_ns + 14_296]);
}

#[test]
fn a_command_goes_before_data_that_leave_a_die_where_commands_go_first() {
    let mut timing = timing();
    timing.bus.arbitration = Arbitration::CommandFirst;
    let mut drive = ssd(Shape { chips_per_channel: 3, ..ONE_DIE }, &timing);
    let asked = [(0, read(0)), (0, write(1)), (0, write(2))];
    let command_ns = 4396 + 4296;
    let expected = [command_ns + 4096, 4396 + 10_000, command_ns + 10_000];
    assert_eq!(answers(&mut drive, &asked), expected);
}

fn two_planes(at_once: u32) -> Ssd {
    let program = Program { planes: at_once, ..Program::default() };
    let shape = Shape { planes_per_die: 2, erase_unit: EraseUnit::MultiPlane, ..ONE_DIE };
    ssd(shape, &Timing { program, ..timing() })
}

#[test]
fn one_program_writes_both_planes_if_it_may() {
    let both = of_pages(Op::Write, 0, 2);
    let mut at_once = two_planes(2);
    assert_eq!(answers(&mut at_once, &[(0, both)]), [200 + 2 * 4096 + 10_000]);
    assert_eq!(at_once.program_operations(), 1);
    let mut in_turn = two_planes(1);
    assert_eq!(answers(&mut in_turn, &[(0, both)]), [2 * 14_296]);
    assert_eq!(in_turn.program_operations(), 2);
}

#[test]
fn a_write_of_half_a_program_unit_is_padded_with_what_crosses_no_channel() {
    let mut drive = two_planes(2);
    assert_eq!(answers(&mut drive, &[(0, write(0))]), [14_296]);
    let counters = drive.counters().expect("a flash drive");
    assert_eq!((counters.programs(Cause::Host), counters.programs(Cause::Padding)), (1, 1));
}

#[test]
fn data_of_the_next_program_cross_the_channel_while_the_array_is_programming() {
    let program = Program { cache_program: true, ..Program::default() };
    let mut drive = ssd(ONE_DIE, &Timing { program, ..timing() });
    let asked = [(0, write(0)), (0, write(1)), (0, write(2))];
    assert_eq!(answers(&mut drive, &asked), [14_296, 24_296, 34_296]);
    let mut plain = ssd(ONE_DIE, &timing());
    assert_eq!(answers(&mut plain, &asked), [14_296, 2 * 14_296, 3 * 14_296]);
}

#[test]
fn a_part_of_a_page_is_written_once_the_rest_was_read() {
    let part = IoRequest::new(Op::Write, 0, 512);
    let read_ns = 100 + 1000 + (4096 - 512);
    for reads_first in [false, true] {
        let scheduling = Scheduling { reads_first, ..Scheduling::default() };
        let mut drive = ssd(ONE_DIE, &Timing { scheduling, ..timing() });
        assert_eq!(answers(&mut drive, &[(0, part)]), [read_ns + 14_296]);
        let counters = drive.counters().expect("a flash drive");
        assert_eq!(counters.programs(Cause::ReadModifyWrite), 1);
    }
    let mut as_it_is = timing();
    as_it_is.host.read_modify_write = false;
    assert_eq!(answers(&mut ssd(ONE_DIE, &as_it_is), &[(0, part)]), [200 + 512 + 10_000]);
}

#[test]
fn neighbours_in_one_flash_page_are_read_at_once() {
    let program = Program { flash_page_bytes: Some(2 * PAGE as u32), ..Program::default() };
    let mut drive = ssd(ONE_DIE, &Timing { program, ..timing() });
    // Pages 0 and 1 share a flash page; 1 and 2 do not.
    assert_eq!(answers(&mut drive, &[(0, of_pages(Op::Read, 0, 2))]), [100 + 1000 + 2 * 4096]);
    assert_eq!(drive.read_operations(), 1);
    let begin_ns = 1_000_000;
    let across = answers(&mut drive, &[(begin_ns, of_pages(Op::Read, 1, 2))]);
    assert_eq!(across, [begin_ns + 2 * 5196]);
    assert_eq!(drive.read_operations(), 3);
}

#[test]
fn an_entry_that_is_not_in_memory_is_read_before_the_page() {
    let map_cache = MapCache { bytes: PAGE, segment_bytes: 512, ..MapCache::default() };
    let mut drive = ssd(ONE_DIE, &Timing { map_cache, ..timing() });
    let entry_ns = 100 + 1000 + 512;
    let later_ns = 1_000_000;
    let found = answers(&mut drive, &[(0, read(0)), (later_ns, read(1))]);
    assert_eq!(found, [entry_ns + 5196, later_ns + 5196], "both entries lie in one segment");
}

#[test]
fn entries_of_a_page_of_the_table_that_is_being_read_come_with_that_read() {
    let map_cache = MapCache { bytes: PAGE, segment_bytes: 8, ..MapCache::default() };
    let mut drive = ssd(ONE_DIE, &Timing { map_cache, ..timing() });
    let entry_ns = 100 + 1000 + 512;
    let later_ns = 1_000_000;
    // Each entry is a segment of its own; the second request comes while the first one's is read,
    // the third when that was read: it has to read the page of the table again.
    let asked = [(0, of_pages(Op::Read, 0, 2)), (500, read(2)), (later_ns, read(3))];
    let mut found = answers(&mut drive, &asked);
    found[..2].sort_unstable();
    assert_eq!(found[1], entry_ns + 3 * 5196);
    assert_eq!(found[2], later_ns + entry_ns + 5196);
    assert_eq!(drive.read_operations(), 4 + 2);
}

#[test]
fn the_table_is_read_before_other_reads_that_wait_where_reads_go_first() {
    let (entry_ns, page_ns) = (100 + 1000 + 512, 5196);
    for reads_first in [false, true] {
        let map_cache = MapCache { bytes: PAGE, segment_bytes: 8, ..MapCache::default() };
        let scheduling = Scheduling { reads_first, ..Scheduling::default() };
        let mut drive = ssd(ONE_DIE, &Timing { map_cache, scheduling, ..timing() });
        // Page 1 joins the read for page 0, and goes before it then. While it is read, page 2 asks.
        let asked = [(0, read(0)), (500, read(1)), (2000, read(2))];
        let overtaken_ns = if reads_first { entry_ns } else { 0 };
        let expected =
            [entry_ns + 2 * page_ns + overtaken_ns, entry_ns + page_ns, 2 * entry_ns + 3 * page_ns];
        assert_eq!(answers(&mut drive, &asked), expected, "reads first: {reads_first}");
    }
}

#[test]
fn a_table_that_memory_holds_whole_once_it_was_read_gets_no_blocks_of_its_own() {
    let of = |bytes, own_blocks| {
        let map_cache = MapCache { bytes, own_blocks, ..MapCache::default() };
        let timing = Timing { map_cache, ..timing() };
        let page_bytes = PAGE as u32;
        (Ssd::logical_pages(&timing, 1024, page_bytes), Ssd::pages_apart(&timing, 1024, page_bytes))
    };
    // 1024 entries of 8 bytes are two pages.
    assert_eq!(of(PAGE, true), (1026, 2));
    assert_eq!(of(PAGE, false), (1026, 0));
    assert_eq!(of(2 * PAGE, true), (1026, 0));
    assert_eq!(of(0, true), (1024, 0));
}

fn cached(bytes: u64) -> Timing {
    let write_cache = WriteCache { bytes, access_ns: 50, mb_s: 1000.0, ..WriteCache::default() };
    Timing { write_cache, ..timing() }
}

#[test]
fn a_cached_write_is_answered_from_memory_and_a_flush_by_the_flash() {
    let mut drive = ssd(ONE_DIE, &cached(16 * PAGE));
    let asked = [(0, write(0)), (0, write(0)), (10_000, read(0)), (20_000, FLUSH)];
    let memory_ns = 50 + 4096;
    let found = answers(&mut drive, &asked);
    assert_eq!(found, [memory_ns, 2 * memory_ns, 10_000 + memory_ns, 20_000 + 14_296]);
    let counters = drive.counters().expect("a flash drive");
    assert_eq!(counters.programs(Cause::Host), 1, "both writes merge in memory");
}

#[test]
fn where_the_cache_is_safe_from_power_loss_flush_and_fua_wait_for_memory_alone() {
    let mut timing = cached(16 * PAGE);
    timing.write_cache.power_safe = true;
    let mut drive = ssd(ONE_DIE, &timing);
    let fua = IoRequest { fua: true, ..write(3) };
    let memory_ns = 50 + 4096;
    let found = answers(&mut drive, &[(0, fua), (10_000, FLUSH)]);
    assert_eq!(found, [memory_ns, 10_000]);
    assert_eq!(drive.counters().expect("a flash drive").host.flushes, 1);

    let mut without = ssd(
        ONE_DIE,
        &Timing { write_cache: WriteCache { bytes: 0, ..timing.write_cache.clone() }, ..timing },
    );
    assert_eq!(answers(&mut without, &[(0, fua)]), [14_296], "there is no cache to be safe in");
}

#[test]
fn a_write_larger_than_the_cache_gets_in_as_pages_leave_it() {
    // Pages 0 to 3 have places at once, and two of them leave for 4 and 5, as a place is free again
    // only when its page is programmed; then one more for each that follows.
    let mut drive = ssd(ONE_DIE, &cached(4 * PAGE));
    let found = answers(&mut drive, &[(0, of_pages(Op::Write, 0, 8))]);
    assert_eq!(found, [4 * 14_296 + 50 + 8 * 4096]);
}

#[test]
fn a_fua_write_goes_through_the_cache() {
    let fua = IoRequest { fua: true, ..write(3) };
    assert_eq!(answers(&mut ssd(ONE_DIE, &cached(16 * PAGE)), &[(0, fua)]), [14_296]);
}

#[test]
fn a_request_of_no_length_takes_no_flash() {
    let mut drive = ssd(ONE_DIE, &timing());
    let nothing = |op| IoRequest::new(op, 100, 0);
    let asked = [(0, nothing(Op::Read)), (0, nothing(Op::Write)), (0, nothing(Op::Trim))];
    assert_eq!(answers(&mut drive, &asked), [0, 0, 0]);
    assert_eq!((drive.read_operations(), drive.program_operations()), (0, 0));
}

#[test]
fn pages_without_data_and_parts_of_pages_to_trim_take_no_time() {
    let mut drive = ssd(ONE_DIE, &timing());
    let part = IoRequest::new(Op::Trim, 0, 2 * PAGE - 512);
    let asked = [(0, part), (0, read(0)), (10_000, read(1))];
    assert_eq!(answers(&mut drive, &asked), [0, 0, 15_196]);
    let host = drive.counters().expect("a flash drive").host;
    assert_eq!((host.trimmed_pages, host.trimmed_bytes), (1, 2 * PAGE - 512));
}

#[test]
fn both_directions_share_a_link_that_is_not_full_duplex() {
    let mut timing = timing();
    timing.host.link_mb_s = 1000.0;
    let asked = [(0, read(0)), (5000, write(1))];
    let program_ns = 5000 + 4096 + 14_296;
    assert_eq!(answers(&mut ssd(ONE_DIE, &timing), &asked), [5196 + 4096, program_ns]);
    timing.host.full_duplex = false;
    let found = answers(&mut ssd(ONE_DIE, &timing), &asked);
    assert_eq!(found, [5000 + 2 * 4096, program_ns], "the data of the write are on it up to 9096");
}

/// A drive whose next write erases an empty block first, and programs that.
fn about_to_erase(scheduling: Scheduling) -> Ssd {
    let pages: Vec<u32> = (0..16).chain((0..48).map(|at| at % 16)).collect();
    let writes_before_erase = (0..=pages.len()).rev().find(|&writes| {
        let setup = setup(ONE_DIE, Layout::Flat, 16);
        written("single", setup, &pages[..writes]).flash().counters().erases == 0
    });
    let pages = &pages[..writes_before_erase.expect("a new drive has erased nothing")];
    assert!(pages.len() >= 16, "the whole drive is written");
    let drive = written("single", setup(ONE_DIE, Layout::Flat, 16), pages);
    Ssd::new(drive, Timing { scheduling, ..timing() }, 16, 1).expect("a possible profile")
}

#[test]
fn an_erase_waits_behind_a_read() {
    let mut drive = about_to_erase(Scheduling::default());
    let found = answers(&mut drive, &[(0, read(5)), (0, write(0))]);
    assert_eq!(found, [5196, 5196 + 50_300 + 14_296]);
    assert_eq!(drive.counters().expect("a flash drive").erases, 1);
}

#[test]
fn a_read_behind_an_erase_waits_for_the_program_too_unless_reads_go_first() {
    let asked = [(0, write(0)), (1, read(5))];
    let in_order = answers(&mut about_to_erase(Scheduling::default()), &asked);
    assert_eq!(in_order, [50_300 + 14_296, 50_300 + 14_296 + 5196]);
    let reads_first = Scheduling { reads_first: true, ..Scheduling::default() };
    let found = answers(&mut about_to_erase(reads_first), &asked);
    assert_eq!(found, [50_300 + 5196 + 14_296, 50_300 + 5196]);
}

#[test]
fn a_read_suspends_an_erase_which_then_takes_what_was_left_and_its_resumption() {
    let scheduling = Scheduling {
        reads_first: true,
        suspend: true,
        suspend_us: 0.5,
        resume_us: 0.7,
        most_suspends: 1,
        ..Scheduling::default()
    };
    let read_ns = 10_000 + 500 + 5196;
    let erased_ns = read_ns + (50_300 - 10_000) + 700;
    let found =
        answers(&mut about_to_erase(scheduling.clone()), &[(0, write(0)), (10_000, read(5))]);
    assert_eq!(found, [erased_ns + 14_296, read_ns]);
    // Once is all: the next read waits for the erase.
    let asked = [(0, write(0)), (10_000, read(5)), (20_000, read(6))];
    let found = answers(&mut about_to_erase(scheduling), &asked);
    assert_eq!(found, [erased_ns + 5196 + 14_296, read_ns, erased_ns + 5196]);
}

#[test]
fn a_write_that_reads_have_gone_before_for_too_long_goes_before_the_next() {
    let asked = [(0, read(0)), (0, write(1)), (0, read(2)), (0, read(3)), (0, read(4))];
    let mut timing = timing();
    timing.scheduling.reads_first = true;
    let found = answers(&mut ssd(ONE_DIE, &timing), &asked);
    assert_eq!(found, [5196, 4 * 5196 + 14_296, 2 * 5196, 3 * 5196, 4 * 5196]);
    // The second read is the first to go before it, and the bound is over in the third.
    timing.scheduling.most_wait_us = 6.0;
    let found = answers(&mut ssd(ONE_DIE, &timing), &asked);
    let written_ns = 3 * 5196 + 14_296;
    assert_eq!(found, [5196, written_ns, 2 * 5196, 3 * 5196, written_ns + 5196]);
}
