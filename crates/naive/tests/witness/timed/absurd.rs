//! Tests of profiles with impossible numbers.
//!
//! The engine must reject the profile with an error that names one of the numbers, or complete the
//! run.

use proptest::prelude::*;
use writeamp_engine::timing::{Ssd, Timing};

use super::books::filled_drive;
use super::hosts::{Asking, drive};
use super::profiles::{Drive, Parts, Times, drives};
use super::{Draft, asking};

/// Every number of a profile: its table, its key and a usual value.
const NUMBERS: [(&str, &str, &str); 59] = [
    ("timing", "read_us", "40"),
    ("timing", "program_us", "[200, 900]"),
    ("timing", "erase_us", "2000"),
    ("timing", "read_spread", "0.1"),
    ("timing", "program_spread", "0.1"),
    ("timing", "erase_spread", "0.1"),
    ("program", "flash_page_bytes", "null"),
    ("program", "planes", "1"),
    ("program", "pages_per_word_line", "1"),
    ("bus", "channel_mb_s", "400"),
    ("bus", "read_command_ns", "100"),
    ("bus", "program_command_ns", "100"),
    ("bus", "erase_command_ns", "100"),
    ("host", "depth", "16"),
    ("host", "link_mb_s", "1000"),
    ("host", "link_packet_bytes", "128"),
    ("host", "read_in_ns", "10"),
    ("host", "write_in_ns", "10"),
    ("host", "out_ns", "10"),
    ("host", "controller_ns", "10"),
    ("scheduling", "suspend_us", "10"),
    ("scheduling", "resume_us", "10"),
    ("scheduling", "most_suspends", "4"),
    ("scheduling", "most_wait_us", "0"),
    ("collection", "soft_blocks", "3"),
    ("collection", "hard_blocks", "1"),
    ("write_cache", "bytes", "40960"),
    ("write_cache", "access_ns", "10"),
    ("write_cache", "mb_s", "1000"),
    ("write_cache", "idle_flush_ms", "100"),
    ("map_cache", "bytes", "4096"),
    ("map_cache", "entry_bytes", "8"),
    ("map_cache", "segment_bytes", "512"),
    ("refresh", "reads_per_block", "1000"),
    ("refresh", "retention_s", "1"),
    ("slc", "static_bytes", "65536"),
    ("slc", "dynamic_share", "0.2"),
    ("slc", "bits_per_cell", "3"),
    ("slc", "read_us", "20"),
    ("slc", "program_us", "100"),
    ("slc", "erase_us", "1000"),
    ("slc", "spread", "0.1"),
    ("slc", "watermark", "1"),
    ("slc", "idle_ms", "1"),
    ("slc", "direct_bytes", "0"),
    ("slc", "rated_cycles", "1000"),
    ("errors", "erases", "[0, 10]"),
    ("errors", "retention_days", "[0]"),
    ("errors", "raw_bit_error_rate", "[[0.001], [0.01]]"),
    ("errors", "page_spread", "0.2"),
    ("errors", "codeword_bytes", "512"),
    ("errors", "correctable_bits", "9"),
    ("errors", "retry_factor", "0.7"),
    ("errors", "most_retries", "5"),
    ("errors", "decode_us", "10"),
    ("errors", "worn_erases", "3"),
    ("errors", "aged_days", "0"),
    ("program", "cache_program", "true"),
    ("bus", "die_interleaving", "false"),
];

/// Odd values that replace a usual number.
const ODDITIES: [&str; 12] = [
    "0",
    "1",
    "2",
    "3",
    "0.001",
    "1e-9",
    "1e300",
    "4294967295",
    "18446744073709551615",
    "-1",
    "[]",
    "65537",
];

/// Returns a profile with some odd values, and the keys that have them.
fn profile(odd: &[(usize, usize)]) -> (String, Vec<&'static str>) {
    let mut tables: Vec<(&str, Vec<String>)> = Vec::new();
    let mut keys = Vec::new();
    for (at, (table, key, usual)) in NUMBERS.into_iter().enumerate() {
        let found = odd.iter().find(|&&(place, _)| place % NUMBERS.len() == at);
        let value = found.map_or(usual, |&(_, odd)| ODDITIES[odd % ODDITIES.len()]);
        keys.extend(found.map(|_| key));
        let line = format!("\"{key}\": {value}");
        match tables.iter_mut().find(|(name, _)| *name == table) {
            Some((_, lines)) => lines.push(line),
            None => tables.push((table, vec![line])),
        }
    }
    let tables = tables.iter().map(|(name, lines)| format!("\"{name}\": {{{}}}", lines.join(", ")));
    (format!("{{{}}}", tables.collect::<Vec<_>>().join(", ")), keys)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn an_absurd_profile_is_refused_by_name_or_comes_to_rest(
        shape in drives(Times::Odd, Parts::Array),
        odd in prop::collection::vec(any::<(usize, usize)>(), 0..4),
        drafts in prop::collection::vec(any::<Draft>(), 1..40),
    ) {
        let (json, keys) = profile(&odd);
        // Values of a wrong type are rejected when the profile is read.
        let Ok(timing) = Timing::from_json(&json) else { return Ok(()) };
        let case = Drive { timing, wear_leveling: None, ..shape };
        if let Err(error) = case.timing.check(&case.geometry) {
            let sentence = error.to_string();
            let all = keys.iter().any(|key| sentence.contains(key));
            let of_planes = sentence.contains("a program writes") || sentence.contains("program.planes");
            prop_assert!(all || of_planes, "{sentence} does not name any of {keys:?}");
            return Ok(());
        }
        let setup = case.setup();
        prop_assume!(writeamp_engine::managers::check(case.manager, &setup).is_ok());
        let built = filled_drive(case.manager, &setup, &case.fill());
        prop_assume!(built.is_ok() || !case.manager.starts_with(['w', 'f']));
        let built = built.expect("it was checked");
        let mut ssd = Ssd::new(built, case.timing.clone(), case.host_pages, 1).expect("it was checked");
        let asked: Vec<Asking> = drafts.iter().map(|&draft| asking(draft, &case)).collect();
        drive(&mut ssd, &asked, Some(4), case.timing.host.depth as usize);
    }
}
