//! Mean-field model: the drive, its collection, and the hot/cold split of its data.

use std::fmt;

use crate::error::{Error, Result};

/// Largest block that is supported, in pages.
/// Beyond it the chain of the write frontiers, with two states per page, takes minutes and
/// gigabytes.
pub const MAX_PAGES_PER_BLOCK: u32 = 1024;

/// Spare factor with which a drive is easy to solve.
/// The next constants are a d and a share of hot data that are easy to solve.
const EASY_SPARE_FACTOR: f64 = 0.35;
const EASY_D: f64 = 10.0;
const EASY_HOT_FRACTION: f64 = 0.2;

/// Drive of many blocks with hot/cold frontiers and d-choices collection (paper 4, §2.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    pages_per_block: usize,
    spare_factor: f64,
    d: f64,
    d_swap: Option<f64>,
    data: PerKind<f64>,
    writes: PerKind<f64>,
}

/// Values for the two kinds of data and of blocks: hot and cold.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PerKind<T> {
    /// Value for the hot kind of data or blocks.
    pub hot: T,
    /// Value for the cold kind of data or blocks.
    pub cold: T,
}

impl Model {
    /// Builds HCWF(swap) if `d_swap` (the paper's d*) is given, else HCWF.
    /// `hot_fraction` is the paper's f, `hot_write_fraction` its r, `spare_factor` its `S_f`.
    pub fn new(
        pages_per_block: u32,
        spare_factor: f64,
        d: u32,
        d_swap: Option<u32>,
        hot_fraction: f64,
        hot_write_fraction: f64,
    ) -> Result<Self> {
        if !(1..=MAX_PAGES_PER_BLOCK).contains(&pages_per_block) {
            return Err(Error::Spec(format!(
                "pages_per_block is {pages_per_block}; a mean field with hot/cold write frontiers \
                 takes 1 to {MAX_PAGES_PER_BLOCK}"
            )));
        }
        for (name, share) in [
            ("spare_factor", spare_factor),
            ("hot_fraction", hot_fraction),
            ("hot_write_fraction", hot_write_fraction),
        ] {
            if !(share > 0.0 && share < 1.0) {
                return Err(Error::Spec(format!(
                    "{name} is {share}; it must lie between 0 and 1, both excluded"
                )));
            }
        }
        for (name, choices) in [("d", Some(d)), ("d_swap", d_swap)] {
            if choices == Some(0) {
                return Err(Error::Spec(format!(
                    "{name} is 0; at least 1 block must be drawn to choose a victim from"
                )));
            }
        }
        Ok(Model {
            pages_per_block: pages_per_block as usize,
            spare_factor,
            d: f64::from(d),
            d_swap: d_swap.map(f64::from),
            data: PerKind::split(hot_fraction),
            writes: PerKind::split(hot_write_fraction),
        })
    }

    /// Pages per block: b of paper 4.
    pub fn pages_per_block(&self) -> usize {
        self.pages_per_block
    }

    /// Spare factor, spare pages over all pages of the flash: `S_f` of paper 4.
    pub fn spare_factor(&self) -> f64 {
        self.spare_factor
    }

    /// Number d of blocks drawn for a victim. During continuation it need not be a whole number.
    pub fn d(&self) -> f64 {
        self.d
    }

    /// Blocks of one kind drawn for the second victim of a swap, or None without swaps.
    pub fn d_swap(&self) -> Option<f64> {
        self.d_swap
    }

    /// Share of all logical pages of each kind: f and 1 − f.
    pub fn data(&self) -> PerKind<f64> {
        self.data
    }

    /// Share of host writes to each kind: r and 1 − r.
    pub fn writes(&self) -> PerKind<f64> {
        self.writes
    }

    /// Valid pages of each kind, per block of the drive: bρf and bρ(1 − f).
    pub fn valid_pages(&self) -> PerKind<f64> {
        let pages = self.pages_per_block as f64 * (1.0 - self.spare_factor);
        self.data.map(|share| pages * share)
    }

