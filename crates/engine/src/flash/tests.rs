use super::*;
use crate::hints::UNTAGGED;

fn collected<T: Tap>(flash: &mut Flash<T>, block: u32, pages: &mut Vec<u32>) {
    flash.read_valid(block, pages, Cause::Gc);
    flash.erase(block, Cause::Gc);
}

fn written(flash: &mut Flash, frontier: &mut Frontier, pages: &[u32]) {
    for &page in pages {
        flash.count_host_page();
        flash.program(page, frontier, Cause::Host);
    }
}

#[test]
fn an_overwrite_invalidates_exactly_the_previous_version() {
    let mut flash = Flash::new(Geometry::flat(4, 4).unwrap(), 8, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[5, 6, 5]);
    assert_eq!([0, 1, 2, 3].map(|block| flash.invalid_pages(block)), [1, 0, 0, 0]);
    assert_eq!(flash.physical(5), Some(2));
    flash.assert_invariants(&[frontier]);
}

#[test]
fn valid_pages_are_read_in_order_before_the_block_is_erased() {
    // With 100 pages per block, the marks of a block begin and end inside 64-bit words.
    let mut flash = Flash::new(Geometry::flat(3, 100).unwrap(), 150, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &(0..100).collect::<Vec<_>>());
    let first = flash.close(&frontier);
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &(0..99).step_by(3).collect::<Vec<_>>());
    let mut buffer = Vec::new();
    collected(&mut flash, first, &mut buffer);
    assert_eq!(buffer, (0..100).filter(|p| p % 3 != 0 || *p == 99).collect::<Vec<_>>());
    assert_eq!((flash.state(first), flash.erase_counts()[0]), (BlockState::Free, 1));
    for &page in &buffer {
        if frontier.is_full() {
            flash.close(&frontier);
            frontier = flash.open(0);
        }
        flash.migrate(page, &mut frontier, Cause::Gc);
    }
    flash.close(&frontier); // 34 pages, then 67, of which the last fills the second block
    flash.assert_invariants(&[frontier]);
}

#[test]
fn trim_unmaps_once() {
    let mut flash = Flash::new(Geometry::flat(2, 4).unwrap(), 4, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[1, 2]);
    let lost = Loss { block: 0, invalid_pages: 1 };
    assert_eq!((flash.trim(1), flash.trim(1), flash.trim(3)), (Some(lost), None, None));
    assert_eq!((flash.mapped_pages(), flash.counters().unmapped_pages), (1, 1));
    flash.assert_invariants(&[frontier]);
}

#[test]
#[should_panic(expected = "a mapped page is not marked invalid")]
fn the_invariants_notice_a_wrong_mark() {
    let mut flash = Flash::new(Geometry::flat(2, 4).unwrap(), 4, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[1, 2]);
    flash.array.blocks.mark(0..1);
    flash.assert_invariants(&[frontier]);
}

/// Observer whose recorded operations a test can read while the drive runs.
#[derive(Clone, Default)]
struct Heard(std::sync::Arc<std::sync::Mutex<Vec<FlashOp>>>);

impl Observer for Heard {
    fn on_op(&mut self, op: FlashOp) {
        self.0.lock().unwrap().push(op);
    }
}

/// Builds a drive of three blocks of two pages; block 0 holds page 0 and an invalid page.
fn observed() -> (Flash<Observed>, Heard) {
    let heard = Heard::default();
    let tap = Observed::new(Box::new(heard.clone()));
    let geometry = Geometry::flat(3, 2).unwrap();
    let mut flash = Flash::with_tap(geometry, 3, Pools::Drive, Wear::default(), tap).unwrap();
    let mut frontier = flash.open(0);
    flash.program(0, &mut frontier, Cause::Host);
    flash.program(0, &mut frontier, Cause::Host);
    flash.close(&frontier);
    (flash, heard)
}

const READ: FlashOp = FlashOp::Read { page: 1, cause: Cause::Gc };
const ERASE: FlashOp = FlashOp::Erase { block: 0, cause: Cause::Gc };

fn migrated(page: u32) -> FlashOp {
    FlashOp::Program { page, logical: 0, cause: Cause::Gc, from: Some(1), tag: UNTAGGED }
}

#[test]
fn an_erase_is_reported_after_the_pages_of_its_block_are_copied_elsewhere() {
    let (mut flash, heard) = observed();
    let mut frontier = flash.open(0);
    let mut pages = Vec::new();
    collected(&mut flash, 0, &mut pages);
    flash.migrate(pages[0], &mut frontier, Cause::Gc);
    flash.program(1, &mut frontier, Cause::Host);
    flash.read(1);
    let (cause, from, tag) = (Cause::Host, None, UNTAGGED);
    let host = |logical, page| FlashOp::Program { page, logical, cause, from, tag };
    let read = FlashOp::Read { page: 3, cause: Cause::Host };
    assert_eq!(
        *heard.0.lock().unwrap(),
        [host(0, 0), host(0, 1), READ, migrated(2), ERASE, host(1, 3), read]
    );
}

