use std::thread;

use super::*;
use crate::flash::{Cause, Geometry};
use crate::request::{Op, Request};
use crate::workloads::{self, Context, Trace};

fn study(wear: Wear) -> Study {
    let setup = Setup {
        logical_pages: 300,
        victims: Some("d-choices:d=4".into()),
        seed: 7,
        wear,
        ..Setup::new(Geometry::flat(48, 8).unwrap())
    };
    let manager = "sepgc".into();
    let fill = std::iter::once(0..300).collect();
    Study { manager, setup, fill, batch_pages: 1024 }
}

fn load(text: &'static str, pages: u32) -> impl Fn(u64) -> Result<Box<dyn Workload>> + Sync {
    move |seed| workloads::build(text, pages, Context::root(seed))
}

fn life_of(study: &Study, replica: u64) -> Life {
    life(study, study.setup.seed + replica, load("hot-cold:f=0.1,r=0.9", 300), &Watch::default())
        .unwrap()
}

fn lives_of(study: &Study) -> Vec<Life> {
    (0..5).map(|replica| life_of(study, replica)).collect()
}

const WORN: Wear = Wear { limit: 40, spare_blocks_per_pool: 3 };

#[test]
fn a_drive_whose_blocks_are_erased_in_turn_lives_as_long_as_counting_says() {
    // Sequential writes and FIFO: blocks 0, 1, 2, 3, 0, … are erased without a valid page.
    let mut one = study(Wear { limit: 3, spare_blocks_per_pool: 0 });
    one.setup.geometry = Geometry::flat(4, 2).unwrap();
    one.setup.logical_pages = 6;
    one.fill = vec![0..2, 2..6];
    (one.setup.victims, one.manager) = (Some("fifo".into()), "single".into());
    let found = life(&one, one.setup.seed, load("sequential", 6), &Watch::default()).unwrap();
    let facts =
        |moment: &Moment| (moment.erases, moment.migrated_pages(Cause::Gc), moment.host_pages);
    // The 8 pages of the empty drive are written before the first erase, and 2 after each.
    assert_eq!(
        found.first_to_reach.iter().map(facts).collect::<Vec<_>>(),
        [(1, 0, 8), (5, 0, 16), (9, 0, 24)]
    );
    assert_eq!(facts(&found.end.moment), (9, 0, 24));
    assert_eq!(found.end.erase_counts, [3, 2, 2, 2]);
}

#[test]
fn neither_a_life_beside_it_nor_batches_change_a_life() {
    let first = study(WORN);
    let found = lives_of(&first);
    let together: Vec<Life> = thread::scope(|scope| {
        let study = &first;
        let started: Vec<_> =
            (0..5).map(|replica| scope.spawn(move || life_of(study, replica))).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(together, found);
    for batch_pages in [1, 77] {
        assert_eq!(lives_of(&Study { batch_pages, ..first.clone() }), found);
    }
    assert_ne!(found[0], found[1]);
}

#[test]
fn replica_i_is_the_run_with_seed_plus_i() {
    for (replica, life) in (0..5_u64).zip(lives_of(&study(WORN))) {
        let mut alone = study(WORN);
        alone.setup.seed += replica;
        assert_eq!(life_of(&alone, 0), life);
    }
}

#[test]
fn a_life_ends_when_as_many_blocks_are_worn_out_as_there_were_spares() {
    for (spare_blocks_per_pool, worn_out) in [(0, 1), (1, 1), (2, 2), (6, 6)] {
        for life in lives_of(&study(Wear { limit: 40, spare_blocks_per_pool })) {
            let worn = life.end.erase_counts.iter().filter(|&&erases| erases == 40).count();
            assert_eq!((worn, life.end.erase_counts.iter().max()), (worn_out, Some(&40)));
            assert_eq!(life.first_to_reach.len(), 40);
            assert!(life.first_to_reach.is_sorted_by_key(|moment| moment.erases));
            assert_eq!(life.first_to_reach[39] == life.end.moment, worn_out == 1);
        }
    }
}

#[test]
fn the_way_to_a_larger_limit_leads_through_the_smaller_ones() {
    let short = lives_of(&study(Wear { limit: 15, spare_blocks_per_pool: 0 }));
    let long = lives_of(&study(Wear { limit: 40, spare_blocks_per_pool: 0 }));
    for (short, long) in short.iter().zip(&long) {
        assert_eq!(short.first_to_reach[..], long.first_to_reach[..15]);
        assert_eq!(short.end.moment, long.first_to_reach[14]);
    }
}

#[test]
fn a_watch_sees_how_far_a_life_is_and_stops_it() {
    let watch = Watch::default();
    life(&study(WORN), 1, load("uniform", 300), &watch).unwrap();
    assert_eq!(watch.reached_erases(), 40);
    let watch = Watch::default();
    watch.cancel();
    assert_eq!(life(&study(WORN), 1, load("uniform", 300), &watch), Err(Error::Cancelled));
}

#[test]
fn a_life_is_cancelled_while_its_drive_is_built() {
    let watch = Watch::default();
    let uniform = load("uniform", 300);
    let cancelling = |seed| {
        watch.cancel();
        uniform(seed)
    };
    assert_eq!(life(&study(WORN), 1, cancelling, &watch), Err(Error::Cancelled));
}

#[test]
fn what_cannot_end_a_life_is_refused() {
    let refused = |study: &Study, load: &(dyn Fn(u64) -> Result<Box<dyn Workload>> + Sync)| {
        life(study, study.setup.seed, load, &Watch::default()).unwrap_err().to_string()
    };
    let endless = refused(&study(Wear::default()), &load("uniform", 300));
    assert!(endless.contains("has no wear limit"), "{endless}");
    let once = Trace::new(vec![Request::of_pages(Op::Write, 0..300)], 4096, 1).unwrap();
    let short = refused(&study(WORN), &move |_| Ok(Box::new(once.clone())));
    assert!(short.contains("the workload ended"), "{short}");
}
