use super::*;
use crate::registry::Registered;
use crate::workloads::tests::applied;
use crate::workloads::{Context, WORKLOADS};

fn caches(text: &str, pages: u32) -> KvOffload {
    let site = Site { pages, page_bytes: 4096, context: Context::root(3) };
    KvOffload::build(&WORKLOADS.read(text).unwrap(), &site).unwrap()
}

/// Pages of complete objects. Each belongs to one object.
fn held(workload: &KvOffload) -> Vec<bool> {
    let mut is_held = vec![false; workload.pages as usize];
    for class in &workload.classes {
        for page in class.by_use.iter().flat_map(|slot| class.range_of(slot)) {
            assert!(!std::mem::replace(&mut is_held[page as usize], true), "page {page} twice");
        }
    }
    is_held
}

#[test]
fn writes_fill_new_objects_and_trims_cover_exactly_the_evicted_ones() {
    for text in [
        "kv-offload:objects=8k/40k,space=1/3,writes=1/1,bs=12k,discard=on",
        "kv-offload:objects=40k,space=1,writes=1,reuse=0,used=80%,bs=512k,discard=on",
        "kv-offload:objects=4k/12k/4k,space=1/1/2,writes=0/5/1,reuse=0.9,bs=4k,discard=on",
    ] {
        let mut workload = caches(text, 1003);
        let mut is_held = vec![true; 1003];
        let (mut buffer, mut trims) = ([0; 7], 0);
        for _ in 0..20_000 {
            let step = workload.next(&mut buffer);
            trims += i32::from(applied(step, &buffer, &mut is_held, text));
            if workload.activities.is_empty() {
                let mut expected = held(&workload);
                for class in &workload.classes {
                    let written = class.slot.into_iter().flat_map(|slot| class.range_of(slot));
                    for page in written.take(class.written as usize) {
                        expected[page as usize] = true;
                    }
                }
                assert_eq!(is_held, expected, "{text}");
                assert!(workload.is_sound() && workload.classes.iter().all(Class::is_sound));
            }
        }
        assert!(trims > 100, "{text}: {trims}");
    }
}

/// Lives of evicted objects, in objects written per object that the cache holds.
fn lives(text: &str, count: usize) -> Vec<f64> {
    let mut class = caches(text, 3000).classes.remove(0);
    let reuse = threshold(WORKLOADS.read(text).unwrap().number("reuse"));
    let mut random = Stream::new(5, "test");
    let (mut births, mut lives) = (vec![None; class.slots as usize], Vec::new());
    for time in 0.. {
        let evicted = class.begin(reuse, &mut random).expect("the cache is full");
        if let Some(birth) = births[evicted as usize].take() {
            lives.push(f64::from(time - birth) / class.most_objects as f64);
        }
        let slot = class.slot.take().expect("an object is written");
        births[slot as usize] = Some(time);
        class.by_use.renew(slot);
        if lives.len() == count {
            break;
        }
    }
    lives
}

/// Let h be the share of reuse, C the objects, and λ = h / (1 − h) the uses per new object.
/// An object at depth x of the list, as a share of C, sinks by 1 + λ (1 − x) places per object
/// written, so it reaches the end after T = C ln(1 + λ) / λ without a use. It is used at rate λ / C,
/// so share 1 − h of the objects are never used, and share (1 − h) (1 + λ s / C) live at most T + s,
/// for s up to T.
#[test]
fn lives_have_the_distribution_of_uniform_reuse_and_eviction_by_last_use() {
    for reuse in [0.3, 0.5, 0.8] {
        let text = format!("kv-offload:objects=4k,space=1,writes=1,reuse={reuse}");
        let lives = lives(&text, 200_000);
        let uses = reuse / (1.0 - reuse);
        let shortest = f64::ln(1.0 + uses) / uses;
        let share = |most: f64| {
            lives.iter().filter(|&&life| life <= most).count() as f64 / lives.len() as f64
        };
        assert!(share(0.9 * shortest) < 0.001, "{reuse}");
        for later in [0.3, 0.6, 0.9] {
            let later = later * shortest;
            let expected = (1.0 - reuse) * (1.0 + uses * later);
            let measured = share(shortest + later);
            assert!((measured - expected).abs() < 0.01, "{reuse}: {measured}, not {expected}");
        }
        // Objects live as long as it takes to write as many as the cache holds. Long lives are
        // missing at the end of the measurement.
        let mean = lives.iter().sum::<f64>() / lives.len() as f64;
        assert!((mean - 1.0).abs() < 0.03, "{reuse}: {mean}");
    }
}

#[test]
fn without_reuse_the_oldest_object_is_overwritten() {
    let text = "kv-offload:objects=8k,space=1,writes=1,reuse=0,bs=4k";
    let mut workload = caches(text, 100);
    let mut buffer = [0; 250];
    assert_eq!(workload.next(&mut buffer), Step::Writes(250));
    assert!(buffer.iter().copied().eq((0..250).map(|page| page % 100)));
}

/// χ² of the pages written over the classes.
#[test]
fn each_class_gets_its_share_of_the_writes() {
    let text = "kv-offload:objects=8k/12k/40k,space=1/1/2,writes=1/2/5,bs=8k";
    let mut workload = caches(text, 1000);
    let ends: Vec<u32> = workload.classes.iter().map(|class| class.region.end).collect();
    assert_eq!(ends, [250, 500, 1000]);
    let (mut counts, mut buffer) = ([0.0_f64; 3], [0; 400]);
    for _ in 0..1000 {
        assert_eq!(workload.next(&mut buffer), Step::Writes(400));
        for page in buffer {
            counts[ends.partition_point(|&end| end <= page)] += 0.5;
        }
    }
    // Requests of two pages are drawn independently, so these are counted.
    let expected = [25_000.0, 50_000.0, 125_000.0];
    let cells = counts.iter().zip(expected);
    let chi_square: f64 = cells.map(|(count, mean)| (count - mean).powi(2) / mean).sum();
    assert!(chi_square < 2.0 + 4.5 * 2.0, "{chi_square} of 2");
}

#[test]
fn objects_that_do_not_fit_and_lists_of_other_lengths_are_refused() {
    let site = Site { pages: 1000, page_bytes: 4096, context: Context::root(1) };
    for (text, words) in [
        ("kv-offload", "holds 0 of them"),
        ("kv-offload:objects=512,space=1,writes=1", "holds 0 of them"),
        ("kv-offload:objects=1M/4k,space=1/1,writes=1/1", "holds 1 of them"),
        ("kv-offload:objects=4k/8k,space=1,writes=1/1", "give one of each"),
        ("kv-offload:objects=4k/8k,space=1/1,writes=1", "give one of each"),
    ] {
        let refused = KvOffload::build(&WORKLOADS.read(text).unwrap(), &site);
        let error = refused.err().unwrap_or_else(|| panic!("{text} was accepted")).to_string();
        assert!(error.contains(words), "{error}");
    }
}
