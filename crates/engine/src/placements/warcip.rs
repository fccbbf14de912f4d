//! WARCIP: clusters of pages with similar rewrite intervals, which follow the workload.
//! (Yang, Pei & Yang, SYSTOR 2019.)
//!
//! A host page joins the cluster whose mean interval is nearest to the page's interval. The page's
//! interval updates that mean, in which about the last block's worth of pages count. The interval
//! of a page that was migrated in the meantime counts as longer, which is the paper's penalty.
//! Migrated pages share a stream. Periodically, the busiest cluster is split if it received more
//! than half of the host's writes: the mean of the cluster with the fewest writes becomes half of
//! the busiest cluster's mean. This happens only if the writes to the cluster with the fewest
//! writes would not fill a block. The paper opens and closes clusters instead.

use super::LastWrites;
use super::sfs::nearest;
use super::{HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::{Table, filled, prefetch};
use crate::params::{Domain, Extent, Param, Params, words};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::{Reader, State, Writer, state};

pub struct Warcip {
    last_writes: LastWrites,
    migrations: Migrations,
    start: Start,
    /// Mean rewrite interval of each cluster.
    centers: Vec<u64>,
    /// Weight of each mean, in pages.
    /// The next field is the number of host writes to each cluster since the last check for a
    /// split.
    weights: Vec<u64>,
    writes: Vec<u64>,
    until_split: u64,
    writes_between_splits: u64,
    pages_per_block: u64,
}

state! {
    Warcip {
        nested last_writes,
        nested migrations,
        fixed start,
        table centers,
        table weights,
        table writes,
        value until_split,
        fixed writes_between_splits,
        fixed pages_per_block,
    } where is_sound
}

/// Record of migrations of each page since its last host write.
enum Migrations {
    Nothing,
    /// For each page, true if it was migrated, which doubles its next interval.
    Any(Table<bool>),
    /// Age of each page at its last migration, which is added to its next interval.
    LastAge(Table<u32>),
}

impl Migrations {
    fn new(params: &Params, pages: usize) -> Result<Self> {
        Ok(match params.text("penalty") {
            "double" => Migrations::Any(filled(false, pages)?),
            "age" => Migrations::LastAge(filled(0, pages)?),
            _ => Migrations::Nothing,
        })
    }

    /// Rewrite interval of a host page, longer if the page was migrated in the meantime.
    /// The record of its migrations is cleared.
    #[inline(always)]
    fn lengthen(&mut self, logical: u32, interval: u64) -> u64 {
        match self {
            Migrations::Nothing => interval,
            Migrations::Any(was_migrated) => {
                if std::mem::take(&mut was_migrated[logical as usize]) {
                    interval * 2
                } else {
                    interval
                }
            }
            Migrations::LastAge(ages) => {
                interval + u64::from(std::mem::take(&mut ages[logical as usize]))
            }
        }
    }

    #[inline(always)]
    fn note(&mut self, logical: u32, age: impl FnOnce() -> u64) {
        match self {
            Migrations::Nothing => {}
            Migrations::Any(was_migrated) => was_migrated[logical as usize] = true,
            Migrations::LastAge(ages) => ages[logical as usize] = age() as u32,
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Migrations::Nothing => 0,
            Migrations::Any(was_migrated) => was_migrated.len() as u64,
            Migrations::LastAge(ages) => size_of_val(&ages[..]) as u64,
        }
    }
}

impl State for Migrations {
    fn save(&self, to: &mut Writer) {
        match self {
            Migrations::Nothing => {}
            Migrations::Any(was_migrated) => to.table(was_migrated),
            Migrations::LastAge(ages) => to.table(ages),
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        match self {
            Migrations::Nothing => Ok(()),
            Migrations::Any(was_migrated) => from.table(was_migrated, "Warcip.migrations"),
            Migrations::LastAge(ages) => from.table(ages, "Warcip.migrations"),
        }
    }
}

/// Cluster of a page that the host writes for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Cluster with the longest intervals, as if the page stayed forever.
    Longest,
    /// Cluster with the shortest intervals, as if the interval were 0.
    Shortest,
}

impl Start {
    const ALL: [(&'static str, Start); 2] =
        [("longest", Start::Longest), ("shortest", Start::Shortest)];
}

impl Warcip {
    fn is_sound(&self) -> bool {
        // An interval has at most 32 bits, and a migration may double it, so no mean is above
        // 2·2³².
        self.centers.iter().all(|&center| center <= 2 << u32::BITS)
            && self.weights.iter().all(|weight| (1..=self.pages_per_block).contains(weight))
            && self.writes.iter().all(|&writes| writes <= self.writes_between_splits)
            && (1..=self.writes_between_splits).contains(&self.until_split)
    }

    #[cold]
    fn split(&mut self) {
        let total: u64 = self.writes.iter().sum();
        let (mut busiest, mut idlest) = (0, 0);
        for (cluster, &writes) in self.writes.iter().enumerate() {
            if writes > self.writes[busiest] {
                busiest = cluster;
            }
            if writes < self.writes[idlest] {
                idlest = cluster;
            }
        }
        if 2 * self.writes[busiest] > total && self.writes[idlest] < self.pages_per_block {
            self.centers[idlest] = self.centers[busiest] / 2;
            self.weights[idlest] = 1;
        }
        self.writes.fill(0);
        self.until_split = self.writes_between_splits;
    }

    #[inline(always)]
    fn join(&mut self, interval: u64) -> usize {
        let cluster = nearest(&self.centers, interval);
        let weight = self.weights[cluster];
        let sum = self.centers[cluster] * weight + interval;
        self.centers[cluster] = sum / (weight + 1);
        self.weights[cluster] = (weight + 1).min(self.pages_per_block);
        cluster
    }
}

impl Registered<Sizes> for Warcip {
    const ENTRY: Entry = Entry::new(
        "warcip",
        "pages separated by rewrite interval, in clusters whose mean intervals follow the workload",
    )
    .example("warcip")
    .params(&[
        Param::new("clusters", "5", Domain::Whole(2, 64), "number of clusters of host pages"),
        Param::new(
            "period",
            "64",
            Domain::Whole(1, 1 << 20),
            "host writes between two checks whether a cluster splits, in blocks per cluster",
        )
        .extent(Extent::Blocks),
        Param::new(
            "penalty",
            "double",
            Domain::Word(&["double", "age", "none"]),
            "effect of a migration on a page's rewrite interval: doubled (double), increased by \
             the page's age (age), or none",
        )
        .later(),
        Param::new(
            "start",
            "longest",
            Domain::Word(&words(&Start::ALL)),
            "cluster of a page that is written for the first time: that of the longest or shortest \
             intervals",
        )
        .later(),
    ])
    .small("warcip:clusters=3,period=2")
    .variants(&[
        "warcip:clusters=3,period=2,penalty=age,start=shortest",
        "warcip:clusters=4,period=1,penalty=none",
    ])
    .candidates(&[
        Pairs::usual(&["warcip"], &["greedy", "cost-benefit"]),
        Pairs::rare(&["warcip"], &["d-choices:d=4"]),
    ]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let clusters = params.integer("clusters");
        let pages = sizes.logical_pages as usize;
        let pages_per_block = u64::from(sizes.pages_per_block);
        let period_blocks: u64 = params.integer("period");
        let writes_between_splits = period_blocks * pages_per_block * clusters as u64;
        Ok(Warcip {
            last_writes: LastWrites::new(sizes.logical_pages)?,
            migrations: Migrations::new(params, pages)?,
            start: params.choice("start", &Start::ALL),
            // The longest mean interval starts at one drive write (one host write per logical
            // page). Each shorter mean starts at half of the next longer one.
            centers: (0..clusters).map(|c| (pages as u64) >> (clusters - 1 - c).min(63)).collect(),
            weights: vec![1; clusters],
            writes: vec![0; clusters],
            until_split: writes_between_splits,
            writes_between_splits,
            pages_per_block,
        })
    }
}

impl Placement for Warcip {
    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        let interval = self.last_writes.replace(page.logical, page.now);
        let cluster = match (interval, self.start) {
            (Some(age), _) => {
                let interval = self.migrations.lengthen(page.logical, age);
                self.join(interval)
            }
            (None, Start::Longest) => nearest(&self.centers, u64::MAX),
            (None, Start::Shortest) => self.join(0),
        };
        self.writes[cluster] += 1;
        self.until_split -= 1;
        if self.until_split == 0 {
            self.split();
        }
        cluster
    }

    fn forget(&mut self, logical: u32) {
        self.last_writes.forget(logical);
        self.migrations.lengthen(logical, 0);
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize {
        let last_writes = &self.last_writes;
        self.migrations.note(logical, || last_writes.age(logical, victim.now).unwrap_or(0));
        self.centers.len()
    }

    fn bytes(&self) -> u64 {
        self.last_writes.bytes() + self.migrations.bytes()
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        self.last_writes.prefetch(logical);
        match &self.migrations {
            Migrations::Nothing => {}
            Migrations::Any(was_migrated) => prefetch(was_migrated, logical as usize),
            Migrations::LastAge(ages) => prefetch(ages, logical as usize),
        }
    }
}

impl RegisteredPlacement for Warcip {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(params: &Params) -> Streams {
        Streams { all: params.integer::<usize>("clusters") + 1, migration: 1 }
    }
}
