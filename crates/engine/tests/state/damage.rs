use writeamp_engine::Error;
use writeamp_engine::rng::Stream;
use writeamp_engine::state::{intact, unpack_intact};

use crate::cases::{Case, some};

const GATE: usize = 211;
const DAMAGES: u32 = 12;

fn run_before(case: &Case) -> Option<Vec<u8>> {
    let mut run = case.filled()?;
    run.run(700).unwrap();
    Some(run.save())
}

#[test]
fn bytes_that_were_cut_or_changed_are_refused() {
    for case in some(GATE) {
        let Some(bytes) = run_before(&case) else { continue };
        let mut random = Stream::new(case.seed, "damage");
        for _ in 0..DAMAGES {
            let at = random.below(bytes.len() as u32) as usize;
            let refused = case.build().unwrap().restored(&bytes[..at]);
            assert!(matches!(refused, Err(Error::State(_))), "{case:?}: cut at {at}");
            let mut changed = bytes.clone();
            changed[at] ^= 1 << random.below(8);
            let refused = case.build().unwrap().restored(&changed);
            assert!(matches!(refused, Err(Error::State(_))), "{case:?}: changed at {at}");
        }
    }
}

/// No restored state makes a drive panic later, even one with a made-up checksum.
#[test]
fn what_is_restored_never_panics_later() {
    let (mut refused, mut restored) = (0, 0);
    for case in some(GATE) {
        let Some(bytes) = run_before(&case) else { continue };
        let payload = intact(&bytes).unwrap();
        let mut random = Stream::new(case.seed, "damage");
        for _ in 0..DAMAGES {
            let mut payload = payload.to_vec();
            for _ in 0..=random.below(2) {
                let at = random.below(payload.len() as u32) as usize;
                payload[at] = match random.below(4) {
                    0 => random.bits() as u8,
                    1 => payload[at].wrapping_add(1),
                    2 => u8::MAX,
                    _ => payload[at] ^ (1 << random.below(8)),
                };
            }
            let mut run = case.build().unwrap();
            if unpack_intact(&mut run, &payload).is_ok() {
                let _ = run.run(600); // which may be an error
                restored += 1;
            } else {
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {restored} restored");
    assert!(refused > 0 && restored > 0);
}
