//! SLC cache: rows of blocks that take the host's pages first, and are folded oldest first.

use std::collections::{BTreeMap, VecDeque};

use super::array::{OpId, Waiter};
use super::profile::{Logical, Profile, ProgramFor};
use super::{Event, TimedDrive};
use crate::tags::OF_DRIVE;

/// Row of blocks that is in use.
#[derive(Debug)]
struct Row {
    number: u32,
    /// Logical page at each position written so far; None if the page there is invalid.
    places: Vec<Option<u32>>,
    /// Number of positions whose pages were folded.
    folded: usize,
}

#[derive(Debug)]
pub struct Slc {
    /// Rows in use, the oldest first; the last may not be full.
    rows: VecDeque<Row>,
    row_pages: usize,
    most_rows: u32,
    next_row: u32,
    /// Begun program, and the number of pages it still needs.
    begun: Option<(OpId, u32)>,
    /// True while the cache is folded in a pause of the host.
    is_folding: bool,
    /// Offset at which the last write ended.
    run_end: u64,
    /// Bytes of the sequential run of writes that ended there.
    run_bytes: u64,
}

impl Profile {
    fn slc_dynamic_pages(&self, free_pages: u32) -> u64 {
        let cells = self.slc_dynamic_share * f64::from(free_pages);
        (cells / f64::from(self.slc_bits_per_cell)).floor() as u64
    }

    fn slc_static_pages(&self) -> u64 {
        self.slc_static_bytes / u64::from(self.page_bytes)
    }

    /// Returns the mapping units of a program of the cache.
    pub(super) fn slc_unit_pages(&self) -> u32 {
        self.units_per_flash_page * self.planes_at_once
    }

    /// Returns the mapping units of a row.
    ///
    /// They are as many as a block's cells hold on each die, or fewer if the cache would otherwise
    /// have less than eight rows.
    pub(super) fn slc_row_pages(&self) -> u32 {
        let on_a_die = if self.is_superblock {
            self.pages_per_block / self.dies()
        } else {
            self.pages_per_block
        };
        let all = match self.slc_static_pages() {
            0 => self.slc_dynamic_pages(self.host_pages),
            pages => pages,
        };
        let mut units = 1;
        while (units + 1) * self.slc_unit_pages() * self.slc_bits_per_cell <= on_a_die
            && u64::from((units + 1) * self.slc_unit_pages() * self.dies() * 8) <= all
        {
            units += 1;
        }
        units * self.slc_unit_pages() * self.dies()
    }

    /// Returns the number of the first page of the cache.
    pub(super) fn first_slc_page(&self) -> u32 {
        self.blocks * self.pages_per_block
    }
}

impl Slc {
    pub fn new(profile: &Profile) -> Option<Self> {
        if profile.slc_static_bytes == 0 && profile.slc_dynamic_share == 0.0 {
            return None;
        }
        let row_pages = profile.slc_row_pages();
        let pages = profile.slc_static_pages() + profile.slc_dynamic_pages(profile.host_pages);
        Some(Slc {
            rows: VecDeque::new(),
            row_pages: row_pages as usize,
            most_rows: 2.max((pages / u64::from(row_pages)) as u32),
            next_row: 0,
            begun: None,
            is_folding: false,
            run_end: 0,
            run_bytes: 0,
        })
    }

    pub fn valid_pages(&self) -> u64 {
        self.rows.iter().flat_map(|row| &row.places).flatten().count() as u64
    }

    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    fn is_full(row: &Row, row_pages: usize) -> bool {
        row.places.len() == row_pages
    }

    fn has_open_row(&self) -> bool {
        self.rows.back().is_some_and(|row| !Self::is_full(row, self.row_pages))
    }

    fn has_closed_row(&self) -> bool {
        self.rows.front().is_some_and(|row| Self::is_full(row, self.row_pages))
    }

    /// Returns the row of a logical page and its position in the row, if the cache contains it.
    fn find(&self, logical: u32) -> Option<(usize, usize)> {
        self.rows.iter().enumerate().find_map(|(at, row)| {
            let place = row.places.iter().position(|&held| held == Some(logical))?;
            Some((at, place))
        })
    }

