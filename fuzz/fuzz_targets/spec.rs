//! Fuzzing of the specs of every registry.
//!
//! Any text is an entry or an error in words, and what is built works.
//!
//! Nearly all random text is refused at its first letter, so most specs are put together from the
//! registries: a name, some of its parameters, and values that may or may not be in their domains.

#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use writeamp_engine::flash::{EraseUnit, Geometry, Shape};
use writeamp_engine::managers::{self, Layout, Setup};
use writeamp_engine::registry::Entry;
use writeamp_engine::simulation::Simulation;
use writeamp_engine::workloads::{self, Context};
use writeamp_engine::{Error, detectors, leveling, victims};

const REGISTRIES: [&[Entry]; 5] = [
    managers::ENTRIES,
    victims::ENTRIES,
    leveling::ENTRIES,
    workloads::ENTRIES,
    detectors::ENTRIES,
];
const DEEPEST: usize = 3;
const PAGES_PER_BLOCK: u32 = 8;
/// Enough for a few collections of each block.
const WRITES: u64 = 4000;
/// No parameter is larger, so that memory and time stay small.
const LARGEST: u32 = 3000;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match build_and_run(&mut Unstructured::new(bytes)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject, // the bytes have run out
    }
});

fn build_and_run(bytes: &mut Unstructured) -> Result<()> {
    let workload = spec(bytes, workloads::ENTRIES, 0)?;
    let manager = spec(bytes, managers::ENTRIES, 0)?;
    let victims = optional(bytes, victims::ENTRIES)?;
    let wear_leveling = optional(bytes, leveling::ENTRIES)?;
    let layout = *bytes.choose(&Layout::ALL)?;
    let seed = bytes.arbitrary()?;
    let shape = Shape {
        channels: bytes.int_in_range(1..=2)?,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: bytes.int_in_range(1..=200)?,
        pages_per_block: PAGES_PER_BLOCK,
        page_bytes: 4096,
        erase_unit: EraseUnit::Block,
    };
    let geometry = Geometry::new(shape).expect("a small drive");
    let logical_pages = bytes.int_in_range(1..=geometry.physical_pages())?;
    let setup = Setup {
        logical_pages,
        layout,
        victims,
        wear_leveling,
        seed,
        ..Setup::new(geometry)
    };
    let workload = in_words(workloads::build(&workload, logical_pages, Context::root(seed)));
    let manager = in_words(managers::build(&manager, setup));
    if let (Some(workload), Some(manager)) = (workload, manager)
        && let Some(mut run) = in_words(Simulation::new(manager, workload, 64))
        && in_words(run.fill(0, logical_pages)).is_some()
    {
        in_words(run.run(WRITES));
    }
    Ok(())
}

/// The value; an error must say what is wrong.
fn in_words<T>(result: writeamp_engine::Result<T>) -> Option<T> {
    result.inspect_err(|error: &Error| assert!(error.to_string().len() > 10)).ok()
}

fn optional(bytes: &mut Unstructured, entries: &[Entry]) -> Result<Option<String>> {
    Ok(if bytes.arbitrary()? { Some(spec(bytes, entries, 0)?) } else { None })
}

/// A spec of one of `entries`, right or wrong.
fn spec(bytes: &mut Unstructured, entries: &[Entry], depth: usize) -> Result<String> {
    if bytes.ratio(1, 16)? {
        return Ok(bytes.arbitrary::<&str>()?.to_owned());
    }
    let entry = bytes.choose(entries)?;
    if bytes.ratio(1, 4)? {
        return Ok(nested(entry.example, depth));
    }
    let mut given = Vec::new();
    for param in entry.params {
        if param.default.is_none() || bytes.arbitrary()? {
            given.push(format!("{}={}", param.name, value(bytes, param.default.unwrap_or_default(), depth)?));
        }
    }
    let text = if given.is_empty() {
        entry.name.to_owned()
    } else {
        format!("{}:{}", entry.name, given.join(","))
    };
    Ok(nested(&text, depth))
}

/// The text of a spec inside another: with parentheses for the colon.
fn nested(text: &str, depth: usize) -> String {
    match text.split_once(':') {
        Some((name, params)) if depth > 0 => format!("{name}({params})"),
        _ => text.to_owned(),
    }
}

fn value(bytes: &mut Unstructured, default: &str, depth: usize) -> Result<String> {
    Ok(match bytes.int_in_range(0..=9)? {
        0..=2 => bytes.int_in_range(0..=LARGEST)?.to_string(),
        3..=5 => format!("{:.6}", f64::from(bytes.arbitrary::<u32>()?) / f64::from(u32::MAX)),
        6 => default.to_owned(),
        7 => {
            let items = bytes.int_in_range(1..=5)?;
            let items: Result<Vec<String>> =
                (0..items).map(|_| value(bytes, default, depth)).collect();
            items?.join("/")
        }
        8 if depth < DEEPEST => {
            let entries = *bytes.choose(&REGISTRIES)?;
            spec(bytes, entries, depth + 1)?
        }
        _ => (*bytes.choose(&["-1", "nan", "inf", "1e-300", "1e300", "0/0", "()", ""])?).to_owned(),
    })
}
