//! Domains (valid ranges) of the numbers in a profile's tables.
//! They do not depend on the drive's geometry.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;
use serde_json::{Number, Value};

use crate::error::{Error, Result};

/// Longest duration, an hour, so that sums of times fit in 64 bits.
const MOST_US: f64 = 3.6e9;
const MOST_NS: u64 = 3_600_000_000_000;
const MOST_BYTES: u64 = 1 << 44;
const ANY_U32: Domain = Domain::Whole(0, u32::MAX as u64);
/// Longest retention time: a century.
pub const MOST_DAYS: f64 = 36_500.0;

/// Valid values of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Domain {
    /// Whole numbers from the first to the second value, both included.
    Whole(u64, u64),
    /// Numbers from the first to the second value, both included.
    Range(f64, f64),
    /// Spread of a duration: its standard deviation over its mean.
    Spread,
    /// Data rate in 10^6 bytes per second.
    Rate,
}

use Domain::{Range, Rate, Spread, Whole};

/// Domain of each number, or of each element of a list of numbers, by key.
const DOMAINS: [(&str, Domain); 70] = [
    ("timing.read_us", Range(0.0, MOST_US)),
    ("timing.program_us", Range(0.0, MOST_US)),
    ("timing.erase_us", Range(0.0, MOST_US)),
    ("timing.read_spread", Spread),
    ("timing.program_spread", Spread),
    ("timing.erase_spread", Spread),
    ("program.flash_page_bytes", Whole(1, u32::MAX as u64)),
    ("program.planes", Whole(1, 64)),
    ("program.pages_per_word_line", Whole(1, 64)),
    ("bus.channel_mb_s", Rate),
    ("bus.read_command_ns", Whole(0, MOST_NS)),
    ("bus.program_command_ns", Whole(0, MOST_NS)),
    ("bus.erase_command_ns", Whole(0, MOST_NS)),
    ("host.depth", Whole(1, 65_536)),
    ("host.link_mb_s", Rate),
    ("host.link_packet_bytes", Whole(1, 1 << 20)),
    ("host.read_in_ns", Whole(0, MOST_NS)),
    ("host.write_in_ns", Whole(0, MOST_NS)),
    ("host.out_ns", Whole(0, MOST_NS)),
    ("host.controller_ns", Whole(0, MOST_NS)),
    ("scheduling.suspend_us", Range(0.0, MOST_US)),
    ("scheduling.resume_us", Range(0.0, MOST_US)),
    ("scheduling.most_suspends", ANY_U32),
    ("scheduling.most_wait_us", Range(0.0, MOST_US)),
    ("collection.soft_blocks", ANY_U32),
    ("collection.hard_blocks", ANY_U32),
    ("write_cache.bytes", Whole(0, MOST_BYTES)),
    ("write_cache.access_ns", Whole(0, MOST_NS)),
    ("write_cache.mb_s", Rate),
    ("write_cache.idle_flush_ms", Range(0.0, MOST_US)),
    ("map_cache.bytes", Whole(0, MOST_BYTES)),
    ("map_cache.entry_bytes", Whole(1, u32::MAX as u64)),
    ("map_cache.segment_bytes", Whole(1, u32::MAX as u64)),
    ("refresh.reads_per_block", ANY_U32),
    ("refresh.retention_s", Range(0.0, 3e9)),
    ("slc.static_bytes", Whole(0, MOST_BYTES)),
    ("slc.dynamic_share", Range(0.0, 1.0)),
    ("slc.bits_per_cell", Whole(1, 8)),
    ("slc.read_us", Range(0.0, MOST_US)),
    ("slc.program_us", Range(0.0, MOST_US)),
    ("slc.erase_us", Range(0.0, MOST_US)),
    ("slc.spread", Spread),
    ("slc.watermark", Range(0.0, 1.0)),
    ("slc.idle_ms", Range(0.0, MOST_US)),
    ("slc.direct_bytes", Whole(0, MOST_BYTES)),
    ("slc.rated_cycles", ANY_U32),
    ("errors.erases", Whole(0, u32::MAX as u64 / 2)),
    ("errors.retention_days", Range(0.0, MOST_DAYS)),
    ("errors.raw_bit_error_rate", Range(1e-12, 0.5)),
    ("errors.page_spread", Range(0.0, 2.0)),
    ("errors.codeword_bytes", Whole(1, 65_536)),
    ("errors.correctable_bits", Whole(0, 8 * 65_536)),
    ("errors.retry_factor", Range(0.001, 1.0)),
    ("errors.most_retries", Whole(0, 255)),
    ("errors.decode_us", Range(0.0, MOST_US)),
    ("errors.worn_erases", Whole(0, u32::MAX as u64 / 2)),
    ("errors.aged_days", Range(0.0, MOST_DAYS)),
    ("disk.capacity_bytes", Whole(1_000_000, 1_000_000_000_000_000)),
    ("disk.rpm", Range(60.0, 1e6)),
    ("disk.track_to_track_ms", Range(0.0, 1e4)),
    ("disk.average_seek_ms", Range(0.0, 1e4)),
    ("disk.full_seek_ms", Range(0.0, 1e4)),
    ("disk.head_switch_ms", Range(0.0, 1e4)),
    ("disk.heads", Whole(1, 256)),
    ("disk.zones", Whole(1, 1024)),
    ("disk.outer_mb_s", Range(0.1, 1e5)),
    ("disk.inner_mb_s", Range(0.1, 1e5)),
    ("disk.cache_bytes", Whole(0, 1_000_000_000_000)),
    ("disk.write_segments", ANY_U32),
    ("disk.read_ahead_bytes", Whole(0, 1_000_000_000_000)),
];

