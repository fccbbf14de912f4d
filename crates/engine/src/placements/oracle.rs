//! Oracle placement: pages that become invalid at about the same time share a stream.
//! It is the ideal placement of Wang et al., FAST 2022, with a bounded number of streams.
//!
//! The first stream takes pages that become invalid within one block's worth of writes. The
//! limit of each further stream is twice that of the previous stream (`log`), or one block's worth
//! of writes more (`linear`, as in the published simulator). The last stream takes all other pages.

use super::{HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::{Table, filled, prefetch};
use crate::hints::{NEVER, RequiredHints};
use crate::params::{Domain, Param, Params, words};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::state;

pub struct Oracle {
    streams: usize,
    spacing: Spacing,
    pages_per_block: u64,
    /// Clock (host pages written) at which each page becomes invalid.
    invalidation_times: Table<u64>,
}

state! {
    Oracle {
        fixed streams,
        fixed spacing,
        fixed pages_per_block,
        table invalidation_times,
    }
}

/// Spacing of streams: the remaining lifetimes that each stream covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    /// Each stream covers lifetimes of up to twice the limit of the previous stream.
    Logarithmic,
    /// Each stream covers a range of lifetimes of one block's worth of writes.
    Linear,
}

impl Spacing {
    const ALL: [(&'static str, Spacing); 2] =
        [("log", Spacing::Logarithmic), ("linear", Spacing::Linear)];
}

impl Oracle {
    #[inline(always)]
    fn stream(&self, invalidation_time: u64, now: u64) -> usize {
        let blocks = invalidation_time.saturating_sub(now) / self.pages_per_block;
        let class = match self.spacing {
            Spacing::Logarithmic => u64::from(u64::BITS - blocks.leading_zeros()),
            Spacing::Linear => blocks,
        };
        class.min(self.streams as u64 - 1) as usize
    }
}

impl Registered<Sizes> for Oracle {
    const ENTRY: Entry = Entry::new(
        "oracle",
        "pages separated by the time until they become invalid, which is known in advance",
    )
    .example("oracle:streams=4")
    .params(&[
        Param::new(
            "streams",
            "16",
            Domain::Whole(2, 64),
            "number of classes of remaining lifetime",
        ),
        Param::new(
            "spacing",
            "log",
            Domain::Word(&words(&Spacing::ALL)),
            "longest lifetime of a class: twice that of the previous class (log), or one block's \
             worth of writes more (linear)",
        )
        .later(),
    ])
    .small("oracle:streams=4")
    .variants(&["oracle:streams=4,spacing=linear"])
    .candidates(&[Pairs::rare(&["oracle"], &["cost-benefit"])]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        Ok(Oracle {
            streams: params.integer("streams"),
            spacing: params.choice("spacing", &Spacing::ALL),
            pages_per_block: u64::from(sizes.pages_per_block),
            invalidation_times: filled(NEVER, sizes.logical_pages as usize)?,
        })
    }
}

impl Placement for Oracle {
    const USES_HOST_HINTS: bool = true;

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        self.invalidation_times[page.logical as usize] = page.invalidation_time;
        self.stream(page.invalidation_time, page.now)
    }

    fn forget(&mut self, logical: u32) {
        self.invalidation_times[logical as usize] = NEVER;
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize {
        self.stream(self.invalidation_times[logical as usize], victim.now)
    }

    fn bytes(&self) -> u64 {
        size_of_val(&self.invalidation_times[..]) as u64
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        prefetch(&self.invalidation_times, logical as usize);
    }
}

impl RegisteredPlacement for Oracle {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(params: &Params) -> Streams {
        let streams = params.integer("streams");
        Streams { all: streams, migration: streams }
    }

    fn required_hints(_params: &Params) -> RequiredHints {
        RequiredHints::InvalidationTimes
    }
}
