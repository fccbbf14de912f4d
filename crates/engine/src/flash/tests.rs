use super::*;

fn written(flash: &mut Flash, frontier: &mut Frontier, pages: &[u32]) {
    for &page in pages {
        flash.program(page, frontier);
    }
    flash.count(Cause::Host, pages.len() as u64);
}

#[test]
fn an_overwrite_invalidates_exactly_the_previous_version() {
    let mut flash = Flash::new(Geometry::flat(4, 4).unwrap(), 8, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[5, 6, 5]);
    assert_eq!(flash.invalid_pages(), [1, 0, 0, 0]);
    assert_eq!(flash.physical(5), Some(2));
    flash.assert_invariants(&[frontier]);
}

#[test]
fn lifting_keeps_the_valid_pages_in_order_and_erases_the_block() {
    // 100 pages a block: the marks of a block begin and end inside 64-bit words.
    let mut flash = Flash::new(Geometry::flat(3, 100).unwrap(), 150, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &(0..100).collect::<Vec<_>>());
    let first = flash.close(&frontier);
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &(0..99).step_by(3).collect::<Vec<_>>());
    let mut buffer = Vec::new();
    flash.lift(first, &mut buffer, Cause::Gc);
    assert_eq!(buffer, (0..100).filter(|p| p % 3 != 0 || *p == 99).collect::<Vec<_>>());
    assert_eq!((flash.state(first), flash.erase_counts()[0]), (BlockState::Free, 1));
    for &page in &buffer {
        if frontier.is_full() {
            flash.close(&frontier);
            frontier = flash.open(0);
        }
        flash.migrate(page, &mut frontier, Cause::Gc);
    }
    flash.count(Cause::Gc, buffer.len() as u64);
    flash.close(&frontier); // 34 pages, then 67, of which the last fills the second block
    flash.assert_invariants(&[frontier]);
}

#[test]
fn trim_unmaps_once() {
    let mut flash = Flash::new(Geometry::flat(2, 4).unwrap(), 4, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[1, 2]);
    assert_eq!((flash.trim(1), flash.trim(1), flash.trim(3)), (Some(0), None, None));
    assert_eq!((flash.mapped_pages(), flash.counters().trimmed_pages), (1, 1));
    flash.assert_invariants(&[frontier]);
}

#[test]
#[should_panic(expected = "a mapped page is not marked invalid")]
fn the_invariants_notice_a_wrong_mark() {
    let mut flash = Flash::new(Geometry::flat(2, 4).unwrap(), 4, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[1, 2]);
    flash.invalid[0] |= 1;
    flash.assert_invariants(&[frontier]);
}

#[test]
fn an_observer_hears_every_operation_in_order() {
    let geometry = Geometry::flat(3, 2).unwrap();
    let mut flash =
        Flash::with_observer(geometry, 3, Pools::Drive, Wear::default(), Vec::new()).unwrap();
    let mut frontier = flash.open(0);
    flash.program(0, &mut frontier);
    flash.program(0, &mut frontier);
    let block = flash.close(&frontier);
    flash.lift(block, &mut Vec::new(), Cause::Gc);
    let host = |page| FlashOp::Program { page, cause: Cause::Host };
    let gc = Cause::Gc;
    assert_eq!(
        *flash.observer_mut(),
        [
            host(0),
            host(1),
            FlashOp::Read { page: 1, cause: gc },
            FlashOp::Erase { block: 0, cause: gc }
        ]
    );
}

#[test]
fn a_request_off_the_end_names_the_page() {
    let flash = Flash::new(Geometry::flat(4, 4).unwrap(), 8, Pools::Drive).unwrap();
    assert_eq!(flash.check_range(&[7, 0]), Ok(()));
    assert_eq!(flash.check_range(&[]), Ok(()));
    assert_eq!(
        flash.check_range(&[7, 8, 9]).unwrap_err().to_string(),
        "logical page 8 is off the end of the drive, which has 8 logical pages (0 to 7)"
    );
}

