//! Bit errors of reads, and the number of tries that correct them.

use writeamp_engine::rng::Numbered;

/// Table of bit error rates of a profile, and the parameters of correction.
#[derive(Debug, Clone)]
pub struct ErrorTable {
    pub erases: Vec<u32>,
    pub days: Vec<f64>,
    /// Bit error rates, with a row for each value of `erases` and a column for each value of
    /// `days`.
    pub rates: Vec<Vec<f64>>,
    pub page_spread: f64,
    pub codeword_bytes: u32,
    pub correctable_bits: u32,
    pub retry_factor: f64,
    pub most_retries: u32,
    pub decode_ns: u64,
    pub worn_erases: u32,
    pub aged_days: f64,
}

#[derive(Debug)]
pub struct Errors {
    table: ErrorTable,
    /// Erases of each block, including the erases that the profile assumes before time 0.
    erases: Vec<u32>,
    /// Time of the first program of each block since its erase; None if that was before time 0.
    first_ns: Vec<Option<u64>>,
    read_draws: Numbered,
    page_draws: Numbered,
    reads: u64,
    /// Number of further tries of reads, by purpose: host, copies, mapping table.
    pub retries: [u64; 3],
    /// Number of reads that no try corrects, by purpose: host, copies, mapping table.
    pub uncorrectable: [u64; 3],
}

impl Errors {
    /// Returns the errors of a drive; `erases` are the erases of each block before time 0.
    pub fn new(table: ErrorTable, erases: &[u32], seed: u64) -> Self {
        Errors {
            erases: erases.iter().map(|&erases| erases + table.worn_erases).collect(),
            first_ns: vec![None; erases.len()],
            read_draws: Numbered::new(seed, "read errors"),
            page_draws: Numbered::new(seed, "pages that err"),
            reads: 0,
            retries: [0; 3],
            uncorrectable: [0; 3],
            table,
        }
    }

    pub fn decode_ns(&self) -> u64 {
        self.table.decode_ns
    }

    pub fn note_first_program(&mut self, block: u32, now_ns: u64) {
        self.first_ns[block as usize] = Some(now_ns);
    }

    pub fn note_erased(&mut self, block: u32) {
        self.erases[block as usize] += 1;
    }

    /// Counts the next read, and returns how often it is tried again.
    ///
    /// `purpose` is the index in `retries`.
    pub fn tries(
        &mut self,
        (block, read_unit): (u32, u32),
        bytes: u64,
        purpose: usize,
        now_ns: u64,
    ) -> u32 {
        self.reads += 1;
        let days = match self.first_ns[block as usize] {
            Some(first_ns) => (now_ns - first_ns) as f64 / 86_400e9,
            None => self.table.aged_days + now_ns as f64 / 86_400e9,
        };
        let mut bits = self.page_draws.bits(u64::from(read_unit));
        let mut sum = 0.0;
        for _ in 0..4 {
            sum += ((bits % 65536) as f64 + 0.5) / 65536.0;
            bits /= 65536;
        }
        let deviations = (sum - 2.0) * 3.0_f64.sqrt();
        let rate = self.table.rate(self.erases[block as usize], days)
            * (deviations * self.table.page_spread).exp();
        let codewords = bytes.div_ceil(u64::from(self.table.codeword_bytes)).max(1);
        let draw = self.read_draws.unit(self.reads);
        for tries in 0..=self.table.most_retries {
            let try_rate = rate * self.table.retry_factor.powi(tries.cast_signed());
            let mut good = 1.0;
            for _ in 0..codewords {
                good *= self.table.chance_of_good_codeword(try_rate.min(0.5));
            }
            if draw >= 1.0 - good {
                self.retries[purpose] += u64::from(tries);
                return tries;
            }
        }
        self.retries[purpose] += u64::from(self.table.most_retries);
        self.uncorrectable[purpose] += 1;
        self.table.most_retries
    }
}

impl ErrorTable {
    /// Interpolates the error rate geometrically between four values of the table.
    fn rate(&self, erases: u32, days: f64) -> f64 {
        let wear: Vec<f64> = self.erases.iter().map(|&n| f64::from(n)).collect();
        let mut rate = 1.0;
        for (row, down) in shares(&wear, f64::from(erases)) {
            for (column, along) in shares(&self.days, days) {
                rate *= self.rates[row][column].powf(down * along);
            }
        }
        rate
    }

    /// Returns the probability that a codeword has at most `correctable_bits` wrong bits.
    ///
    /// The binomial terms are summed from 0 wrong bits on.
    fn chance_of_good_codeword(&self, rate: f64) -> f64 {
        let bits = f64::from(self.codeword_bytes) * 8.0;
        let (log_wrong, log_right) = (rate.ln(), (-rate).ln_1p());
        let (mut sum, mut log_ways) = (0.0, 0.0_f64);
        for wrong in 0..=self.correctable_bits {
            let wrong = f64::from(wrong);
            sum += (log_ways + wrong * log_wrong + (bits - wrong) * log_right).exp();
            log_ways += ((bits - wrong) / (wrong + 1.0)).ln();
        }
        f64::min(sum, 1.0)
    }
}

/// Returns the indexes of the axis values around `value`, each with its weight.
fn shares(axis: &[f64], value: f64) -> Vec<(usize, f64)> {
    for at in 1..axis.len() {
        if value < axis[at] {
            let share = (value - axis[at - 1]) / (axis[at] - axis[at - 1]);
            return vec![(at - 1, 1.0 - share), (at, share)];
        }
    }
    vec![(axis.len() - 1, 1.0)]
}
