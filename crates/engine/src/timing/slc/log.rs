//! Log of an SLC cache.
//! Its rows (one block per die) are filled, and their data is moved out (folded) in the same order.

use super::params::SlcBlocks;
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::state::{Reader, State, Writer, require};

const NONE: u32 = u32::MAX;

/// Pages of an SLC cache, and the logical page that each of them holds.
#[derive(Debug)]
pub struct SlcLog {
    blocks: SlcBlocks,
    /// Number of the first flash page of the cache.
    first_page: u32,
    /// For each logical page: the number of its page in the cache, counted from the first.
    page_of: Table<u32>,
    /// For each page of the cache: the logical page that it holds.
    logical_of: Table<u32>,
    /// Number of valid pages of each row.
    valid: Vec<u32>,
    /// Number of the oldest used row. The next field is the number of used rows.
    oldest: u32,
    used_rows: u32,
    /// Number of filled pages in the newest row. If no row is open, this is the size of a row.
    filled_pages: u32,
    /// Number of pages of the oldest row that were folded (moved to the other flash).
    folded_pages: u32,
    /// Number of logical pages that hold data, in the cache or in the other flash.
    pub mapped_pages: u32,
}

impl SlcLog {
    /// Builds an empty log for a drive with `host_pages` host pages.
    pub fn new(
        blocks: SlcBlocks,
        first_page: u32,
        host_pages: u32,
        mapped_pages: u32,
    ) -> Result<Self> {
        Ok(SlcLog {
            page_of: filled(NONE, host_pages as usize)?,
            logical_of: filled(NONE, blocks.pages() as usize)?,
            valid: vec![0; blocks.most_rows as usize],
            oldest: 0,
            used_rows: 0,
            filled_pages: blocks.row_pages,
            folded_pages: 0,
            mapped_pages,
            first_page,
            blocks,
        })
    }

    /// Page of the cache that holds a logical page, or None.
    #[inline(always)]
    pub fn find(&self, logical: u32) -> Option<u32> {
        let slot = *self.page_of.get(logical as usize)?;
        (slot != NONE).then(|| self.first_page + slot)
    }

    /// Number of rows of the cache that are in use.
    pub fn used_rows(&self) -> u32 {
        self.used_rows
    }

    /// Number of valid pages in the cache.
    pub fn valid_pages(&self) -> u64 {
        self.valid.iter().map(|&pages| u64::from(pages)).sum()
    }

    /// Most rows that may be used at the present number of logical pages with data.
    pub fn limit(&self) -> u32 {
        self.blocks.limit(self.page_of.len() as u32 - self.mapped_pages)
    }

    /// Number of mapping units per program operation.
    pub fn unit_pages(&self) -> u32 {
        self.blocks.unit_pages
    }

    /// Number of program units that one step of idle-time folding moves to the other flash.
    /// These units fill whole programs of the other flash on all dies.
    pub fn units_of_step(&self) -> u32 {
        self.blocks.dies * self.blocks.bits_per_cell
    }

    /// True if the newest row has free pages.
    pub fn has_open_row(&self) -> bool {
        self.filled_pages < self.blocks.row_pages
    }

    /// Opens the next row, which must be unused.
    pub fn open_row(&mut self) {
        assert!(!self.has_open_row() && self.used_rows < self.blocks.most_rows);
        self.used_rows += 1;
        self.filled_pages = 0;
    }

    /// Next page of the open row.
    pub fn next_page(&self) -> u32 {
        self.first_page + self.next_index()
    }

    fn next_index(&self) -> u32 {
        let row = (self.oldest + self.used_rows - 1) % self.blocks.most_rows;
        row * self.blocks.row_pages + self.filled_pages
    }

    /// Uses the next page of the open row for a logical page, or for padding.
    /// The logical page's previous page of the cache becomes invalid.
    pub fn take_page(&mut self, logical: Option<u32>) -> u32 {
        let page = self.next_index();
        self.filled_pages += 1;
        if let Some(logical) = logical {
            self.forget(logical);
            self.page_of[logical as usize] = page;
            self.logical_of[page as usize] = logical;
            self.valid[(page / self.blocks.row_pages) as usize] += 1;
        }
        self.first_page + page
    }

