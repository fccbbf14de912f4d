//! fio's random generators: combined Tausworthe generators of 32 and 64 bits.
//!
//! The 32-bit generator is taus88 (L'Ecuyer, Mathematics of Computation 65, 1996), the 64-bit one
//! is LFSR258 (L'Ecuyer, Mathematics of Computation 68, 1999). fio seeds the components by a
//! congruential generator, and discards the first six numbers.

/// Discarded numbers after seeding.
const DISCARDED: usize = 6;
/// Constant from which fio computes the first component.
/// fio writes `(2^31) + (2^17) + (2^7)`, in which C reads `^` as exclusive or.
const FIRST: u64 = 29 + 19 + 5;
/// Least values of the components of each generator.
const LEAST: [u64; 5] = [1, 7, 15, 33, 49];

/// Generator of 32-bit numbers.
#[derive(Debug, Clone)]
pub struct Taus88([u32; 3]);

impl Taus88 {
    /// Generator with a seed, of which fio uses the lower 32 bits.
    pub fn new(seed: u64) -> Self {
        let seed = seed as u32;
        let mut components = [0; 3];
        let mut previous = FIRST as u32;
        for (component, least) in components.iter_mut().zip(LEAST) {
            previous = previous.wrapping_mul(69_069) ^ seed;
            previous = if u64::from(previous) < least { previous + least as u32 } else { previous };
            *component = previous;
        }
        let mut generator = Taus88(components);
        (0..DISCARDED).for_each(|_| _ = generator.draw());
        generator
    }

    /// Next number.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let [first, second, third] = &mut self.0;
        *first = ((*first & !1) << 12) ^ (((*first << 13) ^ *first) >> 19);
        *second = ((*second & !7) << 4) ^ (((*second << 2) ^ *second) >> 25);
        *third = ((*third & !15) << 17) ^ (((*third << 3) ^ *third) >> 11);
        *first ^ *second ^ *third
    }
}

/// Generator of 64-bit numbers.
#[derive(Debug, Clone)]
pub struct Taus258([u64; 5]);

impl Taus258 {
    /// Generator with a seed.
    pub fn new(seed: u64) -> Self {
        let mut components = [0; 5];
        let mut previous = FIRST;
        for (component, least) in components.iter_mut().zip(LEAST) {
            previous = previous.wrapping_mul(6_906_969_069) ^ seed;
            previous = if previous < least { previous + least } else { previous };
            *component = previous;
        }
        let mut generator = Taus258(components);
        (0..DISCARDED).for_each(|_| _ = generator.draw());
        generator
    }

    /// Next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        /// Shifts of a component: to the left in its feedback, to the right after it, to the left
        /// in its step; and the number of its unused low bits.
        const SHIFTS: [(u32, u32, u32, u32); 5] =
            [(1, 53, 10, 1), (24, 50, 5, 9), (3, 23, 29, 12), (5, 24, 23, 17), (3, 33, 8, 23)];
        let mut number = 0;
        for (component, (left, right, step, unused)) in self.0.iter_mut().zip(SHIFTS) {
            let feedback = ((*component << left) ^ *component) >> right;
            *component = ((*component >> unused << unused) << step) ^ feedback;
            number ^= *component;
        }
        number
    }
}

/// Generator of either size, as `random_generator` selects it.
#[derive(Debug, Clone)]
pub enum Random {
    /// `tausworthe`, fio's default.
    Narrow(Taus88),
    /// `tausworthe64`.
    Wide(Taus258),
}

impl Random {
    /// Generator of 64 or 32 bits with a seed.
    pub fn new(seed: u64, is_wide: bool) -> Self {
        if is_wide { Random::Wide(Taus258::new(seed)) } else { Random::Narrow(Taus88::new(seed)) }
    }

    /// Next number, below [`Self::limit`].
    #[inline]
    pub fn draw(&mut self) -> u64 {
        match self {
            Random::Narrow(generator) => u64::from(generator.draw()),
            Random::Wide(generator) => generator.draw(),
        }
    }

    /// Number of different numbers, as fio's floating-point divisor.
    pub fn limit(&self) -> f64 {
        match self {
            Random::Narrow(_) => 4_294_967_296.0,
            Random::Wide(_) => 18_446_744_073_709_551_616.0,
        }
    }

    /// Number from `first` to `last`, both included.
    #[inline]
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        let number = self.draw() as f64;
        first + ((last - first + 1) as f64 * (number / self.limit())) as u64
    }
}