#[test]
fn an_erase_is_reported_before_the_pages_of_its_block_are_copied_back_to_it() {
    let (mut flash, heard) = observed();
    let mut pages = Vec::new();
    collected(&mut flash, 0, &mut pages);
    let mut frontier = flash.open(0);
    flash.migrate(pages[0], &mut frontier, Cause::Gc);
    assert_eq!(heard.0.lock().unwrap()[2..], [READ, ERASE, migrated(0)]);
}

#[test]
fn an_erase_is_reported_at_the_end_of_the_request_at_the_latest() {
    let (mut flash, heard) = observed();
    collected(&mut flash, 0, &mut Vec::new());
    assert_eq!(heard.0.lock().unwrap()[2..], [READ]);
    flash.report_erase();
    assert_eq!(heard.0.lock().unwrap()[2..], [READ, ERASE]);
}

#[test]
fn a_request_off_the_end_names_the_page() {
    let flash = Flash::new(Geometry::flat(4, 4).unwrap(), 8, Pools::Drive).unwrap();
    assert_eq!((flash.check_extent(&(3..8)), flash.check_extent(&(9..9))), (Ok(()), Ok(())));
    assert_eq!(
        flash.check_extent(&(6..10)),
        Err(crate::Error::OffTheEnd { page: 8, logical_pages: 8 })
    );
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
    Flash::with_tap(geometry, 3, Pools::Drive, wear, Silent).unwrap()
}

/// Writes pages 0 and 1 to the next free block and erases the block that held them.
fn overwritten(flash: &mut Flash) -> u32 {
    let before = flash.physical(0).map(|page| page / 2);
    let mut frontier = flash.open(0);
    written(flash, &mut frontier, &[0, 1]);
    let block = flash.close(&frontier);
    if let Some(before) = before {
        collected(flash, before, &mut Vec::new());
    }
    block
}

#[test]
fn spare_blocks_replace_worn_ones_until_there_is_none() {
    let mut flash = worn(2, 1);
    assert_eq!((flash.state(3), flash.free_blocks(0)), (BlockState::Spare, 3));
    // Blocks 0 and 1 are written in turn; block 0 wears out first.
    assert_eq!([(); 4].map(|()| overwritten(&mut flash)), [0, 1, 0, 1]);
    assert_eq!((flash.state(0), flash.state(3)), (BlockState::Retired, BlockState::Free));
    assert_eq!((flash.free_blocks(0), flash.wear().spares()), (2, &[vec![]][..]));
    flash.assert_invariants(&[]);
    // The spare block is opened like any block. Block 1 wears out next and remains in use.
    assert_eq!([(); 3].map(|()| overwritten(&mut flash)), [3, 1, 3]);
    assert_eq!(flash.erase_counts(), [2, 3, 0, 1]);
    assert_eq!(flash.wear().end_of_life().unwrap().erase_counts, [2, 1, 0, 0]);
    flash.assert_invariants(&[]);
}

#[test]
fn a_moment_tells_what_the_drive_has_done_by_the_end_of_an_erase() {
    let mut flash = worn(5, 0);
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[0, 1]);
    let first = flash.close(&frontier);
    let mut frontier = flash.open(0);
    written(&mut flash, &mut frontier, &[1, 2]);
    let second = flash.close(&frontier);
    let mut frontier = flash.open(0);
    collected(&mut flash, first, &mut Vec::new());
    flash.migrate(0, &mut frontier, Cause::Gc);
    written(&mut flash, &mut frontier, &[2]);
    collected(&mut flash, second, &mut Vec::new());
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
        Flash::with_tap(geometry, logical_pages, Pools::Drive, wear, Silent).map(|_| ())
    };
    assert_eq!(built(1, 2, 3), Ok(()));
    for (wrong, words) in [
        (built(1, 4, 1), "4 spare blocks leave no block to write in a pool of 4"),
        (built(1, 2, 4), "4 pages of the blocks that are not spare"),
        (built(0, 0, 1), "the wear limit"),
    ] {
        assert!(wrong.unwrap_err().to_string().contains(words));
    }
}

/// Drive that closes, collects and opens blocks as it is written, and its lost pages.
struct Driven {
    flash: Flash,
    frontiers: [Frontier; 2],
    losses: Vec<(Loss, u64)>,
}

