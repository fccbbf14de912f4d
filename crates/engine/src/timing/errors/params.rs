//! Parameters of read errors, with the error for each invalid value.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Most values on one axis of the table of error rates.
const MOST_VALUES: usize = 64;

/// `[errors]`: bit errors of reads by wear and retention, and retries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Errors {
    /// Erase counts for the rows of `raw_bit_error_rate`, ascending from 0. Empty without bit
    /// errors.
    pub erases: Vec<u32>,
    /// Days since the program for the columns of `raw_bit_error_rate`, ascending from 0.
    pub retention_days: Vec<f64>,
    /// Raw bit error rate of the first try of a read: one row for each value of `erases`, one
    /// column for each of `retention_days`. The logarithm of the rate is interpolated linearly.
    /// Beyond the last value the rate is constant.
    pub raw_bit_error_rate: Vec<Vec<f64>>,
    /// Standard deviation of the natural logarithm of the error rate, over the flash pages.
    /// No page deviates by more than 3.46 standard deviations.
    pub page_spread: f64,
    /// Bytes of a codeword, including its check bits.
    pub codeword_bytes: u32,
    /// Correctable bits per codeword.
    pub correctable_bits: u32,
    /// Factor on the error rate with each retry, which uses other reference voltages.
    pub retry_factor: f64,
    /// Largest number of retries of a read. If the last one fails too, the read is uncorrectable.
    pub most_retries: u32,
    /// Time between the data of a failed try and the next try, for decoding and new voltages, in
    /// µs.
    pub decode_us: f64,
    /// Erases of each block before the simulation. They are added to the simulated erases.
    pub worn_erases: u32,
    /// Age of the data on the drive at the start of the timed run, in days.
    pub aged_days: f64,
}

impl Default for Errors {
    fn default() -> Self {
        Errors {
            erases: Vec::new(),
            retention_days: Vec::new(),
            raw_bit_error_rate: Vec::new(),
            page_spread: 0.0,
            codeword_bytes: 1024,
            correctable_bits: 72,
            retry_factor: 0.8,
            most_retries: 16,
            decode_us: 0.0,
            worn_erases: 0,
            aged_days: 0.0,
        }
    }
}

impl Errors {
    /// True if the profile has bit errors, so that reads can fail.
    pub fn are_there(&self) -> bool {
        !self.raw_bit_error_rate.is_empty()
    }

    /// Checks that the parameters of read errors do not contradict each other.
    pub fn check(&self) -> Result<()> {
        let bits = 8 * self.codeword_bytes;
        if self.correctable_bits >= bits {
            return Err(Error::Spec(format!(
                "errors.correctable_bits is {}; it must be less than the {bits} bits of \
                 errors.codeword_bytes",
                self.correctable_bits
            )));
        }
        if self.are_there() { self.check_table() } else { self.check_absence() }
    }

    fn check_absence(&self) -> Result<()> {
        let settings = [
            ("erases", !self.erases.is_empty()),
            ("retention_days", !self.retention_days.is_empty()),
            ("worn_erases", self.worn_erases > 0),
            ("aged_days", self.aged_days > 0.0),
        ];
        settings.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(name, _)| {
            Err(Error::Spec(format!(
                "errors.{name} is set, but errors.raw_bit_error_rate has no rates; set both or \
                 neither"
            )))
        })
    }

    fn check_table(&self) -> Result<()> {
        let erases: Vec<f64> = self.erases.iter().copied().map(f64::from).collect();
        check_axis("errors.erases", &erases)?;
        check_axis("errors.retention_days", &self.retention_days)?;
        let (rows, columns) = (self.erases.len(), self.retention_days.len());
        let table = &self.raw_bit_error_rate;
        if table.len() != rows || table.iter().any(|row| row.len() != columns) {
            let widths: Vec<usize> = table.iter().map(Vec::len).collect();
            return Err(Error::Spec(format!(
                "errors.raw_bit_error_rate has rows of {widths:?} values; it must have {rows} (one \
                 per value of errors.erases) of {columns} (one per value of errors.retention_days)"
            )));
        }
        let falls = |pair: (&f64, &f64)| pair.1 < pair.0;
        let in_rows = table.iter().any(|row| row.iter().zip(&row[1..]).any(falls));
        let in_columns = table.windows(2).any(|rows| rows[0].iter().zip(&rows[1]).any(falls));
        if in_rows || in_columns {
            let by = if in_rows { "retention" } else { "erases" };
            return Err(Error::Spec(format!(
                "errors.raw_bit_error_rate decreases with {by}; no value may be below the one \
                 before it"
            )));
        }
        let state = [
            ("worn_erases", "erases", f64::from(self.worn_erases), &erases),
            ("aged_days", "retention_days", self.aged_days, &self.retention_days),
        ];
        for (name, axis, value, values) in state {
            let last = values[values.len() - 1];
            if value > last {
                return Err(Error::Spec(format!(
                    "errors.{name} is {value}, but errors.{axis} ends at {last}; extend the table, \
                     or reduce errors.{name}"
                )));
            }
        }
        Ok(())
    }
}

fn check_axis(name: &str, values: &[f64]) -> Result<()> {
    let is_rising = values.windows(2).all(|pair| pair[0] < pair[1]);
    let is_long = values.len() > MOST_VALUES;
    if values.first() != Some(&0.0) || !is_rising || is_long {
        return Err(Error::Spec(format!(
            "{name} is {values:?}; it must have 1 to {MOST_VALUES} values, the first 0 and each \
             above the previous one"
        )));
    }
    Ok(())
}