    /// Returns the physical number of a page in the cache, by its row and its position in the
    /// row.
    fn number_of(&self, (at, place): (usize, usize)) -> u32 {
        self.rows[at].number * self.row_pages as u32 + place as u32
    }

    /// Invalidates a page; true if the cache held it.
    fn forget(&mut self, logical: u32) -> bool {
        let location = self.find(logical);
        if let Some((at, place)) = location {
            self.rows[at].places[place] = None;
        }
        location.is_some()
    }
}

impl<L: Logical> TimedDrive<L> {
    fn slc(&mut self) -> &mut Slc {
        self.slc.as_mut().expect("the drive must have an SLC cache")
    }

    /// Returns the physical page of a logical page, in the cache or behind it.
    pub(super) fn physical(&self, logical: u32) -> Option<u32> {
        let in_slc = self.slc.as_ref().and_then(|slc| Some(slc.number_of(slc.find(logical)?)));
        let number = in_slc.map(|number| self.profile.first_slc_page() + number);
        number.or_else(|| self.logical.physical(logical))
    }

    /// Adds a write to the sequential run; true if the run is long enough to bypass the cache.
    pub(super) fn follow_run(&mut self, offset: u64, length: u64) -> bool {
        let least_bytes = self.profile.slc_direct_bytes;
        let Some(slc) = &mut self.slc else { return false };
        slc.run_bytes = length + if offset == slc.run_end { slc.run_bytes } else { 0 };
        slc.run_end = offset + length;
        least_bytes > 0 && slc.run_bytes >= least_bytes
    }

    /// Returns the number of rows that the cache may use now, at least 2.
    fn slc_limit(&self) -> usize {
        let is_free = |&page: &u32| self.physical(page).is_none();
        let free_pages = (0..self.profile.host_pages).filter(is_free).count() as u32;
        let pages = self.profile.slc_static_pages() + self.profile.slc_dynamic_pages(free_pages);
        2.max((pages / u64::from(self.profile.slc_row_pages())) as usize)
    }

    /// Makes room for the next page and begins its program; false if the cache takes no page.
    pub(super) fn slc_has_room(&mut self) -> bool {
        if self.slc().begun.is_some() {
            return true;
        }
        let folds = self.profile.slc_folds_when_full;
        if !self.slc().has_open_row() {
            while self.slc().rows.len() >= self.slc_limit() {
                let oldest = self.slc().rows.front().expect("at least two rows");
                let is_stale = oldest.places.iter().all(Option::is_none);
                if !folds && !is_stale {
                    return false;
                }
                self.fold_unit();
            }
            let slc = self.slc();
            let number = slc.next_row;
            slc.next_row = (number + 1) % slc.most_rows;
            slc.rows.push_back(Row { number, places: Vec::new(), folded: 0 });
        }
        if folds {
            let from = (self.profile.slc_watermark * self.slc_limit() as f64).ceil();
            let from = (from as usize).max(1);
            let units = (self.slc().rows.len() + 1).saturating_sub(from);
            for _ in 0..units {
                if self.slc().has_closed_row() {
                    self.fold_unit();
                }
            }
        }
        let row = self.slc().rows.back().expect("a row is open");
        let place = row.places.len() as u32;
        let first = row.number * self.profile.slc_row_pages() + place;
        let program = self.array.new_program(self.profile.first_slc_page() + first);
        let pages = self.profile.slc_unit_pages();
        self.slc().begun = Some((program, pages));
        true
    }

    pub(super) fn write_to_slc(&mut self, page: u32, bytes: u32, waiter: Waiter, tag: u8) {
        let (_, bytes, after) = self.prepare_write(page, bytes);
        self.slc().forget(page);
        if self.logical.physical(page).is_some() {
            self.logical.trim(page..page + 1);
        }
        let (program, _) = self.slc().begun.expect("the cache has room");
        for read in after {
            self.array.notify(read, Waiter::Operation(program));
        }
        self.array.notify(program, waiter);
        self.tag_of.insert(page, tag);
        self.fill_slc(Some(page), bytes);
        self.update_table();
    }

    /// Fills up the begun program.
    pub(super) fn pad_slc(&mut self) {
        while self.slc.as_ref().is_some_and(Slc::has_begun) {
            self.fill_slc(None, 0);
        }
    }

