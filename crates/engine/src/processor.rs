//! Optional features of the processor.

use std::ffi::OsString;
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

/// Environment variable with the widest vector instructions that are used, by name.
const LIMIT: &str = "WRITEAMP_SIMD";
/// Environment variable that, if set, has the effect of `WRITEAMP_SIMD=scalar`.
const SCALAR: &str = "WRITEAMP_SCALAR";

impl Lanes {
    /// All instructions by name.
    pub const ALL: [(&str, Lanes); 3] =
        [("scalar", Lanes::Scalar), ("avx2", Lanes::Avx2), ("avx512", Lanes::Avx512)];

    /// Widest vector instructions of the processor, or the narrower ones that the environment
    /// variable `WRITEAMP_SIMD` names, so that tests can check that the results are the same.
    /// Returns an error text if the variable has another value, or the processor lacks these
    /// instructions.
    pub fn limited() -> Result<Lanes, String> {
        let named = std::env::var_os(LIMIT);
        limited(detected(), named, std::env::var_os(SCALAR).is_some())
    }

    /// Name of the instructions.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

fn limited(detected: Lanes, named: Option<OsString>, is_scalar: bool) -> Result<Lanes, String> {
    let Some(named) = named else { return Ok(if is_scalar { Lanes::Scalar } else { detected }) };
    let valid = &Lanes::ALL[..=detected as usize];
    let lanes = valid.iter().find(|(name, _)| named.to_str() == Some(name));
    lanes.map(|(_, lanes)| *lanes).ok_or_else(|| {
        let words: Vec<&str> = valid.iter().map(|(name, _)| *name).collect();
        format!(
            "{LIMIT} is '{}'; valid on this processor: {}",
            named.to_string_lossy(),
            words.join(", ")
        )
    })
}

/// Vector instructions of [`Lanes::limited`], or those of the processor if that is an error.
#[inline(always)]
pub fn lanes() -> Lanes {
    static LANES: OnceLock<Lanes> = OnceLock::new();
    *LANES.get_or_init(|| Lanes::limited().unwrap_or_else(|_| detected()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_may_only_narrow_the_vector_instructions_of_the_processor() {
        let of = |named: &str| limited(Lanes::Avx2, Some(named.into()), true);
        assert_eq!(of("scalar"), Ok(Lanes::Scalar));
        assert_eq!(of("avx2"), Ok(Lanes::Avx2));
        for wrong in ["avx512", "AVX2", ""] {
            let sentence = of(wrong).unwrap_err();
            assert_eq!(
                sentence,
                format!("WRITEAMP_SIMD is '{wrong}'; valid on this processor: scalar, avx2")
            );
        }
        assert_eq!(limited(Lanes::Avx512, None, false), Ok(Lanes::Avx512));
        assert_eq!(limited(Lanes::Avx512, None, true), Ok(Lanes::Scalar));
    }
}
