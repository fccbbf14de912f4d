//! Fuzzing of a virtual drive by a client that sends anything, against a model of the bytes.
//!
//! Requests are served as of any drive, or refused in words.

#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use writeamp_vssd::control::answer;
use writeamp_vssd::{Config, Drive};

const PAGE_BYTES: u64 = 4096;
const SIZE_BYTES: u64 = 64 * PAGE_BYTES;
const LONGEST_BUFFER: u64 = 5 * PAGE_BYTES;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match ask(&mut Unstructured::new(bytes)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject, // the bytes have run out
    }
});

fn drive() -> Drive {
    let config: Config = serde_json::from_str(
        r#"{"drive": {"geometry": {"channels": 1, "chips_per_channel": 1, "dies_per_chip": 1,
                "planes_per_die": 1, "blocks_per_plane": 12, "pages_per_block": 8,
                "page_bytes": 4096, "erase_unit": "block", "stripe_pages": 1},
            "logical_pages": 64, "layout": "flat", "manager": "sepgc", "victims": null,
            "wear_leveling": null, "seed": 1}, "size_bytes": 262144}"#,
    )
    .expect("a configuration");
    Drive::open(&config).expect("a small drive")
}

/// A number near what matters on this drive, or any.
fn number(bytes: &mut Unstructured) -> Result<u64> {
    Ok(match bytes.int_in_range(0..=3u8)? {
        0 => bytes.int_in_range(0..=SIZE_BYTES + 2)?,
        1 => PAGE_BYTES * bytes.int_in_range(0..=65u64)?,
        2 => bytes.int_in_range(0..=3 * PAGE_BYTES)?,
        _ => bytes.arbitrary()?,
    })
}

fn ask(bytes: &mut Unstructured) -> Result<()> {
    let (drive, mut model) = (drive(), vec![0; SIZE_BYTES as usize]);
    while !bytes.is_empty() {
        let kind = bytes.int_in_range(0..=6u8)?;
        let (offset, asked) = (number(bytes)?, number(bytes)?);
        let length = if kind <= 2 { asked.min(LONGEST_BUFFER) } else { asked };
        let end = offset.checked_add(length).filter(|end| *end <= SIZE_BYTES);
        let fua = bytes.arbitrary()?;
        let is_served = match kind {
            0 | 1 => {
                let fill: u8 = bytes.arbitrary()?;
                let done = drive.write(offset, &vec![fill; length as usize], fua).is_ok();
                if let Some(end) = end {
                    model[offset as usize..end as usize].fill(fill);
                }
                done
            }
            2 => {
                let mut found = vec![1; length as usize];
                let done = drive.read(offset, &mut found).is_ok();
                if let Some(end) = end {
                    assert!(found == model[offset as usize..end as usize]);
                }
                done
            }
            3 => {
                let done = drive.trim(offset, length, fua).is_ok();
                if let Some(end) = end {
                    let first = offset.next_multiple_of(PAGE_BYTES);
                    let end = (end / PAGE_BYTES * PAGE_BYTES).max(first);
                    if first < end {
                        model[first as usize..end as usize].fill(0);
                    }
                }
                done
            }
            4 => {
                let done = drive.zero(offset, length, bytes.arbitrary()?, fua).is_ok();
                if let Some(end) = end {
                    model[offset as usize..end as usize].fill(0);
                }
                done
            }
            5 => drive.extents(offset, length).map(Iterator::count).is_ok(),
            _ => {
                let line: &str = bytes.arbitrary()?;
                assert!(answer(line, &drive).is_object());
                continue;
            }
        };
        assert_eq!(is_served, end.is_some() || (length == 0 && offset <= SIZE_BYTES));
    }
    let mut found = vec![0; SIZE_BYTES as usize];
    drive.read(0, &mut found).expect("the whole drive");
    assert!(found == model);
    Ok(())
}
