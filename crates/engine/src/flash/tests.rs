use super::*;

fn written(flash: &mut Flash, frontier: &mut Frontier, pages: &[u32]) {
    for &page in pages {
        flash.program(page, frontier);
    }
    flash.count(Cause::Host, pages.len() as u64);
}

#[test]
fn an_overwrite_outdates_exactly_the_previous_version() {
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
        flash.place(page, &mut frontier, Cause::Gc);
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
    let mut flash = Flash::with_observer(geometry, 3, Pools::Drive, Vec::new()).unwrap();
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
