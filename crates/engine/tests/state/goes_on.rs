use std::collections::BTreeMap;

use writeamp_engine::rng::Stream;
use writeamp_engine::simulation::Simulation;

use crate::cases::{Case, some};

/// A prime, so that the gate meets every pair of entries that there can be.
const GATE: usize = 53;

/// Writes, and what no workload does: all decided by `random`.
fn drive_on(run: &mut Simulation, random: &mut Stream) {
    for _ in 0..3 {
        run.run(u64::from(1 + random.below(200))).unwrap();
        let first = random.below(600);
        run.drive_mut().trim(first..first + random.below(60)).unwrap();
        run.drive_mut().read(first..first + 10).unwrap();
        run.drive_mut().collect_idle(random.below(2) as usize).unwrap();
        run.run(u64::from(1 + random.below(100))).unwrap();
    }
}

fn goes_on(case: &Case, mut saved: Simulation) {
    let mut random = Stream::new(case.seed, "test");
    drive_on(&mut saved, &mut random);
    let bytes = saved.save();
    assert!(saved.save() == bytes, "{case:?}: a run that is saved twice");
    let mut restored = case.build().unwrap();
    // One that has come some way itself is restored like a new one.
    if case.seed.is_multiple_of(3) {
        restored.fill(0, 500).unwrap();
        drive_on(&mut restored, &mut random.clone());
    }
    let mut restored = restored.restored(&bytes).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    assert!(restored.save() == bytes, "{case:?}: a run that is restored and saved at once");
    drive_on(&mut restored, &mut random.clone());
    drive_on(&mut saved, &mut random);
    assert_eq!(restored.counters(), saved.counters(), "{case:?}");
    assert_eq!(restored.series().samples(), saved.series().samples(), "{case:?}");
    let (drive, other) = (restored.drive(), saved.drive());
    assert_eq!(drive.flash().erase_counts(), other.flash().erase_counts(), "{case:?}");
    assert_eq!(drive.report(), other.report(), "{case:?}");
    assert_eq!(drive.flash().map(), other.flash().map(), "{case:?}");
    assert_eq!(
        drive.flash().wear().first_to_reach(),
        other.flash().wear().first_to_reach(),
        "{case:?}"
    );
    assert!(restored.save() == saved.save(), "{case:?}: what no report shows");
}

#[test]
fn a_restored_run_goes_on_as_the_one_that_was_saved() {
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let mut runs = 0;
    for case in some(GATE) {
        let parts = [&case.manager, case.victims, case.leveler.unwrap_or("none"), case.workload];
        let parts = parts.map(str::to_owned);
        let run = case.filled();
        for part in parts {
            *met.entry(part).or_default() += usize::from(run.is_some());
        }
        if let Some(run) = run {
            goes_on(&case, run);
            runs += 1;
        }
    }
    println!("{runs} runs: {met:?}");
    let is_all = std::env::var_os("WRITEAMP_POLICY").is_none();
    let unmet: Vec<_> = met.iter().filter(|(_, runs)| is_all && **runs < 3).collect();
    assert!(unmet.is_empty(), "hardly any run of {unmet:?}");
}
