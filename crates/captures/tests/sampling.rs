//! Tests of the sampler, which converts exact edges into those that a logic analyser records.

use writeamp_captures::{Edge, Sampler, Sampling};

const NS: u64 = 1000;

fn pulse(start_ps: u64, end_ps: u64, channel: usize) -> [Edge; 2] {
    [
        Edge { time_ps: start_ps, channel, is_high: false },
        Edge { time_ps: end_ps, channel, is_high: true },
    ]
}

fn sampled(sampling: Sampling, seed: u64, edges: &[Edge]) -> Vec<Edge> {
    let mut sampler = Sampler::new(sampling, 4, seed).unwrap();
    let mut recorded = Vec::new();
    for edge in edges {
        sampler.edge(*edge, |edge| recorded.push(edge)).unwrap();
    }
    sampler.finish(|edge| recorded.push(edge));
    recorded
}

const IDEAL: Sampling = Sampling { period_ps: 100 * NS, jitter_ns: 0.0, missed: 0.0 };

#[test]
fn an_edge_is_seen_at_the_next_sample_and_a_short_pulse_not_at_all() {
    let edges = [pulse(130 * NS, 500 * NS, 0), pulse(610 * NS, 690 * NS, 1)].concat();
    assert_eq!(sampled(IDEAL, 1, &edges), pulse(200 * NS, 500 * NS, 0));
}

/// Returns many pulses of 50 µs on four channels, in order of time.
fn many() -> Vec<Edge> {
    let pulses = (0..40_000u64).flat_map(|number| {
        let start_ps = 30_000 * NS * number + 77 * number;
        pulse(start_ps, start_ps + 50_000 * NS, (number % 4) as usize)
    });
    let mut edges: Vec<Edge> = pulses.collect();
    edges.sort_by_key(|edge| edge.time_ps);
    edges
}

#[test]
fn edges_stay_in_order_on_the_grid_and_alternate_whatever_the_jitter() {
    let seen = sampled(Sampling { jitter_ns: 300.0, ..IDEAL }, 5, &many());
    assert_eq!(seen.len(), many().len());
    assert!(seen.windows(2).all(|pair| pair[0].time_ps <= pair[1].time_ps));
    assert!(seen.iter().all(|edge| edge.time_ps % IDEAL.period_ps == 0));
    for channel in 0..4 {
        let levels: Vec<bool> =
            seen.iter().filter(|edge| edge.channel == channel).map(|edge| edge.is_high).collect();
        assert!(levels.chunks(2).all(|pair| pair == [false, true]));
    }
}

#[test]
fn jitter_has_the_deviation_that_was_asked_for() {
    let fine = Sampling { period_ps: NS, jitter_ns: 40.0, missed: 0.0 };
    let edges = many();
    let seen = sampled(fine, 9, &edges);
    let of = |edges: &[Edge]| -> Vec<f64> {
        edges.iter().filter(|edge| edge.channel == 0).map(|edge| edge.time_ps as f64).collect()
    };
    let late: Vec<f64> = of(&seen).iter().zip(of(&edges)).map(|(one, other)| one - other).collect();
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    let variance = late.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / late.len() as f64;
    assert!((variance.sqrt() / 40_000.0 - 1.0).abs() < 0.03, "{}", variance.sqrt());
}

#[test]
fn pulses_are_missed_as_a_whole_and_as_often_as_was_asked() {
    let missing = Sampling { missed: 0.1, ..IDEAL };
    let seen = sampled(missing, 3, &many());
    assert_eq!(seen.iter().filter(|edge| edge.is_high).count() * 2, seen.len());
    let share = 1.0 - seen.len() as f64 / many().len() as f64;
    assert!((share - 0.1).abs() < 0.01, "{share}");
    assert_eq!(sampled(missing, 3, &many()), seen);
    assert_ne!(sampled(missing, 4, &many()), seen);
}

#[test]
fn settings_and_edges_that_cannot_be_are_refused() {
    for (bad, says) in [
        (Sampling { period_ps: 0, ..IDEAL }, "the sampling period is 0"),
        (Sampling { jitter_ns: f64::NAN, ..IDEAL }, "the jitter is NaN"),
        (Sampling { missed: 1.5, ..IDEAL }, "the share of missed pulses is 1.5"),
    ] {
        let said = Sampler::new(bad, 1, 0).err().unwrap().to_string();
        assert!(said.contains(says), "{said}");
    }
    let mut sampler = Sampler::new(IDEAL, 1, 0).unwrap();
    assert!(sampler.edge(pulse(0, 1, 1)[0], |_| ()).is_err());
}