    /// Forgets a logical page. Returns true if it was in the cache.
    pub fn forget(&mut self, logical: u32) -> bool {
        let page = std::mem::replace(&mut self.page_of[logical as usize], NONE);
        if page == NONE {
            return false;
        }
        self.logical_of[page as usize] = NONE;
        self.valid[(page / self.blocks.row_pages) as usize] -= 1;
        true
    }

    /// True if there is a full row to fold.
    pub fn has_closed_row(&self) -> bool {
        self.used_rows > u32::from(self.has_open_row())
    }

    /// True if the oldest full row has no valid pages.
    pub fn has_stale_row(&self) -> bool {
        self.has_closed_row() && self.valid[self.oldest as usize] == 0
    }

    /// Starts folding (moving out) the next program unit of the oldest row.
    /// The row must be full. The valid pages of the unit are stored in `pages`, each with its
    /// logical page. Returns true if the unit is the last of its row.
    pub fn next_to_fold(&mut self, pages: &mut Vec<(u32, u32)>) -> bool {
        debug_assert!(self.has_closed_row());
        let first = self.oldest * self.blocks.row_pages + self.folded_pages;
        pages.clear();
        for page in first..first + self.blocks.unit_pages {
            let logical = self.logical_of[page as usize];
            if logical != NONE {
                pages.push((self.first_page + page, logical));
            }
        }
        self.folded_pages += self.blocks.unit_pages;
        self.folded_pages == self.blocks.row_pages
    }

    /// Frees the oldest row after folding. Returns its number.
    pub fn give_up_oldest(&mut self) -> u32 {
        let row = self.oldest;
        assert_eq!(
            self.valid[row as usize], 0,
            "a row is freed only after its last valid page was moved"
        );
        self.oldest = (row + 1) % self.blocks.most_rows;
        self.used_rows -= 1;
        self.folded_pages = 0;
        row
    }
}

/// Saved state of a log that has only full program units.
/// It consists of the logical page of each page, and the bounds of the log.
impl State for SlcLog {
    fn save(&self, to: &mut Writer) {
        to.table(&[self.oldest, self.used_rows, self.filled_pages, self.folded_pages]);
        to.table(&self.logical_of);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        let mut places = [0; 4];
        from.table(&mut places, "the used rows of the SLC cache")?;
        [self.oldest, self.used_rows, self.filled_pages, self.folded_pages] = places;
        require(self.has_such_rows(), "the used rows of the SLC cache")?;
        from.table(&mut self.logical_of, "the pages of the SLC cache")?;
        self.page_of.fill(NONE);
        self.valid.fill(0);
        for page in 0..self.logical_of.len() as u32 {
            let logical = self.logical_of[page as usize];
            if logical == NONE {
                continue;
            }
            let is_new = self.page_of.get(logical as usize) == Some(&NONE);
            require(is_new && self.is_in_use(page), "the pages of the SLC cache")?;
            self.page_of[logical as usize] = page;
            self.valid[(page / self.blocks.row_pages) as usize] += 1;
        }
        Ok(())
    }
}

impl SlcLog {
    /// True if these bounds of the log (oldest row, used rows, filled pages) are possible.
    fn has_such_rows(&self) -> bool {
        let SlcBlocks { unit_pages, row_pages, most_rows, .. } = self.blocks;
        let are_whole = [self.filled_pages, self.folded_pages].iter().all(|n| n % unit_pages == 0);
        are_whole
            && self.oldest < most_rows
            && self.used_rows <= most_rows
            && self.filled_pages <= row_pages
            && (self.used_rows > 0 || !self.has_open_row())
            && self.folded_pages < row_pages
            && (self.folded_pages == 0 || self.has_closed_row())
    }

    /// True if the page of the cache is filled and not folded yet.
    fn is_in_use(&self, page: u32) -> bool {
        let (row, at) = (page / self.blocks.row_pages, page % self.blocks.row_pages);
        let age = (row + self.blocks.most_rows - self.oldest) % self.blocks.most_rows;
        age < self.used_rows
            && (age > 0 || at >= self.folded_pages)
            && (age + 1 < self.used_rows || at < self.filled_pages)
    }
}