#[test]
fn a_drive_without_spare_space_is_refused() {
    let geometry = Geometry::flat(4, 4).unwrap();
    assert!(Flash::new(geometry, 16, Pools::Drive).is_err());
    assert!(Flash::new(geometry, 0, Pools::Drive).is_err());
    assert!(Flash::new(geometry, 15, Pools::Drive).is_ok());
}

fn worn(limit: u32, spare_blocks_per_pool: u32) -> Flash {
    let geometry = Geometry::flat(4, 2).unwrap();
    let wear = Wear { limit, spare_blocks_per_pool };
    Flash::with_observer(geometry, 3, Pools::Drive, wear, Silent).unwrap()
}

/// Writes pages 0 and 1 to the next free block and erases the one that held them before.
fn overwritten(flash: &mut Flash) -> u32 {
    let before = flash.physical(0).map(|page| page / 2);
    let mut frontier = flash.open(0);
    written(flash, &mut frontier, &[0, 1]);
    let block = flash.close(&frontier);
    if let Some(before) = before {
        flash.lift(before, &mut Vec::new(), Cause::Gc);
    }
    block
}

#[test]
fn spare_blocks_replace_worn_ones_until_there_is_none() {
    let mut flash = worn(2, 1);
    assert_eq!((flash.state(3), flash.free_blocks(0)), (BlockState::Spare, 3));
    // Blocks 0 and 1 take turns; block 0 wears out first.
    assert_eq!([(); 4].map(|()| overwritten(&mut flash)), [0, 1, 0, 1]);
    assert_eq!((flash.state(0), flash.state(3)), (BlockState::Retired, BlockState::Free));
    assert_eq!((flash.free_blocks(0), flash.wear().spares()), (2, &[vec![]][..]));
    flash.assert_invariants(&[]);
    // The spare is opened like any block; block 1 wears out next and goes on being used.
    assert_eq!([(); 3].map(|()| overwritten(&mut flash)), [3, 1, 3]);
    assert_eq!(flash.erase_counts(), [2, 3, 0, 1]);
    assert_eq!(flash.wear().end_of_life().unwrap().erase_counts, [2, 1, 0, 0]);
    flash.assert_invariants(&[]);
}

#[test]
fn a_moment_counts_the_pages_of_a_batch_that_the_counters_do_not_know_yet() {
    let mut flash = worn(5, 0);
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[0, 1]);
    let first = flash.close(&frontier);
    let mut frontier = flash.open(0);
    for page in [1, 2] {
        flash.program(page, &mut frontier); // not counted
    }
    let second = flash.close(&frontier);
    let mut frontier = flash.open(0);
    flash.lift(first, &mut Vec::new(), Cause::Gc);
    flash.migrate(0, &mut frontier, Cause::Gc);
    flash.program(2, &mut frontier);
    flash.lift(second, &mut Vec::new(), Cause::Gc);
    let moment = flash.wear().first_to_reach()[0];
    assert_eq!((moment.erases, moment.migrated_pages(Cause::Gc), moment.host_pages), (1, 1, 4));
    assert_eq!(flash.wear().first_to_reach().len(), 1);
    assert_eq!(flash.wear().end_of_life(), None);
}

#[test]
fn a_drive_of_spare_blocks_only_is_refused() {
    let geometry = Geometry::flat(4, 2).unwrap();
    let built = |limit, spare_blocks_per_pool, logical_pages| {
        let wear = Wear { limit, spare_blocks_per_pool };
        Flash::with_observer(geometry, logical_pages, Pools::Drive, wear, Silent).map(|_| ())
    };
    assert_eq!(built(1, 2, 3), Ok(()));
    for (wrong, words) in [
        (built(1, 4, 1), "4 spare blocks of 4"),
        (built(1, 2, 4), "4 pages of the blocks that are not spare"),
        (built(0, 0, 1), "limit is 0"),
    ] {
        assert!(wrong.unwrap_err().to_string().contains(words));
    }
}
