//! Random drives: their shapes and times, for the engine and for the naive drive.

use proptest::prelude::*;
use writeamp_engine::flash::{EraseUnit, Geometry, Shape};
use writeamp_engine::managers::{Layout, Setup};
use writeamp_engine::timing::{
    Arbitration, Array, Bus, ByKind, Collection, Dispatch, Errors, Interface, MapCache, PlaneReads,
    Program, Refresh, Scheduling, Slc, Timing, WhenFull, WriteCache,
};
use writeamp_naive::timed::{ErrorTable, Profile};

/// Kinds of durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Times {
    /// Times in ns with few common multiples, so that few events have the same time.
    Odd,
    /// Times as in `Odd`, drawn at random with a spread.
    Spread,
    /// Equal times for the array and commands, and none for transfers.
    /// Many events then have the same time.
    Equal,
    /// All times are 0.
    Zero,
}

/// Parts that only some drives have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// No caches, no refresh.
    Array,
    /// Any.
    All,
    /// Any, and an SLC cache.
    Slc,
}

/// A drive and its times.
#[derive(Debug, Clone)]
pub struct Drive {
    pub geometry: Geometry,
    pub layout: Layout,
    pub manager: &'static str,
    pub wear_leveling: Option<&'static str>,
    pub host_pages: u32,
    /// Pages that are written before time 0.
    pub filled_pages: u32,
    pub timing: Timing,
    pub seed: u64,
}

/// Managers of random drives, with each kind of hint and of collection.
/// Number of tags of the host.
pub const TAGS: u8 = 3;

const MANAGERS: [&str; 12] = [
    "single",
    "sepgc",
    "dac",
    "single",
    "sepgc",
    "hcwf",
    "hcwf-swap:detector=bloom",
    "wolf",
    "wolf-interval",
    "fdp-frequency",
    "nvme-fdp",
    "oracle:streams=2",
];

type Numbers = Vec<u32>;

/// Generates drives with these times and parts.
pub fn drives(times: Times, parts: Parts) -> impl Strategy<Value = Drive> {
    let drive = move |numbers: Numbers| drive(&mut Draws(numbers), times, parts);
    prop::collection::vec(any::<u32>(), 78).prop_map(drive)
}

/// Random numbers, each of which determines one choice.
struct Draws(Numbers);

impl Draws {
    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let number = self.0.pop().expect("enough numbers for all choices");
        choices[number as usize % choices.len()]
    }

    fn maybe(&mut self) -> bool {
        self.one_of(&[false, true])
    }
}

