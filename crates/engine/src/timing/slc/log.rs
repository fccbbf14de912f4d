//! The log of an SLC cache: rows that are filled, and emptied in the same order.

use super::params::SlcBlocks;
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::state::{Reader, State, Writer, require};

const NONE: u32 = u32::MAX;

/// Pages of an SLC cache, and the logical pages that they hold.
#[derive(Debug)]
pub struct SlcLog {
    blocks: SlcBlocks,
    /// Number of its first page.
    first_page: u32,
    /// Pages of the cache by logical page of the host, counted from its first.
    page_of: Table<u32>,
    /// Logical pages by page of the cache.
    logical_of: Table<u32>,
    /// Pages with data of each row.
    valid: Vec<u32>,
    /// The row that was filled first, and the rows that hold anything.
    oldest: u32,
    used_rows: u32,
    /// Pages of the row that is filled, which is the last; all of them if none is.
    filled_pages: u32,
    /// Pages of the oldest row that were folded.
    folded_pages: u32,
    /// Logical pages of the host that hold data, in the cache or behind it.
    pub mapped_pages: u32,
}

impl SlcLog {
    /// An empty one before a drive with so many pages, whose host sees `host_pages`.
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

    /// Page of the cache that holds a logical page.
    #[inline(always)]
    pub fn find(&self, logical: u32) -> Option<u32> {
        let found = *self.page_of.get(logical as usize)?;
        (found != NONE).then(|| self.first_page + found)
    }

    /// Rows that hold anything.
    pub fn used_rows(&self) -> u32 {
        self.used_rows
    }

    /// Pages that hold data.
    pub fn valid_pages(&self) -> u64 {
        self.valid.iter().map(|&pages| u64::from(pages)).sum()
    }

    /// Rows that it may use now.
    pub fn limit(&self) -> u32 {
        self.blocks.limit(self.page_of.len() as u32 - self.mapped_pages)
    }

    /// Mapping units of a program.
    pub fn unit_pages(&self) -> u32 {
        self.blocks.unit_pages
    }

    /// Program units that a step of folding in a pause takes.
    /// They are as many as make whole programs of the other flash on all dies.
    pub fn units_of_step(&self) -> u32 {
        self.blocks.dies * self.blocks.bits_per_cell
    }

    /// True if the row that is filled has room.
    pub fn has_open_row(&self) -> bool {
        self.filled_pages < self.blocks.row_pages
    }

    /// Opens the next row, of which nothing is in use.
    pub fn open_row(&mut self) {
        assert!(!self.has_open_row() && self.used_rows < self.blocks.most_rows);
        self.used_rows += 1;
        self.filled_pages = 0;
    }

    /// The next page of the open row.
    pub fn next_page(&self) -> u32 {
        self.first_page + self.next_index()
    }

    fn next_index(&self) -> u32 {
        let row = (self.oldest + self.used_rows - 1) % self.blocks.most_rows;
        row * self.blocks.row_pages + self.filled_pages
    }

    /// Takes the next page of the open row for nothing, or for a logical page, whose page of the
    /// cache until then holds nothing from now on.
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

    /// Forgets a logical page; true if the cache held it.
    pub fn forget(&mut self, logical: u32) -> bool {
        let page = std::mem::replace(&mut self.page_of[logical as usize], NONE);
        if page == NONE {
            return false;
        }
        self.logical_of[page as usize] = NONE;
        self.valid[(page / self.blocks.row_pages) as usize] -= 1;
        true
    }

    /// True if a row that is full waits to be folded.
    pub fn has_closed_row(&self) -> bool {
        self.used_rows > u32::from(self.has_open_row())
    }

    /// True if a row waits to be folded of which nothing is left.
    pub fn has_stale_row(&self) -> bool {
        self.has_closed_row() && self.valid[self.oldest as usize] == 0
    }

    /// Takes the next program unit of the oldest row, which is closed, to be folded.
    /// Its pages with data go to `found`, each with its logical page. True if it is the last of its
    /// row.
    pub fn next_to_fold(&mut self, found: &mut Vec<(u32, u32)>) -> bool {
        debug_assert!(self.has_closed_row());
        let first = self.oldest * self.blocks.row_pages + self.folded_pages;
        found.clear();
        for page in first..first + self.blocks.unit_pages {
            let logical = self.logical_of[page as usize];
            if logical != NONE {
                found.push((self.first_page + page, logical));
            }
        }
        self.folded_pages += self.blocks.unit_pages;
        self.folded_pages == self.blocks.row_pages
    }

    /// Gives the oldest row up, which was folded, and returns its number.
    pub fn give_up_oldest(&mut self) -> u32 {
        let row = self.oldest;
        assert_eq!(self.valid[row as usize], 0, "what is given up was folded");
        self.oldest = (row + 1) % self.blocks.most_rows;
        self.used_rows -= 1;
        self.folded_pages = 0;
        row
    }
}

/// State of a log whose program units are full.
/// It is what each page holds, and where the log begins and ends.
impl State for SlcLog {
    fn save(&self, to: &mut Writer) {
        to.table(&[self.oldest, self.used_rows, self.filled_pages, self.folded_pages]);
        to.table(&self.logical_of);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        let mut places = [0; 4];
        from.table(&mut places, "the rows of an SLC cache")?;
        [self.oldest, self.used_rows, self.filled_pages, self.folded_pages] = places;
        require(self.has_such_rows(), "the rows of an SLC cache")?;
        from.table(&mut self.logical_of, "the pages of an SLC cache")?;
        self.page_of.fill(NONE);
        self.valid.fill(0);
        for page in 0..self.logical_of.len() as u32 {
            let logical = self.logical_of[page as usize];
            if logical == NONE {
                continue;
            }
            let is_new = self.page_of.get(logical as usize) == Some(&NONE);
            require(is_new && self.is_in_use(page), "the pages of an SLC cache")?;
            self.page_of[logical as usize] = page;
            self.valid[(page / self.blocks.row_pages) as usize] += 1;
        }
        Ok(())
    }
}

impl SlcLog {
    /// True if a log can begin and end there.
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

    /// True of a page that was filled, and not folded since.
    fn is_in_use(&self, page: u32) -> bool {
        let (row, at) = (page / self.blocks.row_pages, page % self.blocks.row_pages);
        let age = (row + self.blocks.most_rows - self.oldest) % self.blocks.most_rows;
        age < self.used_rows
            && (age > 0 || at >= self.folded_pages)
            && (age + 1 < self.used_rows || at < self.filled_pages)
    }
}
