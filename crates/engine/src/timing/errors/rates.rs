//! Raw bit error rate, interpolated in a table.

use super::params::Errors;

/// Logarithms of the rates of a checked table.
#[derive(Debug)]
pub struct Rates {
    erases: Vec<f64>,
    days: Vec<f64>,
    logs: Vec<Vec<f64>>,
}

impl Rates {
    /// Builds the rates of a profile with bit errors.
    pub fn new(errors: &Errors) -> Self {
        let logs = |row: &Vec<f64>| row.iter().map(|&rate| libm::log(rate)).collect();
        Rates {
            erases: errors.erases.iter().copied().map(f64::from).collect(),
            days: errors.retention_days.clone(),
            logs: errors.raw_bit_error_rate.iter().map(logs).collect(),
        }
    }

    /// Logarithm of the error rate of a first try.
    /// The rate is constant beyond the ends of the table.
    pub fn log_rate(&self, erases: u32, days: f64) -> f64 {
        let (row, down) = place(&self.erases, f64::from(erases));
        let (column, right) = place(&self.days, days);
        let along = |row: &[f64]| {
            let next = row[(column + 1).min(row.len() - 1)];
            row[column] + right * (next - row[column])
        };
        let here = along(&self.logs[row]);
        let below = along(&self.logs[(row + 1).min(self.logs.len() - 1)]);
        here + down * (below - here)
    }
}

/// Index of the last axis value that is at most `value`, and the fraction (0 to 1) of the way
/// from there to the next axis value.
fn place(axis: &[f64], value: f64) -> (usize, f64) {
    let after = axis.partition_point(|&at| at <= value);
    if after == axis.len() {
        return (after - 1, 0.0);
    }
    let (from, to) = (axis[after - 1], axis[after]);
    (after - 1, (value - from) / (to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Rates {
        Rates::new(&Errors {
            erases: vec![0, 1000, 3000],
            retention_days: vec![0.0, 10.0],
            raw_bit_error_rate: vec![vec![1e-4, 1e-3], vec![1e-3, 1e-2], vec![1e-3, 1e-1]],
            ..Errors::default()
        })
    }

    #[test]
    fn rates_are_the_tables_at_its_values_and_geometric_means_between_them() {
        let rates = table();
        let rate = |erases, days| libm::exp(rates.log_rate(erases, days));
        for (erases, days, expected) in [
            (0, 0.0, 1e-4),
            (1000, 10.0, 1e-2),
            (500, 0.0, 10_f64.powf(-3.5)),
            (0, 5.0, 10_f64.powf(-3.5)),
            (2000, 5.0, 10_f64.powf(-2.25)),
            (3000, 10.0, 1e-1),
            (9000, 99.0, 1e-1),
            (9000, 0.0, 1e-3),
        ] {
            assert!((rate(erases, days) / expected - 1.0).abs() < 1e-12, "{erases}, {days}");
        }
    }
}
