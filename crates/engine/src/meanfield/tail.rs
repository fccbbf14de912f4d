//! Sums of shares of blocks from the top level down, and powers of them, without
//! cancellation.

/// Sum T of shares of blocks, stored in two doubles.
/// Powers of up to a million amplify the rounding error of a single double.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tail {
    high: f64,
    low: f64,
}

/// Value of (T + s)^d − T^d for a share s that is added to T, and its derivatives by s and by
/// T.
#[derive(Debug, Clone, Copy)]
pub struct Rise {
    pub value: f64,
    pub by_share: f64,
    pub by_tail: f64,
}

impl Tail {
    pub fn plus(self, share: f64) -> Self {
        // Knuth's two-sum computes the exact rounding error.
        let sum = self.high + share;
        let rounded = sum - self.high;
        let error = (self.high - (sum - rounded)) + (share - rounded);
        Tail { high: sum, low: self.low + error }
    }

    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// Returns ln(T / total).
    pub fn log(self, total: f64) -> f64 {
        if (self.high - total).abs() < 0.5 * total {
            (((self.high - total) + self.low) / total).ln_1p()
        } else {
            (self.value() / total).ln()
        }
    }

    /// Increase of (T / total)^`draws` if T increases by `share`.
    pub fn rise(self, share: f64, draws: f64, total: f64) -> Rise {
        let above = self.plus(share);
        let power = (draws * above.log(total)).exp();
        let log_ratio = (share / self.value()).ln_1p();
        let slope = draws * power / above.value();
        let by_tail = match draws {
            1.0 => 0.0,
            _ => slope * -(-(draws - 1.0) * log_ratio).exp_m1(),
        };
        Rise { value: power * -(-draws * log_ratio).exp_m1(), by_share: slope, by_tail }
    }

    /// Increase of T for which (T / total)^`draws` increases by `rise`.
    pub fn share_of(self, rise: f64, draws: f64, total: f64) -> f64 {
        let tail = self.value();
        if tail == 0.0 {
            return total * (rise.ln() / draws).exp();
        }
        let relative = rise.ln() - draws * self.log(total);
        let log = if relative < 30.0 { relative.exp().ln_1p() } else { relative };
        tail * (log / draws).exp_m1()
    }
}
