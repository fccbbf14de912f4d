//! Optional features of the processor.

use std::sync::OnceLock;

/// Vector instructions that some loops use, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lanes {
    /// None.
    Scalar,
    /// AVX2 and POPCNT, of 256 bits.
    Avx2,
    /// AVX-512 F, DQ, BW and VL, of 512 bits, besides AVX2.
    Avx512,
}

/// The widest vector instructions of the processor.
/// If the environment variable `WRITEAMP_SCALAR` is set, none are used, so that tests can check that
/// the results are the same.
#[inline(always)]
pub fn lanes() -> Lanes {
    static LANES: OnceLock<Lanes> = OnceLock::new();
    *LANES.get_or_init(|| match std::env::var_os("WRITEAMP_SCALAR") {
        None => detected(),
        Some(_) => Lanes::Scalar,
    })
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn detected() -> Lanes {
    if !is_x86_feature_detected!("avx2") || !is_x86_feature_detected!("popcnt") {
        Lanes::Scalar
    } else if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
    {
        Lanes::Avx512
    } else {
        Lanes::Avx2
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn detected() -> Lanes {
    Lanes::Scalar
}
