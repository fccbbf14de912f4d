//! Small drives, and requests drawn at random.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::{Value, json};
use writeamp_engine::timing::{Ssd, Timing};
use writeamp_vssd::{Config, Drive, Result};

use crate::forms::is_full;

pub const PAGE_BYTES: u64 = 4096;
pub const PAGES: u64 = 512;
pub const SIZE_BYTES: u64 = PAGES * PAGE_BYTES;
const MOST_OF_A_FILE: u64 = SIZE_BYTES + (64 << 10);

/// Configuration of a drive of 2 MiB with a block manager, in memory or in a file.
pub fn config(manager: &str, backing: Option<&Path>) -> Config {
    let geometry = json!({
        "channels": 1, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 1,
        "blocks_per_plane": 48, "pages_per_block": 16, "page_bytes": PAGE_BYTES,
        "erase_unit": "block", "stripe_pages": 1,
    });
    serde_json::from_value(json!({
        "drive": {"geometry": geometry, "logical_pages": PAGES, "layout": "flat",
                  "manager": manager, "victims": null, "wear_leveling": null, "seed": 7},
        "size_bytes": SIZE_BYTES,
        "backing": backing,
        // An untimed drive then takes snapshots, and begins journals, as often as possible.
        "longest_replay_ms": 0,
    }))
    .unwrap()
}

/// Time between two attempts to open a locked drive, longer than a child needs to `exec`.
const LOCK_WAIT: Duration = Duration::from_millis(500);
const LOCK_STEPS: u32 = 50;

pub fn open(backing: &Path) -> Result<Drive> {
    open_with(&config("sepgc", Some(backing)))
}

/// Opens a drive whose files no other server uses.
///
/// A child process that another test forks also holds their lock until it calls `exec`, so opening
/// is repeated.
pub fn open_with(config: &Config) -> Result<Drive> {
    for _ in 0..LOCK_STEPS {
        match Drive::open(config) {
            Err(error) if error.sentence.contains("another server is using") => {
                std::thread::sleep(LOCK_WAIT / LOCK_STEPS);
            }
            found => return found,
        }
    }
    Drive::open(config)
}

/// A request of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Write { offset: u64, length: u64, fill: u8, fua: bool },
    Read { offset: u64, length: u64 },
    Trim { offset: u64, length: u64, fua: bool },
    Zero { offset: u64, length: u64, may_trim: bool, fua: bool },
    Flush,
}

impl Call {
    /// Draws a random request of a few pages, aligned or not.
    pub fn draw(random: &mut Xoshiro256PlusPlus) -> Call {
        let mut below = |bound: u64| random.next_u64() % bound;
        let (mut offset, mut length) = (below(PAGES) * PAGE_BYTES, (1 + below(6)) * PAGE_BYTES);
        if below(3) == 0 {
            (offset, length) = (below(SIZE_BYTES), 1 + below(3 * PAGE_BYTES));
        }
        length = length.min(SIZE_BYTES - offset);
        let (kind, fua, fill) = (below(20), below(8) == 0, 1 + below(255) as u8);
        match kind {
            0..=11 => Call::Write { offset, length, fill, fua },
            12..=13 => Call::Read { offset, length },
            14..=16 => Call::Trim { offset, length, fua },
            17..=18 => Call::Zero { offset, length, may_trim: fill % 2 == 0, fua },
            _ => Call::Flush,
        }
    }

    /// Sends the request to a drive.
    pub fn request(self, drive: &Drive) -> Result<()> {
        match self {
            Call::Write { offset, length, fill, fua } => {
                drive.write(offset, &vec![fill; length as usize], fua)
            }
            Call::Read { offset, length } => drive.read(offset, &mut vec![0; length as usize]),
            Call::Trim { offset, length, fua } => drive.trim(offset, length, fua),
            Call::Zero { offset, length, may_trim, fua } => {
                drive.zero(offset, length, may_trim, fua)
            }
            Call::Flush => drive.flush(),
        }
    }

    /// Returns this request, moved and shortened to lie in a part of the drive.
    pub fn within(mut self, first: u64, bytes: u64) -> Call {
        if let Some((offset, length)) = self.place() {
            *offset = first + *offset % bytes;
            *length = (*length).min(first + bytes - *offset);
        }
        self
    }

    /// Returns this request with its offset reduced by `bytes`.
    pub fn moved_down(mut self, bytes: u64) -> Call {
        if let Some((offset, _)) = self.place() {
            *offset -= bytes;
        }
        self
    }

    fn place(&mut self) -> Option<(&mut u64, &mut u64)> {
        match self {
            Call::Write { offset, length, .. }
            | Call::Read { offset, length }
            | Call::Trim { offset, length, .. }
            | Call::Zero { offset, length, .. } => Some((offset, length)),
            Call::Flush => None,
        }
    }

    /// Returns the requests to the flash that this request causes, in order.
    pub fn parts(self) -> Vec<Call> {
        let Call::Zero { offset, length, may_trim: true, fua } = self else { return vec![self] };
        let first = offset.next_multiple_of(PAGE_BYTES);
        let last = (offset + length) / PAGE_BYTES * PAGE_BYTES;
        if last <= first {
            return vec![self];
        }
        let zero = |offset, end| {
            let zero = Call::Zero { offset, length: end - offset, may_trim: false, fua: false };
            (offset < end).then_some(zero)
        };
        let trim = Call::Trim { offset: first, length: last - first, fua };
        let parts = [zero(offset, first), zero(last, offset + length), Some(trim)];
        parts.into_iter().flatten().collect()
    }

