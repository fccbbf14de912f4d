//! Optional features of the processor.

use std::sync::OnceLock;

/// True if the processor has the 512-bit instructions that some loops are also written for.
/// These are AVX-512 F, DQ, BW and VL. `WRITEAMP_SCALAR`, if it is set, says no: results are the
/// same without them, and tests see to that.
#[inline(always)]
pub fn has_wide_lanes() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| std::env::var_os("WRITEAMP_SCALAR").is_none() && found())
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn found() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn found() -> bool {
    false
}