impl Driven {
    fn new(pages_per_block: u32) -> Self {
        let geometry = Geometry::flat(12, pages_per_block).unwrap();
        let mut flash = Flash::new(geometry, 8 * pages_per_block, Pools::Drive).unwrap();
        let frontiers = [flash.open(0), flash.open(0)];
        Driven { flash, frontiers, losses: Vec::new() }
    }

    /// Replaces full frontiers by free blocks.
    /// If no block is free, the block with the most invalid pages is collected.
    fn make_room(&mut self) {
        for target in 0..2 {
            if !self.frontiers[target].is_full() {
                continue;
            }
            self.flash.close(&self.frontiers[target]);
            let closed = |block: &u32| self.flash.state(*block) == BlockState::Closed;
            let emptiest = (0..12).filter(closed).max_by_key(|b| self.flash.invalid_pages(*b));
            let mut pages = Vec::new();
            if self.flash.free_blocks(0) == 0 {
                collected(&mut self.flash, emptiest.unwrap(), &mut pages);
            }
            self.frontiers[target] = self.flash.open(0);
            self.flash.migrate_all(&pages, &mut self.frontiers[target], Cause::Gc);
        }
    }

    fn one_by_one(&mut self, pages: &[u32], target: impl Fn(u32) -> usize) {
        for &page in pages {
            self.make_room();
            self.flash.count_host_page();
            let frontier = &mut self.frontiers[target(page)];
            let loss = self.flash.program(page, frontier, Cause::Host);
            let now = self.flash.counters().host.written_pages;
            self.losses.extend(loss.map(|loss| (loss, now)));
        }
        self.make_room();
    }

    fn in_runs(&mut self, mut pages: &[u32]) {
        while !pages.is_empty() {
            self.make_room();
            self.flash.prefetch_run(pages);
            let losses = &mut self.losses;
            let on_invalidate = |loss, now| losses.push((loss, now));
            let count = self.flash.program_run(pages, &mut self.frontiers[0], on_invalidate);
            pages = &pages[count..];
        }
        self.make_room();
    }

    fn directed(&mut self, mut pages: &[u32], target: fn(u32) -> usize) {
        while let Some(&first) = pages.first() {
            self.make_room();
            let director = Half { target, losses: &mut self.losses };
            let frontiers = &mut self.frontiers;
            let each = self.flash.program_each(pages, frontiers, target(first), director);
            let is_full = |target: usize| self.frontiers[target].is_full();
            assert!(match each.stop {
                Stop::End => each.pages == pages.len().min(64),
                Stop::Full(target) | Stop::NoRoom(target) => is_full(target),
            });
            pages = &pages[each.pages..];
        }
        self.make_room();
    }

    fn state(&self) -> (Vec<u8>, &[Frontier], &[(Loss, u64)]) {
        self.flash.assert_invariants(&self.frontiers);
        (crate::state::pack(&self.flash), &self.frontiers, &self.losses)
    }
}

struct Half<'a> {
    target: fn(u32) -> usize,
    losses: &'a mut Vec<(Loss, u64)>,
}

impl Director for Half<'_> {
    fn target(&mut self, page: &NextPage) -> usize {
        (self.target)(page.logical)
    }

    fn prefetch(&self, _block: u32) {}

    fn on_invalidate(&mut self, loss: Loss, now: u64) {
        self.losses.push((loss, now));
    }
}

#[test]
fn runs_of_pages_leave_what_the_same_pages_leave_one_by_one() {
    // With 1000 pages per block, a record occupies several cache lines.
    for pages_per_block in [2, 3, 64, 100, 1000] {
        let mut random = crate::rng::Stream::new(1, "test");
        let mut pages = vec![0; 6000.min(100 * pages_per_block as usize)];
        random.fill_below(8 * pages_per_block, &mut pages);
        let (mut single, mut runs) = (Driven::new(pages_per_block), Driven::new(pages_per_block));
        let (mut each, mut directed) = (Driven::new(pages_per_block), Driven::new(pages_per_block));
        for batch in pages.chunks(257) {
            single.one_by_one(batch, |_| 0);
            runs.in_runs(batch);
            each.one_by_one(batch, |page| (page % 2) as usize);
            directed.directed(batch, |page| (page % 2) as usize);
            assert!(single.state() == runs.state(), "{pages_per_block}");
            assert!(each.state() == directed.state(), "{pages_per_block}");
        }
    }
}

#[test]
#[should_panic(expected = "every logical page must be on the drive")]
fn a_run_with_a_page_that_does_not_exist_is_refused() {
    let mut flash = Flash::new(Geometry::flat(4, 4).unwrap(), 8, Pools::Drive).unwrap();
    let mut frontier = flash.open(0);
    flash.program_run(&[1, 8], &mut frontier, |_, _| {});
}
