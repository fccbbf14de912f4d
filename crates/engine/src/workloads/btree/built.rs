//! B-tree of a spec: its parameters, and the sizes of its regions.

use std::ops::Bound::{Excluded, Included};

use super::{Btree, CHUNK_UPDATES, Protection};
use crate::error::{Error, Result};
use crate::flash::filled;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::workloads::activities::{Activities, refuse_trim};
use crate::workloads::age_list::AgeList;
use crate::workloads::zones::whole_pages;
use crate::workloads::{NESTED, Site, build, entry};

impl Registered<Site> for Btree {
    const ENTRY: Entry = entry(
        "btree",
        "a B-tree updated in place, as InnoDB or PostgreSQL: log, and leaves of a buffer pool",
    )
    .example("btree:batch=4")
    .variants(&[
        "btree:page=8k,row=100,pool=30%,log=5%,commit=3,protect=images",
        "btree:page=4k,row=1000,pool=1,log=10%,updates=hot-cold(f=0.2,r=0.8),protect=none",
    ])
    .params(&[
        Param::new("page", "16k", Domain::Bytes(512, 1 << 20), "bytes of a leaf"),
        Param::new(
            "row",
            "128",
            Domain::Whole(1, 1 << 16),
            "bytes that an update writes, which is also the size of its record in the log",
        )
        .stated(),
        Param::new("updates", "uniform", NESTED, "pattern of the updates over the leaves"),
        Param::new(
            "pool",
            "0.1",
            Domain::Number(Excluded(0.0), Included(1.0)),
            "leaves in the buffer pool, as a share of all leaves; at least one",
        )
        .stated(),
        Param::new(
            "log",
            "0.01",
            Domain::Number(Excluded(0.0), Excluded(1.0)),
            "pages of the cyclic log, as a share of all pages",
        )
        .stated(),
        Param::new(
            "commit",
            "1",
            Domain::Whole(1, 1 << 20),
            "number of updates after which the log is written",
        ),
        Param::new(
            "protect",
            "doublewrite",
            Domain::Word(&["doublewrite", "images", "none"]),
            "doublewrite: leaves are written twice, as by InnoDB; images: the log has a leaf that \
             is changed for the first time after a checkpoint, as by PostgreSQL; none: neither",
        ),
        Param::new(
            "batch",
            "128",
            Domain::Whole(1, 1 << 16),
            "most leaves that are written together, and the size of the doublewrite area",
        ),
    ])
    .alone();

    fn build(params: &Params, site: &Site) -> Result<Self> {
        refuse_trim(params)?;
        let &Site { pages, page_bytes, ref context } = site;
        let leaf_pages = whole_pages(params.bytes("page"), page_bytes).max(1) as u32;
        let log_pages = (params.number("log") * f64::from(pages)).round() as u32;
        let protection = params.choice(
            "protect",
            &[
                ("doublewrite", Protection::Doublewrite),
                ("images", Protection::Images),
                ("none", Protection::None),
            ],
        );
        let (row_bytes, batch): (u32, u32) = (params.integer("row"), params.integer("batch"));
        let has_area = protection == Protection::Doublewrite;
        let area_pages = if has_area { batch.saturating_mul(leaf_pages) } else { 0 };
        let leaves = pages.saturating_sub(log_pages).saturating_sub(area_pages) / leaf_pages;
        if leaves < 2 {
            return Err(Error::Spec(format!(
                "btree: {pages} pages hold a log of {log_pages} pages and a doublewrite area of \
                 {area_pages}, but not two leaves of {leaf_pages} pages; give a smaller page, log \
                 or batch"
            )));
        }
        let leaf_bytes = u64::from(leaf_pages) * u64::from(page_bytes);
        if u64::from(row_bytes) > leaf_bytes {
            return Err(params.outside("row", row_bytes, Domain::Whole(1, leaf_bytes)));
        }
        // A leaf image and the page before it, which may be full in part, must not overlap.
        let least_log_pages = leaf_pages + 1;
        if log_pages < least_log_pages {
            return Err(Error::Spec(format!(
                "btree: log={} is {log_pages} pages of {pages}, but the log needs at least \
                 {least_log_pages}; give a larger log",
                params.text("log")
            )));
        }
        let pool_leaves = (params.number("pool") * f64::from(leaves)).round().max(1.0) as usize;
        // One turn of the log has passed, so that no leaf was changed after the checkpoint.
        let log_end = u64::from(log_pages) * u64::from(page_bytes);
        Ok(Btree {
            pages,
            page_bytes,
            log_pages,
            area_pages,
            leaf_pages,
            leaves,
            row_bytes,
            pool_leaves,
            batch_leaves: batch as usize,
            commit_updates: params.integer("commit"),
            protection,
            updates: build(params.text("updates"), leaves, context.child(0))?,
            chunk: filled(0, CHUNK_UPDATES)?,
            ready: 0..0,
            by_use: AgeList::new(leaves)?,
            changed: AgeList::new(leaves)?,
            first_changes: filled(0, leaves as usize)?,
            log_end,
            log_written: log_end,
            checkpoint: log_end,
            uncommitted_updates: 0,
            activities: Activities::default(),
            updated_rows: 0,
            written_pages: [0; 3],
        })
    }
}