    /// Applies the request to a model of the drive's bytes.
    pub fn apply(self, bytes: &mut [u8]) {
        let mut fill = |offset: u64, length: u64, byte: u8| {
            bytes[offset as usize..(offset + length) as usize].fill(byte);
        };
        match self {
            Call::Write { offset, length, fill: byte, .. } => fill(offset, length, byte),
            Call::Zero { offset, length, .. } => fill(offset, length, 0),
            Call::Trim { offset, length, .. } => {
                let first = offset.next_multiple_of(PAGE_BYTES);
                let end = ((offset + length) / PAGE_BYTES * PAGE_BYTES).max(first);
                fill(first, end - first, 0);
            }
            Call::Read { .. } | Call::Flush => {}
        }
    }

    /// Applies a request from [`Self::parts`] to a model of which pages hold data.
    pub fn hold(self, holds: &mut [bool]) {
        let pages = |first: u64, end: u64| first as usize..end.max(first) as usize;
        match self {
            Call::Write { offset, length, .. } | Call::Zero { offset, length, .. } => {
                let end = (offset + length).div_ceil(PAGE_BYTES);
                holds[pages(offset / PAGE_BYTES, end)].fill(true);
            }
            Call::Trim { offset, length, .. } => {
                let end = (offset + length) / PAGE_BYTES;
                holds[pages(offset.div_ceil(PAGE_BYTES), end)].fill(false);
            }
            Call::Read { .. } | Call::Flush => {}
        }
    }

    /// True if all requests answered before this one are durable when it is answered.
    pub fn is_durable(self) -> bool {
        match self {
            Call::Write { fua, .. } | Call::Trim { fua, .. } | Call::Zero { fua, .. } => fua,
            Call::Flush => true,
            Call::Read { .. } => false,
        }
    }
}

pub fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Returns all bytes of a drive.
pub fn contents(drive: &Drive) -> Vec<u8> {
    let mut bytes = vec![0; SIZE_BYTES as usize];
    drive.read(0, &mut bytes).unwrap();
    bytes
}

/// Returns the counters of a drive, without those that begin with the server.
pub fn counters(drive: &Drive) -> serde_json::Value {
    let mut found = drive.counters(false).unwrap();
    for of_the_server in ["since", "requests", "elapsed_ns"] {
        found.remove(of_the_server);
    }
    found.into()
}

/// Returns the counters of a new drive after these requests.
pub fn counters_after(calls: impl IntoIterator<Item = Call>) -> serde_json::Value {
    let drive = open_with(&config("sepgc", None)).unwrap();
    calls.into_iter().for_each(|call| call.request(&drive).unwrap());
    counters(&drive)
}

/// Timing tables of drives with caches, or with a mapping table on the flash.
/// Their write caches are not emptied in pauses.
pub fn times_with_caches() -> Vec<Value> {
    let slc = json!({"static_bytes": 64 * PAGE_BYTES, "dynamic_share": 0.2, "when_full": "fold"});
    let cache = json!({"bytes": 32 * PAGE_BYTES});
    let map = json!({"bytes": 1024, "entry_bytes": 8, "segment_bytes": 512});
    vec![
        json!({}),
        json!({"write_cache": cache}),
        json!({"slc": slc}),
        json!({"map_cache": map}),
        json!({"write_cache": cache, "slc": slc, "map_cache": map}),
    ]
}

/// Configuration of a timed drive; its mapping table takes a part of its flash.
pub fn timed_config(times: &Value, backing: Option<&Path>) -> Config {
    let mut config = config("sepgc", backing);
    let timing = Timing::from_json(&times.to_string()).unwrap();
    config.drive.logical_pages = Ssd::logical_pages(&timing, PAGES as u32, PAGE_BYTES as u32);
    config.times = Some(times.clone());
    config
}

/// Returns the path of a file of a drive: the path of the data plus an ending.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

/// Creates a temporary directory; returns it and a path for a drive in it.
pub fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("drive.wa");
    (directory, path)
}

/// Calls a test with a path on a file system that is too small for a drive.
pub fn on_small_disk(test: impl FnOnce(&Path) + std::panic::UnwindSafe) {
    let directory = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=2600k", "none"])
        .arg(directory.path())
        .output();
    if !mounted.is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: mounting a small file system needs root");
        return;
    }
    let result = std::panic::catch_unwind(|| test(&directory.path().join("drive.wa")));
    let unmounted = Command::new("umount").arg(directory.path()).status();
    assert!(unmounted.unwrap().success());
    result.unwrap();
}

/// Returns the bytes of a sparse file before the hole at its end, which no test reads.
pub fn beginning(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_OF_A_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Copies a sparse file; its data must lie before the hole at its end.
pub fn copy_sparse(from: &Path, to: &Path) {
    std::fs::write(to, beginning(from).unwrap()).unwrap();
    let length = std::fs::metadata(from).unwrap().len();
    File::options().write(true).open(to).unwrap().set_len(length).unwrap();
}

/// Returns the number of rounds of a long test: `full` in a full test run, else `short`.
pub fn rounds(short: u64, full: u64) -> u64 {
    if is_full() { full } else { short }
}
