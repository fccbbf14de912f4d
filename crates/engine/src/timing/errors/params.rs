//! Parameters of read errors, and the sentences that refuse them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Values that an axis of the table has at most.
const MOST_VALUES: usize = 64;

/// `[errors]`: bit errors of reads by wear and retention, and the tries to correct them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Errors {
    /// Erases of a block at the rows of the table, from 0 on and rising; none without errors.
    pub erases: Vec<u32>,
    /// Days since a block was programmed at the columns of the table, from 0 on and rising.
    pub retention_days: Vec<f64>,
    /// Share of the bits that a first try reads wrong: a row for each of `erases`.
    /// Between the values, its logarithm is interpolated linearly; beyond the last, it stays.
    pub raw_bit_error_rate: Vec<Vec<f64>>,
    /// Standard deviation of the rate's logarithm among flash pages; none differ by more than
    /// 3.46 of them.
    pub page_spread: f64,
    /// Bytes of a codeword, its check bits among them.
    pub codeword_bytes: u32,
    /// Wrong bits of a codeword that are corrected.
    pub correctable_bits: u32,
    /// Factor by which each further try, with other reference voltages, lowers the rate.
    pub retry_factor: f64,
    /// Further tries of a read, after which it is uncorrectable.
    pub most_retries: u32,
    /// Time between the data of a try that failed and the next: decoding and new voltages.
    pub decode_us: f64,
    /// Erases of each block beyond those that are simulated.
    pub worn_erases: u32,
    /// Age of what is on the drive when time begins.
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
    /// True if reads may fail.
    pub fn are_there(&self) -> bool {
        !self.raw_bit_error_rate.is_empty()
    }

    /// An error where values do not go together.
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
        let given = [
            ("erases", !self.erases.is_empty()),
            ("retention_days", !self.retention_days.is_empty()),
            ("worn_erases", self.worn_erases > 0),
            ("aged_days", self.aged_days > 0.0),
        ];
        given.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(name, _)| {
            Err(Error::Spec(format!(
                "errors.{name} says something of bit errors, but errors.raw_bit_error_rate gives \
                 no rates"
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
                "errors.raw_bit_error_rate has rows of {widths:?} values; it must have {rows}, one \
                 for each of errors.erases, of {columns}, one for each of errors.retention_days"
            )));
        }
        let falls = |pair: (&f64, &f64)| pair.1 < pair.0;
        let in_rows = table.iter().any(|row| row.iter().zip(&row[1..]).any(falls));
        let in_columns = table.windows(2).any(|rows| rows[0].iter().zip(&rows[1]).any(falls));
        if in_rows || in_columns {
            let by = if in_rows { "retention" } else { "erases" };
            return Err(Error::Spec(format!(
                "errors.raw_bit_error_rate falls with {by}; it must rise, or stay"
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
                    "errors.{name} is {value}; errors.{axis} ends at {last}, and no rate is known \
                     beyond"
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
             above that before"
        )));
    }
    Ok(())
}
