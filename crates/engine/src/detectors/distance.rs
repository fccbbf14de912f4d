//! Update distance: a page is hot if it was last written not long ago.

use super::{Detector, Registered, pages_of};
use crate::error::Result;
use crate::flash::filled;
use crate::spec::{Param, Params};
use crate::state::state;

/// Exact, at 4 bytes a logical page.
pub struct UpdateDistance {
    /// The clock at the last write of each page; 0 if there was none.
    written_at: Vec<u32>,
    /// Host pages written, modulo 2³²: a page that rests for about as long can look hot once.
    now: u32,
    hot_below: u32,
}

state!(UpdateDistance { table written_at, value now, fixed hot_below });

impl Detector for UpdateDistance {
    fn is_hot(&mut self, logical: u32) -> bool {
        self.now = self.now.wrapping_add(1).max(1);
        let before = std::mem::replace(&mut self.written_at[logical as usize], self.now);
        before != 0 && self.now.wrapping_sub(before) < self.hot_below
    }

    fn bytes(&self) -> u64 {
        size_of_val(&self.written_at[..]) as u64
    }
}

impl Registered for UpdateDistance {
    const NAME: &'static str = "distance";
    const SUMMARY: &'static str = "hot if last written less than a share of the drive ago";
    const PARAMS: &'static [Param] = &[Param {
        name: "share",
        default: "0.5",
        help: "hot below this distance, in writes per logical page; above 0 and at most 1000",
    }];
    const EXAMPLE: &'static str = "distance:share=0.5";

    fn build(params: &Params, logical_pages: u32) -> Result<Self> {
        let share =
            params.number("share", "above 0 and at most 1000", |v| v > 0.0 && v <= 1000.0)?;
        Ok(UpdateDistance {
            written_at: filled(0, logical_pages as usize)?,
            now: 0,
            hot_below: pages_of(share, logical_pages),
        })
    }
}