    fn fill_slc(&mut self, logical: Option<u32>, bytes: u32) {
        let tag = logical.map_or(OF_DRIVE, |page| self.tag_of[&page]);
        self.count(ProgramFor::Slc, tag);
        let first = self.profile.first_slc_page();
        let slc = self.slc();
        let row = slc.rows.back_mut().expect("a row is open");
        row.places.push(logical);
        let place = (slc.rows.len() - 1, slc.rows[slc.rows.len() - 1].places.len() - 1);
        let page = first + slc.number_of(place);
        let (program, missing) = slc.begun.take().expect("a program is begun");
        self.array.add_page(program, page, bytes);
        if missing == 1 {
            self.array.submit(program, &mut self.clock);
        } else {
            self.slc().begun = Some((program, missing - 1));
        }
    }

    /// Invalidates a page that is written or trimmed behind the cache; true if the cache held it.
    pub(super) fn forget_in_slc(&mut self, page: u32) -> bool {
        self.slc.as_mut().is_some_and(|slc| slc.forget(page))
    }

    /// Folds the next program of the oldest row, and erases the row after its last program.
    fn fold_unit(&mut self) {
        let unit = self.profile.slc_unit_pages() as usize;
        let first = self.profile.first_slc_page();
        let slc = self.slc();
        let from = slc.rows[0].folded;
        slc.rows[0].folded += unit;
        let held: Vec<(u32, u32)> = (from..from + unit)
            .filter_map(|place| {
                Some((first + slc.number_of((0, place)), slc.rows[0].places[place]?))
            })
            .collect();
        let page_bytes = self.profile.page_bytes;
        let (in_memory, on_flash): (Vec<u32>, Vec<u32>) =
            held.iter().map(|&(page, _)| page).partition(|&page| self.array.is_in_memory(page));
        let mut reads: BTreeMap<u32, Option<OpId>> =
            in_memory.into_iter().map(|page| (page, None)).collect();
        for together in on_flash.chunk_by(|&a, &b| self.profile.is_read_at_once(a, b)) {
            let read = self.array.new_read(together[0], page_bytes * together.len() as u32);
            self.array.mark_of_copy(read);
            self.array.submit(read, &mut self.clock);
            reads.extend(together.iter().map(|&page| (page, Some(read))));
        }
        for (page, logical) in held {
            let read = reads[&page];
            self.slc().forget(logical);
            self.collect_if_short();
            self.write_folded(logical, read);
            self.programs.moved.push(logical);
            self.update_table();
        }
        let slc = self.slc();
        if slc.rows[0].folded == slc.row_pages {
            slc.rows.pop_front();
            self.erase_row();
        }
    }

    /// Erases a row on all dies, each erase after the submitted programs of other dies.
    fn erase_row(&mut self) {
        for die in 0..self.profile.dies() as usize {
            let erase = self.array.new_slc_erase(die);
            self.array.wait_for_other_dies(erase, die);
            self.array.submit(erase, &mut self.clock);
        }
    }

    pub(super) fn schedule_idle_folding(&mut self) {
        let idle_ns = self.profile.slc_idle_ns;
        if self.slc.is_some() && idle_ns > 0 && self.requests.is_empty() {
            self.clock.at(self.clock.now_ns + idle_ns, Event::SlcIdle(self.submitted));
        }
    }

    pub(super) fn begin_idle_folding(&mut self, submitted: u64) {
        self.slc().is_folding |= submitted == self.submitted;
    }

    pub(super) fn end_idle_folding(&mut self) {
        if let Some(slc) = &mut self.slc {
            slc.is_folding = false;
        }
    }

    /// In a pause of the host, folds full rows whenever the array has no work.
    ///
    /// Each time, it folds as many programs as make whole ones on all dies.
    pub(super) fn fold_while_idle(&mut self) {
        while self.slc.as_ref().is_some_and(|slc| slc.is_folding) && !self.array.has_work() {
            self.slc().is_folding = self.slc().has_closed_row();
            for _ in 0..self.profile.dies() * self.profile.slc_bits_per_cell {
                if self.slc().has_closed_row() {
                    self.fold_unit();
                }
            }
        }
    }
}
