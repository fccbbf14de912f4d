//! Update-distance detector: a page is hot if few pages were written since its last write.

use std::ops::Bound::{Excluded, Included};

use super::{Detector, pages_of};
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::state::state;

/// Exact update-distance detector, with a table of 4 bytes per logical page.
pub struct UpdateDistance {
    /// For each page: the value of `now` at its last write, or 0 if never written.
    written_at: Table<u32>,
    /// Counter of host pages written. It has 32 bits, and continues at 1 after its largest value.
    /// If a page is not written for about 2³² host writes, its next write may wrongly count as hot.
    now: u32,
    hot_below: u32,
}

state!(UpdateDistance { table written_at, value now, fixed hot_below });

impl Detector for UpdateDistance {
    fn is_hot(&mut self, logical: u32) -> bool {
        self.now = self.now.wrapping_add(1).max(1);
        let last_write = std::mem::replace(&mut self.written_at[logical as usize], self.now);
        last_write != 0 && self.now.wrapping_sub(last_write) < self.hot_below
    }

    fn forget(&mut self, logical: u32) {
        self.written_at[logical as usize] = 0;
    }

    fn bytes(&self) -> u64 {
        size_of_val(&self.written_at[..]) as u64
    }
}

impl Registered<u32> for UpdateDistance {
    const ENTRY: Entry = Entry::new(
        "distance",
        "hot if the host wrote less than a share of the drive since the page's last write",
    )
    .example("distance:share=0.5")
    .params(&[Param::new(
        "share",
        "0.5",
        Domain::Number(Excluded(0.0), Included(1000.0)),
        "pages are hot below this distance: host page writes since the last write, over logical \
         pages",
    )]);

    fn build(params: &Params, logical_pages: &u32) -> Result<Self> {
        Ok(UpdateDistance {
            written_at: filled(0, *logical_pages as usize)?,
            now: 0,
            hot_below: pages_of(params.number("share"), *logical_pages),
        })
    }
}
