//! Random durations of array operations, equal to those that the engine draws.
//!
//! They come from the random stream "durations", in the order in which operations are created.

use writeamp_engine::rng::Stream;

use super::profile::{Place, Profile};

#[derive(Debug)]
pub struct Durations {
    read_ns: Vec<u64>,
    program_ns: Vec<u64>,
    erase_ns: u64,
    slc_read_ns: u64,
    slc_program_ns: u64,
    slc_erase_ns: u64,
    spread: f64,
    random: Stream,
}

impl Durations {
    pub fn new(profile: &Profile, seed: u64) -> Self {
        Durations {
            read_ns: profile.read_ns.clone(),
            program_ns: profile.program_ns.clone(),
            erase_ns: profile.erase_ns,
            slc_read_ns: profile.slc_read_ns,
            slc_program_ns: profile.slc_program_ns,
            slc_erase_ns: profile.slc_erase_ns,
            spread: profile.spread,
            random: Stream::new(seed, "durations"),
        }
    }

    pub fn read_ns(&mut self, place: Place) -> u64 {
        let mean_ns = self.read_ns[place.page_index % self.read_ns.len()];
        self.draw(mean_ns)
    }

    pub fn program_ns(&mut self, place: Place) -> u64 {
        let mean_ns = self.program_ns[place.program_index % self.program_ns.len()];
        self.draw(mean_ns)
    }

    pub fn erase_ns(&mut self) -> u64 {
        self.draw(self.erase_ns)
    }

    pub fn slc_read_ns(&mut self) -> u64 {
        self.draw(self.slc_read_ns)
    }

    pub fn slc_program_ns(&mut self) -> u64 {
        self.draw(self.slc_program_ns)
    }

    pub fn slc_erase_ns(&mut self) -> u64 {
        self.draw(self.slc_erase_ns)
    }

    /// Draws a duration in ns: a sum of four uniform 16-bit numbers, scaled to mean and spread.
    ///
    /// Without spread, no random number is drawn.
    fn draw(&mut self, mean_ns: u64) -> u64 {
        let sd_ns = mean_ns as f64 * self.spread;
        if sd_ns == 0.0 {
            return mean_ns;
        }
        let mut bits = self.random.bits();
        let mut sum = 0.0;
        for _ in 0..4 {
            sum += ((bits % 65536) as f64 + 0.5) / 65536.0;
            bits /= 65536;
        }
        (mean_ns as f64 + (sum - 2.0) * 3.0_f64.sqrt() * sd_ns).round() as u64
    }
}
