use super::super::transient::{filled_once, follow};
use super::super::{Drift, Occupancy, PerKind, solve};
use super::{assert_close, model};

#[test]
fn a_drive_comes_to_its_fixed_point() {
    for d_swap in [None, Some(6)] {
        let model = model(12, 0.12, (8, d_swap), (0.8, 0.2));
        let still = solve(&model).expect("solved");
        let found = follow(&model, &filled_once(&model), &[1.0, 300.0], 1e-5).expect("followed");
        let wa = Drift::new(&model, &still).wa;
        assert!((found.wa[0] - wa).abs() > 1e-4, "one drive write is not enough");
        assert!((found.wa[1] - wa).abs() < 1e-9);
        assert_close(&found.blocks.hot, &still.hot, 1e-9, "hot");
        assert_close(&found.blocks.cold, &still.cold, 1e-9, "cold");
    }
}

#[test]
fn a_smaller_tolerance_changes_a_trajectory_by_no_more_than_the_larger_one() {
    let model = model(8, 0.15, (4, Some(10)), (0.8, 0.05));
    let times = [0.05, 0.2, 1.0];
    let at = |tolerance| follow(&model, &filled_once(&model), &times, tolerance).expect("followed");
    let (coarse, fine) = (at(1e-4), at(1e-7));
    assert_close(&coarse.wa, &fine.wa, 5e-3, "wa");
    assert_close(&coarse.mean_wa, &fine.mean_wa, 5e-3, "mean wa");
    assert!((coarse.wa[0] - fine.wa[0]).abs() > 1e-12, "the tolerance does nothing");
}

#[test]
fn a_drive_at_its_fixed_point_stays_there() {
    let model = model(8, 0.1, (5, Some(5)), (0.9, 0.1));
    let still = solve(&model).expect("solved");
    let found = follow(&model, &still, &[0.0, 50.0], 1e-6).expect("followed");
    assert_close(&[found.wa[1], found.mean_wa[1]], &[found.wa[0]; 2], 1e-12, "wa");
    assert_close(&found.blocks.hot, &still.hot, 1e-13, "hot");
}

#[test]
fn a_start_that_does_not_add_up_is_refused_in_a_sentence() {
    let model = model(4, 0.2, (2, None), (0.8, 0.5));
    let start = filled_once(&model);
    let refused = |start: &Occupancy, times: &[f64], tolerance| {
        follow(&model, start, times, tolerance).expect_err("refused").to_string()
    };
    let short = PerKind { hot: vec![0.5], cold: start.cold.clone() };
    assert!(refused(&short, &[1.0], 1e-6).contains("pages_per_block + 1 = 5"));
    let mut lacking = start.clone();
    lacking.hot[4] -= 0.1;
    assert!(refused(&lacking, &[1.0], 1e-6).contains("valid pages"));
    let mut surplus = start.clone();
    surplus.cold[0] += 0.1;
    assert!(refused(&surplus, &[1.0], 1e-6).contains("their sum must be 1"));
    let mut negative = start.clone();
    negative.cold[0] = -0.1;
    assert!(refused(&negative, &[1.0], 1e-6).contains("not negative"));
    assert!(refused(&start, &[2.0, 1.0], 1e-6).contains("ascending"));
    assert!(refused(&start, &[1.0], 0.0).contains("tolerance"));
}
