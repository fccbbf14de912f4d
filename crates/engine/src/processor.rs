//! Optional features of the processor.

use std::sync::OnceLock;

/// True if the processor supports the 512-bit instructions that some loops use.
/// These are AVX-512 F, DQ, BW and VL. If the environment variable `WRITEAMP_SCALAR` is set, they
/// are not used, so that tests can check that the results are the same.
#[inline(always)]
pub fn has_wide_lanes() -> bool {
    static HAS_WIDE_LANES: OnceLock<bool> = OnceLock::new();
    *HAS_WIDE_LANES.get_or_init(|| std::env::var_os("WRITEAMP_SCALAR").is_none() && is_detected())
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn is_detected() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn is_detected() -> bool {
    false
}