fn drive(draws: &mut Draws, times: Times, parts: Parts) -> Drive {
    let erase_unit =
        draws.one_of(&[EraseUnit::Block, EraseUnit::MultiPlane, EraseUnit::Superblock]);
    let planes_per_die = draws.one_of(&[1, 2, 2, 3]);
    let page_bytes = draws.one_of(&[512, 1024, 4096]);
    let shape = Shape {
        channels: draws.one_of(&[1, 2, 3]),
        chips_per_channel: draws.one_of(&[1, 2]),
        dies_per_chip: draws.one_of(&[1, 2]),
        planes_per_die,
        blocks_per_plane: draws.one_of(&[8, 10, 13]),
        pages_per_block: 12,
        page_bytes,
        erase_unit,
    };
    let planes =
        if erase_unit == EraseUnit::Block { 1 } else { draws.one_of(&[1, planes_per_die]) };
    let program = Program {
        flash_page_bytes: Some(page_bytes * draws.one_of(&[1, 1, 2])),
        planes,
        pages_per_word_line: draws.one_of(&[1, 1, 2, 3]),
        cache_program: draws.maybe(),
    };
    let mut timing = timing(draws, times);
    timing.collection.paced =
        draws.maybe() && timing.collection.background && timing.scheduling.copies_yield;
    timing.program = program;
    if draws.one_of(&[true, false, false]) {
        read_planes_apart(&mut timing);
    }
    timing.scheduling.dispatch = draws.one_of(&[Dispatch::InTurn, Dispatch::ShortestQueue]);
    timing.errors = errors(draws, times);
    if parts != Parts::Array {
        add_parts(draws, &mut timing, page_bytes);
    }
    let geometry = Geometry::new(shape).expect("a small drive");
    let program_units = timing.program_units(&geometry);
    let geometry =
        geometry.striped_by(draws.one_of(&[1, program_units])).expect("a divisor of the block");
    let layout = match erase_unit {
        EraseUnit::Superblock => Layout::Flat,
        _ => draws.one_of(&[Layout::Flat, Layout::Striped, Layout::StripedPerLun, Layout::Static]),
    };
    // Enough pages that collection copies some, and few enough that each LUN has free space.
    let physical_pages = geometry.blocks() * geometry.pages_per_block();
    let host_pages = physical_pages * draws.one_of(&[35, 45, 50]) / 100;
    let drive = Drive {
        geometry,
        layout,
        manager: draws.one_of(&MANAGERS),
        wear_leveling: draws.one_of(&[None, None, Some("dual-pool:threshold=2")]),
        host_pages,
        filled_pages: host_pages / 8 * draws.one_of(&[0, 5, 8]),
        timing,
        seed: draws.one_of(&[1, 2, 3]),
    };
    if parts != Parts::Slc {
        return drive;
    }
    let slc = slc(draws, times, page_bytes);
    // No drive has both an SLC cache and paced collection.
    let collection = Collection { paced: false, ..drive.timing.collection };
    Drive { timing: Timing { slc, collection, ..drive.timing }, ..drive }
}

fn timing(draws: &mut Draws, times: Times) -> Timing {
    let spread = if times == Times::Spread { 0.1 } else { 0.0 };
    let ns = |odd: u64, equal: u64| match times {
        Times::Odd | Times::Spread => odd,
        Times::Equal => equal,
        Times::Zero => 0,
    };
    let us = |odd: f64, equal: f64| match times {
        Times::Odd | Times::Spread => odd,
        Times::Equal => equal,
        Times::Zero => 0.0,
    };
    let mb_s = |rates: &[f64], draws: &mut Draws| {
        let rate = draws.one_of(rates);
        if matches!(times, Times::Odd | Times::Spread) { rate } else { 0.0 }
    };
    let program_us = if draws.maybe() {
        ByKind::Same(us(313.337, 10.0))
    } else {
        ByKind::Each(vec![us(313.337, 10.0), us(907.231, 10.0), us(211.013, 10.0)])
    };
    Timing {
        timing: Array {
            read_us: ByKind::Each(vec![us(31.393, 10.0), us(43.717, 10.0)]),
            program_us,
            erase_us: us(2213.969, 10.0),
            read_spread: ByKind::Same(spread),
            program_spread: ByKind::Same(spread),
            erase_spread: spread,
        },
        bus: Bus {
            channel_mb_s: mb_s(&[37.7, 411.3, 0.0], draws),
            read_command_ns: ns(107, 10_000),
            program_command_ns: ns(223, 10_000),
            erase_command_ns: ns(331, 10_000),
            die_interleaving: draws.maybe(),
            arbitration: draws.one_of(&[Arbitration::DataFirst, Arbitration::CommandFirst]),
        },
        host: Interface {
            depth: draws.one_of(&[1, 3, 64]),
            link_mb_s: mb_s(&[0.0, 251.1, 97.3], draws),
            link_packet_bytes: draws.one_of(&[1, 128]),
            full_duplex: draws.maybe(),
            read_in_ns: ns(53, 0),
            write_in_ns: ns(71, 0),
            out_ns: ns(17, 0),
            controller_ns: draws.one_of(&[0, ns(1009, 10_000)]),
            read_modify_write: draws.maybe(),
        },
        scheduling: scheduling(draws, us(5.003, 10.0), us(3.011, 0.0)),
        collection: Collection {
            background: draws.maybe(),
            soft_blocks: draws.one_of(&[3, 4, 6]),
            hard_blocks: draws.one_of(&[0, 2, 3]),
            paced: false,
        },
        write_cache: WriteCache { bytes: 0, ..WriteCache::default() },
        ..Timing::default()
    }
}

