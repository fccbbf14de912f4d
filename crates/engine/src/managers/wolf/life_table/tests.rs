use super::*;

const PAGES: u32 = 4096;

fn table() -> LifeTable {
    LifeTable::new(PAGES).unwrap()
}

fn log_of(writes: f64) -> i32 {
    (log2(writes) * f64::from(OCTAVE)) as i32
}

/// Mean logarithm of exponentially distributed lifetimes with this mean.
fn log_of_exponential(mean: f64) -> i32 {
    log_of(mean) - (0.8327 * f64::from(OCTAVE)) as i32
}

/// Life table of a class of 256 pages with exponentially distributed lifetimes of this mean.
/// The pages are counted during `turns` drive writes.
fn memoryless(class: Class, mean: f64, turns: u32) -> LifeTable {
    let mut table = table();
    for _ in 0..turns * FORECASTS {
        for bin in 0..AGES {
            let edge = |bin: usize| -> f64 { table.bins.width[..bin].iter().sum() };
            let share = exp(-edge(bin) / mean) - exp(-edge(bin + 1) / mean);
            let cell = usize::from(class) * AGES + bin;
            let seen = 256.0 / f64::from(FORECASTS) * share;
            table.seen[cell] += seen;
            table.deaths[cell] += seen * f64::from(PAGES) / mean;
        }
        table.forecast(LEAST_COUNTED);
        table.fade();
    }
    table
}

#[test]
fn pages_that_die_at_random_have_the_same_rest_of_life_at_any_age() {
    let mean = 1000.0;
    let class = 1 + 5 * PATTERNS as Class;
    let table = memoryless(class, mean, 20);
    let near = |level: i32| (level - log_of_exponential(mean)).abs() < OCTAVE / 5;
    assert!(near(table.life(class)), "{}", table.life(class));
    for age in [10, 100, 500, 1000, 3000] {
        let level = table.rest_of_life(class, Span::of(age));
        assert!(near(level), "{age}: {level} for {}", log_of_exponential(mean));
    }
}

#[test]
fn pages_of_which_half_are_cold_live_long_once_they_are_old() {
    let class = 1 + 5 * PATTERNS as Class;
    let mut table = memoryless(class, 1000.0, 20);
    // Adds about as many pages that are counted at each age and never overwritten.
    for bin in 0..AGES {
        table.seen[usize::from(class) * AGES + bin] += 100.0;
    }
    table.forecast(LEAST_COUNTED);
    let young = table.rest_of_life(class, Span::of(100));
    let old = table.rest_of_life(class, Span::of(20_000));
    assert!(old > young + 3 * OCTAVE, "{young} and {old}");
}

#[test]
fn a_class_of_which_nothing_was_counted_lives_as_long_as_its_interval() {
    let table = table();
    for (octave, usual) in [(2, 1.41 * 4096.0), (5, 0.177 * 4096.0)] {
        let level = table.life(1 + octave * PATTERNS as Class);
        assert!((level - log_of_exponential(usual)).abs() < OCTAVE / 4, "{octave}: {level}");
    }
    let new = table.life(0);
    assert!((new - log_of_exponential(4.0 * 4096.0)).abs() < OCTAVE / 2, "{new}");
    assert!(table.rest_of_life(0, Span::of(100_000)) > new + OCTAVE, "and longer with age");
}

#[test]
fn classes_tell_octaves_numbers_of_intervals_and_the_last_one_apart() {
    let table = table();
    let class = |intervals, usual, last| table.class_of(intervals, Span::of(usual), Span::of(last));
    let of_octave = |octave: Class| 1 + octave * PATTERNS as Class;
    assert_eq!(class(1, 3 * 4096, 3 * 4096), of_octave(1));
    assert_eq!(class(1, 1000, 1000), of_octave(5), "from 1/8 to 1/4 of the pages");
    assert_eq!(class(1, 1, 1), of_octave(13));
    assert_eq!(class(1, 1 << 30, 1 << 30), of_octave(0));
    assert_eq!(class(2, 1000, 1000), of_octave(5) + 1 + 4);
    assert_eq!(class(3, 1000, 4100), of_octave(5) + 1 + 6);
    assert_eq!(class(4, 1000, 100), of_octave(5) + 1 + 8);
    assert_eq!(class(15, 1000, 1 << 30), of_octave(5) + 1 + 8 + 7);
    assert_eq!(usize::from(class(4, 1, 1 << 30)), CLASSES - 1);
}

#[test]
fn the_part_of_a_span_at_which_a_page_dies_is_that_of_an_exponential_cut_off() {
    for x in [0.01, 0.3, 1.0, 3.0, 10.0, 100.0] {
        let steps = 200_000;
        let (mut sum, mut weight) = (0.0, 0.0);
        for step in 0..steps {
            let part = (f64::from(step) + 0.5) / f64::from(steps);
            sum += exp(-x * part) * log2(part);
            weight += exp(-x * part);
        }
        let exact = sum / weight;
        assert!((log_of_part(x) - exact).abs() < 0.08, "{x}: {} for {exact}", log_of_part(x));
    }
}

#[test]
fn counts_fade_by_half_in_four_drive_writes() {
    let mut table = table();
    table.count_death(3, Span::of(100));
    let cell = table.cell(3, Span::of(100));
    let forecasts = (0..4 * PAGES).filter(|_| table.count_write()).count();
    assert_eq!(forecasts, 16);
    assert!((table.deaths[cell] - 0.5).abs() < 1e-12);
}