impl Domain {
    /// Domain of a key such as "host.depth", or None if its value is not a number.
    pub fn of(key: &str) -> Option<Domain> {
        DOMAINS.iter().find(|(name, _)| *name == key).map(|(_, domain)| *domain)
    }

    /// Description of the valid values, for errors about values of the wrong type.
    pub fn of_what(self) -> String {
        match self {
            Whole(..) => format!("a whole number {self}"),
            Range(..) | Spread => format!("a number {self}"),
            Rate => self.to_string(),
        }
    }

    fn holds(self, number: &Number) -> bool {
        let value = number.as_f64().unwrap_or(f64::NAN);
        match self {
            Whole(least, most) => number.as_u64().is_some_and(|n| (least..=most).contains(&n)),
            Range(least, most) => (least..=most).contains(&value),
            Spread => (0.0..=0.28).contains(&value),
            Rate => value == 0.0 || (0.001..=1e9).contains(&value),
        }
    }
}

impl Display for Domain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Whole(least, most) => write!(f, "from {least} to {most}"),
            Range(least, most) if *least > 0.0 && *least < 1e-3 => {
                write!(f, "from {least:e} to {most}")
            }
            Range(least, most) if *most >= 1e9 => write!(f, "from {least} to {most:e}"),
            Range(least, most) => write!(f, "from {least} to {most}"),
            Spread => write!(f, "from 0 to 0.28, so that no draw is below 0"),
            Rate => write!(f, "0 (takes no time), or from 0.001 to 1e9"),
        }
    }
}

/// Checks all numbers of a profile's tables. The error names the first invalid one.
pub fn check(tables: &impl Serialize) -> Result<()> {
    let Ok(Value::Object(tables)) = serde_json::to_value(tables) else {
        return Err(Error::Spec(
            "the timing tables of a device must be a JSON object with a table per name".into(),
        ));
    };
    for (title, table) in &tables {
        let keys = table.as_object().into_iter().flatten();
        for (key, value) in keys {
            let key = format!("{title}.{key}");
            if let Some(domain) = Domain::of(&key) {
                check_value(&key, domain, value)?;
            }
        }
    }
    Ok(())
}