fn scheduling(draws: &mut Draws, suspend_us: f64, resume_us: f64) -> Scheduling {
    let reads_first = draws.maybe();
    Scheduling {
        reads_first,
        suspend: reads_first && draws.maybe(),
        suspend_us,
        resume_us,
        most_suspends: draws.one_of(&[1, 2, 5]),
        copies_yield: reads_first && draws.maybe(),
        most_wait_us: if reads_first { draws.one_of(&[0.0, 50.021, 400.0]) } else { 0.0 },
        ..Scheduling::default()
    }
}

/// Lets the planes of a drive read independently, with settings that allow this.
fn read_planes_apart(timing: &mut Timing) {
    timing.scheduling.plane_reads = PlaneReads::Independent;
    timing.scheduling.reads_first = true;
    timing.scheduling.most_wait_us = 0.0;
    timing.collection.paced = false;
    timing.bus.die_interleaving = true;
}

fn add_parts(draws: &mut Draws, timing: &mut Timing, page_bytes: u32) {
    let bytes = u64::from(page_bytes);
    timing.write_cache = WriteCache {
        bytes: bytes * draws.one_of(&[0, 2, 5, 24, 60]),
        access_ns: draws.one_of(&[0, 29]),
        mb_s: draws.one_of(&[0.0, 199.9]),
        holds_reads: draws.maybe(),
        idle_flush_ms: draws.one_of(&[0.0, 0.317, 100.0]),
        power_safe: draws.maybe(),
    };
    let segment_bytes = page_bytes / draws.one_of(&[1, 1, 2, 4]);
    timing.map_cache = MapCache {
        bytes: u64::from(segment_bytes) * draws.one_of(&[0, 0, 1, 3, 7]),
        entry_bytes: draws.one_of(&[8, 32, 64]),
        segment_bytes,
        own_blocks: draws.maybe(),
    };
    timing.refresh = Refresh {
        reads_per_block: draws.one_of(&[0, 0, 300, 1000]),
        retention_s: draws.one_of(&[0.0, 0.0, 0.05, 0.4]),
    };
}

/// Returns bit errors for half of the drives. Some are so many that no try corrects them.
fn errors(draws: &mut Draws, times: Times) -> Errors {
    let erases = draws.one_of(&[&[0_u32, 3, 40][..], &[0, 1000, 5000], &[0]]);
    let days = draws.one_of(&[&[0.0, 1e-7, 30.0][..], &[0.0]]);
    let rates = [0.000_11, 0.001_3, 0.004_1, 0.009_7, 0.021];
    let from = draws.one_of(&[0, 1, 2]);
    let rate = |row: usize, column: usize| rates[(from + row + column).min(4)];
    let rows = |columns: usize| (0..erases.len()).map(move |row| (row, columns));
    let last = erases[erases.len() - 1];
    let found = Errors {
        erases: erases.to_vec(),
        retention_days: days.to_vec(),
        raw_bit_error_rate: rows(days.len())
            .map(|(row, columns)| (0..columns).map(|column| rate(row, column)).collect())
            .collect(),
        page_spread: draws.one_of(&[0.0, 0.2, 0.7]),
        codeword_bytes: draws.one_of(&[512, 1024, 77]),
        correctable_bits: draws.one_of(&[3, 9, 40]),
        retry_factor: draws.one_of(&[0.5, 0.8, 1.0]),
        most_retries: draws.one_of(&[0, 1, 7]),
        decode_us: match times {
            Times::Odd | Times::Spread => draws.one_of(&[0.0, 11.003]),
            Times::Equal => 10.0,
            Times::Zero => 0.0,
        },
        worn_erases: draws.one_of(&[0, last / 2, last]),
        aged_days: draws.one_of(&[0.0, days[days.len() - 1] / 3.0]),
    };
    if draws.maybe() { found } else { Errors::default() }
}

