use super::super::jacobian::flat;
use super::super::{Conditioning, Drift, Model, Occupancy, PerKind, solve};
use super::{assert_close, model};
use crate::rng::Stream;

fn wa(model: &Model) -> f64 {
    Drift::new(model, &solve(model).expect("solved")).wa
}

#[test]
fn random_collection_without_swaps_amplifies_by_the_inverse_of_the_spare_factor() {
    for spare_factor in [0.01, 0.07, 0.3, 0.9] {
        let model = model(32, spare_factor, (1, None), (0.9, 0.05));
        assert!((wa(&model) * spare_factor - 1.0).abs() < 1e-12);
    }
}

#[test]
fn random_drives_are_solved_to_the_last_bits() {
    let mut random = Stream::new(1, "drives");
    for case in 0..200 {
        let pages = [8, 16, 32, 64][case % 4];
        let spare_factor = 0.03 + 0.37 * random.unit();
        let d = 1 + random.below(100);
        let d_swap = [None, Some(1 + random.below(128))][case / 4 % 2];
        let hot = (0.5 + 0.49 * random.unit(), 0.005 + 0.495 * random.unit());
        let model = model(pages, spare_factor, (d, d_swap), hot);
        let drift = Drift::new(&model, &solve(&model).expect("solved"));
        assert!(drift.residual() < 1e-14, "{model}: {}", drift.residual());
    }
}

#[test]
fn the_borders_of_every_parameter_are_solved() {
    for d_swap in [None, Some(8)] {
        for (pages, spare_factor, d, hot) in [
            (1, 0.1, 10, (0.8, 0.2)),
            (2, 0.1, 10, (0.8, 0.2)),
            (32, 0.01, 10, (0.8, 0.2)),
            (32, 0.9, 10, (0.8, 0.2)),
            (32, 0.1, 1_000_000, (0.8, 0.2)),
            (32, 0.1, 10, (0.2, 0.2)),
            (32, 0.1, 10, (0.999_999, 0.2)),
            (32, 0.1, 10, (0.8, 1e-6)),
            (32, 0.1, 10, (0.1, 0.9)),
        ] {
            let model = model(pages, spare_factor, (d, d_swap), hot);
            let drift = Drift::new(&model, &solve(&model).expect("solved"));
            assert!(drift.residual() < 1e-12, "{model}: {}", drift.residual());
        }
    }
}

/// Exchanging the names of the kinds exchanges their blocks.
#[test]
fn exchanging_hot_and_cold_exchanges_their_blocks() {
    for d_swap in [None, Some(4)] {
        let one = solve(&model(16, 0.1, (7, d_swap), (0.75, 0.125))).expect("solved");
        let other = solve(&model(16, 0.1, (7, d_swap), (0.25, 0.875))).expect("solved");
        assert_close(&one.hot, &other.cold, 1e-14, "hot");
        assert_close(&one.cold, &other.hot, 1e-14, "cold");
    }
}

#[test]
fn a_block_of_one_page_has_nothing_to_swap() {
    let with = model(1, 0.2, (5, Some(3)), (0.8, 0.1));
    let without = model(1, 0.2, (5, None), (0.8, 0.1));
    assert!((wa(&with) - wa(&without)).abs() < 1e-13);
}

/// The error bound is linear in the drift's rest: it holds for blocks beside the fixed point.
#[test]
fn the_error_bound_holds_beside_the_fixed_point() {
    let mut random = Stream::new(2, "errors");
    for d_swap in [None, Some(10)] {
        for hot in [(0.8, 0.1), (0.95, 0.02)] {
            let model = model(16, 0.08, (9, d_swap), hot);
            let still = solve(&model).expect("solved");
            let wa = Drift::new(&model, &still).wa;
            for _ in 0..20 {
                let mut shares: Vec<f64> = flat(&still)
                    .iter()
                    .map(|share| share * (1.0 + 1e-7 * (random.unit() - 0.5)))
                    .collect();
                let total: f64 = shares.iter().sum();
                for share in &mut shares {
                    *share /= total;
                }
                let (hot, cold) = shares.split_at(17);
                let blocks: Occupancy = PerKind { hot: hot.to_vec(), cold: cold.to_vec() };
                let drift = Drift::new(&model, &blocks);
                let bound = Conditioning::new(&model, &blocks, &drift).wa_error_bound;
                let error = (drift.wa - wa).abs();
                assert!(error <= 1.001 * bound, "{error} is not within {bound}");
                assert!(bound < 1e-3, "a bound of {bound} says nothing");
            }
        }
    }
}

#[test]
fn where_blocks_hardly_change_kind_the_conditioning_says_so() {
    let conditioned = |spare_factor, d, d_swap| {
        let model = model(64, spare_factor, (d, d_swap), (0.5, 0.005));
        let blocks = solve(&model).expect("solved");
        Conditioning::new(&model, &blocks, &Drift::new(&model, &blocks))
    };
    let well = conditioned(0.15, 4, Some(4));
    assert!(well.relaxation_drive_writes < 10.0 && well.wa_error_bound < 1e-9);
    let ill = conditioned(0.03, 100, Some(128));
    assert!(ill.relaxation_drive_writes > 1e6 && ill.wa_error_bound > 1e-3);
    // Without swaps the two kinds cannot but exchange blocks.
    let unswapped = conditioned(0.03, 100, None);
    assert!(unswapped.relaxation_drive_writes < 1.0 && unswapped.wa_error_bound < 1e-9);
}

/// Digits are kept where blocks hardly change kind.
/// Even there the solver balances the two tiny rates by their ratio: it is smooth to 12 digits in a
/// parameter.
#[test]
fn where_blocks_hardly_change_kind_the_solution_keeps_its_digits() {
    let at = |spare_factor| wa(&model(64, spare_factor, (100, Some(128)), (0.5, 0.005)));
    let step = 3e-10;
    let [before, here, after] = [at(0.03 - step), at(0.03), at(0.03 + step)];
    let slope = (after - before) / 2.0;
    assert!(slope.abs() > 1e-9);
    assert!((after - here - slope).abs() < 1e-10);
}

#[test]
fn parameters_outside_their_domain_are_refused_in_a_sentence() {
    let refused = |result: crate::Result<Model>| result.expect_err("refused").to_string();
    assert!(refused(Model::new(0, 0.1, 1, None, 0.1, 0.9)).contains("pages_per_block is 0"));
    assert!(refused(Model::new(2000, 0.1, 1, None, 0.1, 0.9)).contains("1 to 1024"));
    assert!(refused(Model::new(8, 1.0, 1, None, 0.1, 0.9)).contains("spare_factor is 1"));
    assert!(refused(Model::new(8, f64::NAN, 1, None, 0.1, 0.9)).contains("between 0 and 1"));
    assert!(refused(Model::new(8, 0.1, 0, None, 0.1, 0.9)).contains("d is 0"));
    assert!(refused(Model::new(8, 0.1, 1, Some(0), 0.1, 0.9)).contains("d_swap is 0"));
    assert!(refused(Model::new(8, 0.1, 1, None, 0.0, 0.9)).contains("hot_fraction is 0"));
    assert!(refused(Model::new(8, 0.1, 1, None, 0.1, 1.0)).contains("hot_write_fraction is 1"));
}