fn check_value(key: &str, domain: Domain, value: &Value) -> Result<()> {
    match value {
        Value::Array(values) => values.iter().try_for_each(|item| check_value(key, domain, item)),
        Value::Number(number) if domain.holds(number) => Ok(()),
        Value::Number(number) if number.is_f64() => {
            Err(Error::outside(key, number.as_f64().unwrap_or(f64::NAN), domain))
        }
        // JSON cannot represent NaN or infinity, so no check for them is needed here.
        Value::Null => Err(Error::outside(key, f64::NAN, domain)),
        other => Err(Error::outside(key, other, domain)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use super::{DOMAINS, Domain, check};
    use crate::timing::disk::DiskProfile;
    use crate::timing::params::{ByKind, Timing};

    const DISK: &str = r#"{"disk": {"capacity_bytes": 1000000000, "rpm": 5400,
        "track_to_track_ms": 1, "average_seek_ms": 10, "full_seek_ms": 20, "head_switch_ms": 1,
        "heads": 2, "zones": 4, "outer_mb_s": 100, "inner_mb_s": 50}}"#;

    /// Adds the keys whose values are numbers or lists, because all lists here contain numbers.
    fn numbers(tables: &Value, keys: &mut HashSet<String>) {
        for (title, table) in tables.as_object().expect("tables") {
            for (key, value) in table.as_object().expect("a table") {
                if value.is_number() || value.is_array() {
                    keys.insert(format!("{title}.{key}"));
                }
            }
        }
    }

    #[test]
    fn every_number_of_a_profile_has_a_domain() {
        let timing = r#"{"program": {"flash_page_bytes": 4096}}"#;
        let timing = Timing::from_json(timing).expect("a profile");
        let disk = DiskProfile::from_json(DISK).expect("a profile");
        let mut keys = HashSet::new();
        numbers(&serde_json::to_value(&timing).expect("tables"), &mut keys);
        numbers(&serde_json::to_value(&disk).expect("tables"), &mut keys);
        let stated: HashSet<String> = DOMAINS.iter().map(|(key, _)| (*key).to_owned()).collect();
        assert_eq!(keys, stated);
        assert_eq!(stated.len(), DOMAINS.len());
        assert!(check(&timing).is_ok());
        assert!(check(&disk).is_ok());
    }

    #[test]
    fn a_number_outside_its_domain_is_named_with_what_is_valid() {
        let cases = [
            (r#"{"program": {"planes": 0}}"#, "program.planes is 0; it must be from 1 to 64"),
            (
                r#"{"timing": {"read_us": [1, 3600000001]}}"#,
                "timing.read_us is 3600000001; it must be from 0 to 3.6e9",
            ),
            (
                r#"{"errors": {"raw_bit_error_rate": [[0.1], [0.6]]}}"#,
                "errors.raw_bit_error_rate is 0.6; it must be from 1e-12 to 0.5",
            ),
            (
                r#"{"bus": {"channel_mb_s": 0.0001}}"#,
                "bus.channel_mb_s is 0.0001; it must be 0 (takes no time), or",
            ),
            (
                r#"{"write_cache": {"bytes": 18446744073709551615}}"#,
                "write_cache.bytes is 18446744073709551615; it must be from 0 to",
            ),
        ];
        for (text, sentence) in cases {
            let timing = Timing::from_json(text).expect("numbers of the right kind");
            let error = check(&timing).expect_err(text).to_string();
            assert!(error.starts_with(sentence), "{error}");
        }
        let mut timing = Timing::default();
        timing.timing.read_us = ByKind::Same(f64::NAN);
        let error = check(&timing).expect_err("it is no number").to_string();
        assert!(error.starts_with("timing.read_us is NaN; it must be from 0"), "{error}");
        assert_eq!(Domain::of("host.full_duplex"), None);
    }
}