/// Converts a table of bit errors for the naive drive.
fn errors_of(errors: &Errors) -> Option<ErrorTable> {
    errors.are_there().then(|| ErrorTable {
        erases: errors.erases.clone(),
        days: errors.retention_days.clone(),
        rates: errors.raw_bit_error_rate.clone(),
        page_spread: errors.page_spread,
        codeword_bytes: errors.codeword_bytes,
        correctable_bits: errors.correctable_bits,
        retry_factor: errors.retry_factor,
        most_retries: errors.most_retries,
        decode_ns: (errors.decode_us * 1e3).round() as u64,
        worn_erases: errors.worn_erases,
        aged_days: errors.aged_days,
    })
}

fn slc(draws: &mut Draws, times: Times, page_bytes: u32) -> Slc {
    let us = |odd: f64, equal: f64| match times {
        Times::Odd | Times::Spread => odd,
        Times::Equal => equal,
        Times::Zero => 0.0,
    };
    let when_full = draws.one_of(&[WhenFull::Fold, WhenFull::Fold, WhenFull::Through]);
    Slc {
        static_bytes: u64::from(page_bytes) * draws.one_of(&[1, 64, 200, 500]),
        dynamic_share: draws.one_of(&[0.0, 0.3, 1.0]),
        bits_per_cell: draws.one_of(&[1, 3, 4]),
        read_us: us(17.977, 10.0),
        program_us: us(97.331, 10.0),
        erase_us: us(1213.117, 10.0),
        spread: if times == Times::Spread { 0.1 } else { 0.0 },
        when_full,
        watermark: if when_full == WhenFull::Fold { draws.one_of(&[1.0, 0.5, 0.0]) } else { 1.0 },
        idle_ms: draws.one_of(&[0.0, 0.037, 0.411, 3.0]),
        direct_bytes: u64::from(page_bytes) * draws.one_of(&[0, 0, 1, 3]),
        rated_cycles: 0,
    }
}

impl Drive {
    /// Returns the setup of the untimed drive, which the engine builds.
    pub fn setup(&self) -> Setup {
        Setup {
            logical_pages: self.logical_pages(),
            layout: self.layout,
            wear_leveling: self.wear_leveling.map(str::to_owned),
            seed: self.seed,
            table_pages: self.table_pages(),
            tags: Some(TAGS),
            ..Setup::new(self.geometry)
        }
    }

    /// Number of pages of the host, plus those of the mapping table, which follow them.
    pub fn logical_pages(&self) -> u32 {
        writeamp_engine::timing::Ssd::logical_pages(
            &self.timing,
            self.host_pages,
            self.geometry.page_bytes(),
        )
    }

    /// Number of pages of the mapping table that have blocks of their own.
    fn table_pages(&self) -> u32 {
        let page_bytes = self.geometry.page_bytes();
        writeamp_engine::timing::Ssd::pages_apart(&self.timing, self.host_pages, page_bytes)
    }

