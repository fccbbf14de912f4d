//! Benchmark of one random access to a drive's mapping table, as the engine makes it.
//!
//! An access is a prefetch of a later entry, then a read and a write of four bytes. The arguments are
//! numbers of entries. Prints the times in ns as JSON; `make bench-limit` runs it.

#![allow(unsafe_code)]

use std::hint::black_box;
use std::time::Instant;

use writeamp_engine::flash::{MAP_LOOKAHEAD, filled, prefetch};
use writeamp_engine::rng::Stream;

const ACCESSES: usize = 1 << 20;
const REPEATS: usize = 41;

fn main() {
    // Other arguments are ignored, because Cargo adds some of its own.
    let sizes = std::env::args().skip(1).filter_map(|size| size.parse::<u32>().ok());
    let found: Vec<String> = sizes
        .map(|entries| {
            let mut huge = filled(0, entries as usize).expect("memory for the table");
            let mut small = vec![0; entries as usize];
            on_small_pages(&mut small);
            small.fill(1);
            let (huge_ns, small_ns) = (access_ns(&mut huge), access_ns(&mut small));
            format!(
                r#"{{"entries": {entries}, "huge_ns": {huge_ns:.3}, "small_ns": {small_ns:.3}}}"#
            )
        })
        .collect();
    println!("[{}]", found.join(", "));
}

/// Returns the median time of an access, in ns.
fn access_ns(table: &mut [u32]) -> f64 {
    let mut random = Stream::new(1, "memory");
    let places: Vec<u32> = (0..ACCESSES).map(|_| random.below(table.len() as u32)).collect();
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let begun = Instant::now();
            for (at, &place) in places.iter().enumerate() {
                if let Some(&ahead) = places.get(at + MAP_LOOKAHEAD) {
                    prefetch(table, ahead as usize);
                }
                table[place as usize] += at as u32;
            }
            black_box(&table);
            begun.elapsed().as_secs_f64() * 1e9 / ACCESSES as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

#[cfg(target_os = "linux")]
fn on_small_pages(table: &mut [u32]) {
    const PAGE_BYTES: usize = 4096;
    let start = table.as_mut_ptr().cast::<u8>();
    let skip = start.align_offset(PAGE_BYTES);
    let whole = (size_of_val(table) - skip) / PAGE_BYTES * PAGE_BYTES;
    // SAFETY: the range lies inside the table; the advice changes no contents.
    unsafe {
        libc::madvise(start.add(skip).cast(), whole, libc::MADV_NOHUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn on_small_pages(_table: &mut [u32]) {}
