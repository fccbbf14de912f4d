//! Histogram of durations.
//!
//! Bins of short durations are as wide as the resolution of the capture. Bins of long durations are
//! 0.1% wide.

/// Durations of at most this many bits, in units of the resolution, have one bin per value.
const EXACT_BITS: u32 = 15;
/// Number of leading bits of a longer duration that select its bin.
/// Bins are at most 2⁻¹⁰ = 0.098% wide.
const KEPT_BITS: u32 = 10;
const CHUNK_BINS: usize = 1 << KEPT_BITS;
const PARTS: usize = (1 << (EXACT_BITS - KEPT_BITS)) + (u64::BITS - EXACT_BITS) as usize;
/// Width of the narrowest bin, in ps.
/// Captures with a finer resolution, which are only simulated ones, use it, too.
const FINEST_PS: u64 = 1000;

/// Histogram of durations. Only octaves that contain durations take memory, 656 KiB at most.
#[derive(Debug, Clone)]
pub struct Durations {
    unit_ps: u64,
    chunks: Vec<Option<Box<[u64; CHUNK_BINS]>>>,
}

/// A bin: durations from `low_ps` up to `high_ps`, and their count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Lower edge, in ps.
    pub low_ps: f64,
    /// Upper edge, in ps.
    pub high_ps: f64,
    /// Number of durations in the bin, at least 1.
    pub count: u64,
}

impl Durations {
    /// Creates the histogram of a capture of this resolution.
    pub fn new(resolution_ps: Option<u64>) -> Self {
        let unit_ps = resolution_ps.unwrap_or(FINEST_PS).max(FINEST_PS);
        Durations { unit_ps, chunks: vec![None; PARTS] }
    }

    /// Counts a duration.
    pub fn add(&mut self, duration_ps: u64) {
        // Rounding puts durations that are multiples of the resolution in the middle of their bins.
        let units = duration_ps.saturating_add(self.unit_ps / 2) / self.unit_ps;
        let index = index_of(units);
        let chunk =
            self.chunks[index / CHUNK_BINS].get_or_insert_with(|| Box::new([0; CHUNK_BINS]));
        chunk[index % CHUNK_BINS] += 1;
    }

    /// The non-empty bins, shortest durations first.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        let chunks = self.chunks.iter().enumerate();
        chunks.filter_map(|(number, chunk)| Some((number, chunk.as_ref()?))).flat_map(
            move |(number, chunk)| {
                let counts = chunk.iter().enumerate().filter(|(_, count)| **count > 0);
                counts.map(move |(place, count)| self.bin(number * CHUNK_BINS + place, *count))
            },
        )
    }

    fn bin(&self, index: usize, count: u64) -> Bin {
        let (first, width) = units_of(index);
        let edge_ps = |units: u64| (units as f64 - 0.5).max(0.0) * self.unit_ps as f64;
        let after_ps = (first as f64 + width as f64 - 0.5) * self.unit_ps as f64;
        Bin { low_ps: edge_ps(first), high_ps: after_ps, count }
    }
}

/// Index of a duration's bin: the duration if it is short, else octave and leading bits.
fn index_of(units: u64) -> usize {
    if units >> EXACT_BITS == 0 {
        return units as usize;
    }
    let octave = u64::BITS - 1 - units.leading_zeros();
    let leading = (units >> (octave - KEPT_BITS)) as usize - CHUNK_BINS;
    (1 << EXACT_BITS) + (octave - EXACT_BITS) as usize * CHUNK_BINS + leading
}

/// First duration of a bin, and the number of different durations that fall into it.
fn units_of(index: usize) -> (u64, u64) {
    let Some(above) = index.checked_sub(1 << EXACT_BITS) else {
        return (index as u64, 1);
    };
    let shift = EXACT_BITS - KEPT_BITS + (above / CHUNK_BINS) as u32;
    (((above % CHUNK_BINS + CHUNK_BINS) as u64) << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_lies_in_its_bin_and_bins_are_fine() {
        let edges = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for units in edges.chain([u64::MAX, 32_767, 32_768, 1_234_567_891]) {
            let (first, width) = units_of(index_of(units));
            assert!(first <= units && units - first < width, "{units}: {first} + {width}");
            assert!(width == 1 || (width as f64) < 0.001 * first as f64, "{units}");
        }
    }

    #[test]
    fn bins_come_in_order_with_their_counts_and_the_grid_in_their_middle() {
        let mut durations = Durations::new(Some(100_000));
        for duration_ps in [5_000_000_000, 300_000, 300_000, 0] {
            durations.add(duration_ps);
        }
        let bins: Vec<Bin> = durations.bins().collect();
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!((bins[1].low_ps, bins[1].high_ps), (250_000.0, 350_000.0));
        assert_eq!(bins[0].low_ps.to_bits(), 0.0f64.to_bits());
        assert!(bins[2].low_ps <= 5e9 && 5e9 < bins[2].high_ps);
    }
}