    /// Returns the pages that are written before time 0: some pages of the host, and the table.
    pub fn fill(&self) -> Vec<u32> {
        (0..self.filled_pages).chain(self.host_pages..self.logical_pages()).collect()
    }

    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.host_pages) * u64::from(self.geometry.page_bytes())
    }

    /// Returns the drive's profile for the naive drive.
    pub fn profile(&self) -> Profile {
        let (shape, timing) = (self.geometry.shape(), &self.timing);
        let Timing {
            bus,
            host,
            scheduling,
            collection,
            write_cache,
            map_cache,
            refresh,
            slc,
            errors,
            ..
        } = timing;
        let ns = |us: f64| (us * 1e3).round() as u64;
        let all_ns = |kinds: &ByKind| kinds.values().iter().map(|&us| ns(us)).collect();
        Profile {
            channels: shape.channels,
            chips_per_channel: shape.chips_per_channel,
            dies_per_chip: shape.dies_per_chip,
            luns: self.geometry.luns(),
            blocks: self.geometry.blocks(),
            pages_per_block: self.geometry.pages_per_block(),
            is_superblock: shape.erase_unit == EraseUnit::Superblock,
            planes_per_die: shape.planes_per_die,
            planes_of_block: match shape.erase_unit {
                EraseUnit::Block => 1,
                EraseUnit::MultiPlane | EraseUnit::Superblock => shape.planes_per_die,
            },
            page_bytes: shape.page_bytes,
            host_pages: self.host_pages,
            logical_pages: self.logical_pages(),
            read_ns: all_ns(&timing.timing.read_us),
            program_ns: all_ns(&timing.timing.program_us),
            erase_ns: ns(timing.timing.erase_us),
            spread: timing.timing.erase_spread,
            units_per_flash_page: timing.units_per_flash_page(&self.geometry),
            planes_at_once: timing.program.planes,
            pages_per_word_line: timing.program.pages_per_word_line,
            cache_program: timing.program.cache_program,
            channel_mb_s: bus.channel_mb_s,
            read_command_ns: bus.read_command_ns,
            program_command_ns: bus.program_command_ns,
            erase_command_ns: bus.erase_command_ns,
            die_interleaving: bus.die_interleaving,
            commands_first: bus.arbitration == Arbitration::CommandFirst,
            link_mb_s: host.link_mb_s,
            link_packet_bytes: u64::from(host.link_packet_bytes),
            full_duplex: host.full_duplex,
            read_in_ns: host.read_in_ns,
            write_in_ns: host.write_in_ns,
            out_ns: host.out_ns,
            controller_ns: host.controller_ns,
            read_modify_write: host.read_modify_write,
            reads_first: scheduling.reads_first,
            suspend: scheduling.suspend,
            suspend_ns: ns(scheduling.suspend_us),
            resume_ns: ns(scheduling.resume_us),
            most_suspends: scheduling.most_suspends,
            copies_yield: scheduling.copies_yield,
            most_wait_ns: ns(scheduling.most_wait_us),
            reading_planes: match scheduling.plane_reads {
                PlaneReads::Together => 0,
                PlaneReads::Independent => shape.planes_per_die,
            },
            to_shortest_queue: scheduling.dispatch == Dispatch::ShortestQueue,
            background: collection.background,
            soft_blocks: collection.soft_blocks,
            hard_blocks: collection.hard_blocks,
            paced: collection.paced,
            cache_bytes: write_cache.bytes,
            cache_access_ns: write_cache.access_ns,
            cache_mb_s: write_cache.mb_s,
            cache_holds_reads: write_cache.holds_reads,
            idle_flush_ns: (write_cache.idle_flush_ms * 1e6) as u64,
            power_safe: write_cache.power_safe,
            map_bytes: map_cache.bytes,
            map_entry_bytes: map_cache.entry_bytes,
            map_segment_bytes: map_cache.segment_bytes,
            reads_per_block: refresh.reads_per_block,
            retention_ns: (refresh.retention_s * 1e9) as u64,
            hints_are_times: self.manager.starts_with("oracle"),
            slc_static_bytes: slc.static_bytes,
            slc_dynamic_share: slc.dynamic_share,
            slc_bits_per_cell: slc.bits_per_cell,
            slc_read_ns: ns(slc.read_us),
            slc_program_ns: ns(slc.program_us),
            slc_erase_ns: ns(slc.erase_us),
            slc_folds_when_full: slc.when_full == WhenFull::Fold,
            slc_watermark: slc.watermark,
            slc_idle_ns: (slc.idle_ms * 1e6) as u64,
            slc_direct_bytes: slc.direct_bytes,
            errors: errors_of(errors),
        }
    }
}
