//! fio's linear feedback shift register, `random_generator=lfsr`.
//!
//! It draws all numbers below a limit once, in an order that its seed starts somewhere.

/// Taps of registers of 3 to 40 bits (Xilinx application note 052, table 3).
const TAPS: [&[u32]; 38] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 22, 2, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
];

/// Register over the numbers below a limit.
#[derive(Debug, Clone)]
pub struct Lfsr {
    last: u64,
    drawn: u64,
    limit: u64,
    high_bit: u64,
    mask: u64,
}

impl Lfsr {
    /// Register for the numbers below `limit`, which is at most 2⁴⁰.
    pub fn new(limit: u64, seed: u64) -> Self {
        let taps = TAPS.iter().find(|taps| 1 << taps[0] > limit).unwrap_or(&TAPS[37]);
        let mask = taps.iter().map(|tap| 1u64 << (tap - 1)).sum();
        let mut lfsr = Lfsr { last: 0, drawn: 0, limit, high_bit: 1 << (taps[0] - 1), mask };
        lfsr.reset(seed);
        // Only the first pass begins one step later.
        lfsr.step();
        lfsr
    }

    /// Begins again at a seed.
    pub fn reset(&mut self, seed: u64) {
        let ones = (self.high_bit << 1) - 1;
        self.last = seed & ones;
        // A register of ones never changes, and fio refuses it.
        self.drawn = if self.last == ones { self.limit } else { 0 };
    }

    fn step(&mut self) {
        // The feedback is an exclusive nor, so that a state of zeros is valid.
        let feedback = if self.last & 1 == 0 { self.mask } else { 0 };
        self.last = ((self.last >> 1) | self.high_bit) ^ feedback;
    }

    /// Next number, or None after all of them.
    pub fn draw(&mut self) -> Option<u64> {
        if self.drawn >= self.limit {
            return None;
        }
        self.drawn += 1;
        loop {
            self.step();
            if self.last < self.limit {
                return Some(self.last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_drawn_once_from_any_seed_but_ones() {
        for limit in [1u64, 2, 7, 8, 1000] {
            for seed in 0..16 {
                let mut lfsr = Lfsr::new(limit, seed);
                let mut drawn: Vec<u64> = std::iter::from_fn(|| lfsr.draw()).collect();
                drawn.sort_unstable();
                let has_ones = limit < 8 && seed % 8 == 7 || limit == 8 && seed == 15;
                let expected = if has_ones { 0 } else { limit };
                assert_eq!(drawn, (0..expected).collect::<Vec<u64>>(), "{limit} {seed}");
            }
        }
    }
}