    /// Invalidation rate of a valid page of each kind: its probability per host write × blocks.
    /// These are r/(bρf) and (1 − r)/(bρ(1 − f)) of eqs. 2 and 3.
    pub fn invalidating(&self) -> PerKind<f64> {
        self.writes.zip(self.valid_pages()).map(|(writes, pages)| writes / pages)
    }

    /// Same drive as `self` with another number d of blocks drawn per victim.
    pub(super) fn with_d(self, d: f64) -> Self {
        Model { d, ..self }
    }

    /// Same drive as `self`, but without swaps.
    pub(super) fn without_swaps(self) -> Self {
        Model { d_swap: None, ..self }
    }

    /// Same drive as `self` with the kinds exchanged: hot data are called cold, and cold data
    /// hot.
    pub(super) fn with_kinds_exchanged(&self) -> Self {
        Model { data: self.data.exchanged(), writes: self.writes.exchanged(), ..*self }
    }

    /// Drives that are easier to solve than this one, the most similar first.
    pub(super) fn easier(&self) -> [Self; 3] {
        let spare = Model { spare_factor: EASY_SPARE_FACTOR, ..*self };
        let d_swap = self.d_swap.map(|d_swap| EASY_D.min(d_swap));
        let few_draws = Model { d: EASY_D.min(self.d), d_swap, ..spare };
        let data = PerKind::split(EASY_HOT_FRACTION);
        [spare, few_draws, Model { data, writes: data.exchanged(), ..few_draws }]
    }

    /// Drive at position `place` on the path from the drive `from` (position 0) to this drive
    /// (position 1). All parameters change geometrically along the path.
    pub(super) fn between(&self, from: &Self, place: f64) -> Self {
        if place >= 1.0 {
            return *self;
        }
        let geometric = |from: f64, to: f64| from * (place * (to / from).ln()).exp();
        let split = |from: PerKind<f64>, to: PerKind<f64>| {
            let hot_to_cold = geometric(from.hot / from.cold, to.hot / to.cold);
            PerKind { hot: hot_to_cold / (1.0 + hot_to_cold), cold: 1.0 / (1.0 + hot_to_cold) }
        };
        Model {
            pages_per_block: self.pages_per_block,
            spare_factor: geometric(from.spare_factor, self.spare_factor),
            d: geometric(from.d, self.d),
            d_swap: from.d_swap.zip(self.d_swap).map(|(from, to)| geometric(from, to)),
            data: split(from.data, self.data),
            writes: split(from.writes, self.writes),
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "pages_per_block={}, spare_factor={}, d={}, ",
            self.pages_per_block, self.spare_factor, self.d
        )?;
        if let Some(d_swap) = self.d_swap {
            write!(out, "d_swap={d_swap}, ")?;
        }
        write!(out, "hot_fraction={}, hot_write_fraction={}", self.data.hot, self.writes.hot)
    }
}

impl<T> PerKind<T> {
    /// Applies a function to both values.
    pub fn map<U>(self, mut function: impl FnMut(T) -> U) -> PerKind<U> {
        PerKind { hot: function(self.hot), cold: function(self.cold) }
    }

    /// Pairs the values of two `PerKind` by kind.
    pub fn zip<U>(self, other: PerKind<U>) -> PerKind<(T, U)> {
        PerKind { hot: (self.hot, other.hot), cold: (self.cold, other.cold) }
    }

    /// Exchanges the values of the hot and the cold kind.
    #[must_use]
    pub fn exchanged(self) -> Self {
        PerKind { hot: self.cold, cold: self.hot }
    }

    /// References to the values of both kinds.
    pub fn as_ref(&self) -> PerKind<&T> {
        PerKind { hot: &self.hot, cold: &self.cold }
    }
}

impl PerKind<f64> {
    fn split(hot: f64) -> Self {
        PerKind { hot, cold: 1.0 - hot }
    }

    /// Sum of the values of both kinds.
    pub fn sum(self) -> f64 {
        self.hot + self.cold
    }
}
