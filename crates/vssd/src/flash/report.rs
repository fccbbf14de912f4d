//! Report of a drive's counters, for the control socket.

use serde_json::{Map, Value, json};
use writeamp_engine::flash::{Array, BlockState, Cause, Counters, TagCounters};
use writeamp_engine::hints::UNTAGGED;
use writeamp_engine::timing::{Served, SlcWear};

use super::untimed::Requests;

/// Largest number of samples of the counters.
/// When it is reached, every second sample is dropped.
const MOST_SAMPLES: usize = 128;
const FIRST_SAMPLE_PAGES: u64 = 16;

/// Host pages written and pages programmed, sampled at nearly equal intervals of host pages.
#[derive(Debug)]
pub struct Samples {
    pairs: Vec<(u64, u64)>,
    each_pages: u64,
    next_at: u64,
}

impl Samples {
    /// Starts with the current counters as the only sample.
    pub fn from(counters: &Counters) -> Self {
        let mut samples = Samples { pairs: Vec::new(), each_pages: FIRST_SAMPLE_PAGES, next_at: 0 };
        samples.observe(counters);
        samples
    }

    /// Takes a sample if it is due.
    #[inline]
    pub fn observe(&mut self, counters: &Counters) {
        if counters.host.written_pages >= self.next_at {
            self.take(counters);
        }
    }

    fn take(&mut self, counters: &Counters) {
        let written_pages = counters.host.written_pages;
        self.pairs.push((written_pages, counters.flash_pages()));
        if self.pairs.len() > MOST_SAMPLES {
            let mut at = 0;
            self.pairs.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.each_pages *= 2;
        }
        self.next_at = written_pages + self.each_pages;
    }

    /// The samples as JSON.
    pub fn to_json(&self) -> Value {
        let (written, programmed): (Vec<_>, Vec<_>) = self.pairs.iter().copied().unzip();
        json!({"written_pages": written, "programmed_pages": programmed})
    }
}

/// Latencies of a timed drive in one direction.
pub fn latencies(of: &Served) -> Value {
    json!({
        "requests": of.requests,
        "mean_ns": of.mean_ns(),
        "p50_ns": of.quantile_ns(0.5),
        "p99_ns": of.quantile_ns(0.99),
        "p99_9_ns": of.quantile_ns(0.999),
        "max_ns": (of.requests > 0).then_some(of.range_ns.1),
    })
}

/// Wear and contents of an SLC cache, whose blocks are separate from the drive's.
pub fn slc(of: &SlcWear) -> Value {
    json!({
        "blocks": of.blocks,
        "erases": of.erases,
        "erased_pages": of.erased_pages,
        "valid_pages": of.valid_pages,
    })
}

/// Sizes, counters and wear of a flash drive, with programs by `causes`.
pub fn counters(
    flash: &Array,
    counters: &Counters,
    requests: &Requests,
    causes: &[Cause],
) -> Map<String, Value> {
    let geometry = flash.geometry();
    let host = &counters.host;
    let erase_counts = flash.erase_counts();
    let total: u64 = erase_counts.iter().map(|&count| u64::from(count)).sum();
    let programs: Map<String, Value> = causes
        .iter()
        .map(|&cause| (cause.name().into(), counters.programs(cause).into()))
        .collect();
    let document = json!({
        "page_bytes": geometry.page_bytes(),
        "physical_pages": geometry.physical_pages(),
        "pages_per_block": geometry.pages_per_block(),
        "blocks": geometry.blocks(),
        "luns": geometry.luns(),
        "host": {
            "written_pages": host.written_pages,
            "written_bytes": host.written_bytes,
            "read_pages": host.read_pages,
            "read_bytes": host.read_bytes,
            "trimmed_pages": host.trimmed_pages,
            "trimmed_bytes": host.trimmed_bytes,
            "flushes": host.flushes,
            "write_requests": requests.writes,
            "read_requests": requests.reads,
            "trim_requests": requests.trims,
        },
        "read_modify_write_pages": requests.read_modify_write_pages,
        "programs": programs,
        "erases": counters.erases,
        "unmapped_pages": counters.unmapped_pages,
        "skipped_pages": counters.skipped_pages,
        "max_erase_count": erase_counts.iter().max(),
        "min_erase_count": erase_counts.iter().min(),
        "mean_erase_count": total as f64 / erase_counts.len() as f64,
    });
    match document {
        Value::Object(map) => map,
        _ => unreachable!("the report must be a JSON object"),
    }
}

/// Separates the programs of `partial` mapping units from the host's other programs.
/// A timed drive does so by itself.
pub fn split_host_programs(document: &mut Map<String, Value>, partial: u64) {
    let programs = document["programs"].as_object_mut().expect("programs by cause");
    let of_host = programs[Cause::Host.name()].as_u64().expect("a count");
    programs.insert(Cause::Host.name().into(), of_host.saturating_sub(partial).into());
    programs.insert(Cause::ReadModifyWrite.name().into(), partial.min(of_host).into());
}

/// Counters of each placement handle that was used, and of reclaim units that handles share.
/// They are in pages, and their sums are those of [`counters`].
pub fn handles(by_handle: &TagCounters, causes: &[Cause]) -> Value {
    let row = |handle: u8| {
        let media_pages: u64 = causes.iter().map(|&cause| by_handle.programs(handle, cause)).sum();
        let (moved_in_pages, moved_out_pages) = by_handle.transfers(handle);
        let is_used = media_pages + moved_in_pages + moved_out_pages > 0;
        is_used.then(|| {
            json!({
                "handle": (handle != UNTAGGED).then_some(handle),
                "host_pages": by_handle.host_pages(handle),
                "media_pages": media_pages,
                "moved_in_pages": moved_in_pages,
                "moved_out_pages": moved_out_pages,
            })
        })
    };
    by_handle.tags().filter_map(row).collect()
}

/// Number of closed blocks by valid pages, of free blocks, and of blocks by erases, as JSON.
pub fn blocks(flash: &Array) -> Value {
    let pages_per_block = flash.geometry().pages_per_block();
    let mut valid_pages = vec![0u64; pages_per_block as usize + 1];
    for (state, block) in flash.states().iter().zip(0..) {
        if *state == BlockState::Closed {
            valid_pages[(pages_per_block - flash.invalid_pages(block)) as usize] += 1;
        }
    }
    let free: u32 = (0..flash.pools()).map(|pool| flash.free_blocks(pool)).sum();
    let mut erases = std::collections::BTreeMap::<u32, u64>::new();
    for count in flash.erase_counts() {
        *erases.entry(*count).or_default() += 1;
    }
    json!({"valid_pages_histogram": valid_pages, "free_blocks": free, "erase_counts": erases})
}
