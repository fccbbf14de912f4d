//! Naive drive: its pages, blocks and counters, and the requests of the host.

mod collection;
mod grouped;
mod hot_cold;
mod leveling;
mod making_room;
mod two_region;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use writeamp_engine::rng::Stream;

use crate::placements::{self, Scheme};
use crate::setup::{Hint, HostGroup, Layout, Manager, Setup};
use crate::tags::{TagCounts, Transfers};
use crate::victims::{self, Rule};
use grouped::GroupState;
use leveling::PoolMember;
use two_region::Scan;

/// Counters of the drive just after an erase, counted since the drive was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erased {
    pub erases: u64,
    /// Sum of the valid pages of all erased blocks, each counted just before its erase.
    pub migrated_pages: u64,
    pub host_pages: u64,
}

/// State of the drive at the end of its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndOfLife {
    pub after: Erased,
    pub erase_counts: Vec<u32>,
}

/// Content of a physical page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    Erased,
    /// Current version of this logical page.
    Valid(u32),
    /// Old version of a page.
    Invalid,
}

/// Moment in the life of the drive, on two clocks.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// Number of changes of blocks so far, which orders them.
    /// A change is a block that closes or becomes a candidate again, or a page that becomes invalid.
    event: u64,
    /// Host pages written so far; measures ages.
    now: u64,
}

/// Counters of the drive since it was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    pub host_programs: u64,
    pub gc_programs: u64,
    pub table_programs: u64,
    pub wear_leveling_programs: u64,
    pub erases: u64,
    pub trimmed_pages: u64,
}

/// Index in reports of the cause of a program.
#[derive(Debug, Clone, Copy)]
enum CountedFor {
    Host = 0,
    Gc = 1,
    WearLeveling = 2,
    Mapping = 5,
}

/// Number of the stream for the mapping table. Placements never return this number.
const TABLE: usize = usize::MAX;

/// Naive drive.
pub struct NaiveDrive {
    setup: Setup,
    pools: usize,
    /// All physical pages; page p is in block p / `pages_per_block`.
    pages: Vec<Page>,
    /// Free blocks of each pool; the last is opened next.
    free: Vec<Vec<u32>>,
    /// Open block of each (stream, pool) that has one.
    open: BTreeMap<(usize, usize), u32>,
    /// Closed blocks of each collection domain: the drive, or each pool.
    ///
    /// Closing appends a block, and collection swap-removes it. The order of the blocks matters
    /// only to policies that draw at random.
    closed: Vec<Vec<u32>>,
    /// Closed blocks that are not candidates of the victim policy.
    held: Vec<u32>,
    /// Closed blocks of each (stream, pool), appended and swap-removed like `closed`.
    closed_for: HashMap<(usize, usize), Vec<u32>>,
    /// Stream for which each block was last opened.
    /// A block to which wear levelling moved data has the value of the block that held them before.
    opened_for: HashMap<u32, usize>,
    /// Host pages written when each block was last opened.
    /// A block to which wear levelling moved data has the value of the block that held them before.
    opened_at: HashMap<u32, u64>,
    /// Writes of each page by the host since the page last had no data.
    writes: HashMap<u32, u64>,
    /// Host pages written before the last write of each page.
    written_at: HashMap<u32, u64>,
    closed_at: HashMap<u32, Moment>,
    changed_at: HashMap<u32, Moment>,
    /// Pool that each stream tries first.
    next_pool: HashMap<usize, usize>,
    random: Stream,
    clock: Moment,
    counters: Counters,
    erase_counts: Vec<u32>,
    rule: Box<dyn Rule>,
    scheme: Option<Box<dyn Scheme>>,
    /// State of each block in the dual pool.
    members: Vec<PoolMember>,
    /// Spare blocks of each pool; the last is used next.
    spares: Vec<Vec<u32>>,
    migrated_pages: u64,
    first_to_reach: Vec<Erased>,
    end_of_life: Option<EndOfLife>,
    /// Latest description of the host's groups.
    host_groups: Vec<HostGroup>,
    /// State of a manager with groups, if the drive has one.
    group_state: Option<GroupState>,
    /// Scan for victims of a manager with two regions.
    scan: Scan,
    /// Tag of the write that is being served.
    tag: u8,
    /// Tag of the current version of each page.
    tag_of: HashMap<u32, u8>,
    by_tag: TagCounts,
    transfers: Transfers,
}

impl NaiveDrive {
    /// Returns a new, erased drive.
    ///
    /// The logical space is not checked: the caller leaves enough spare space for collection.
    pub fn new(setup: Setup) -> Self {
        let Setup { blocks, pages_per_block, luns, layout, wear, .. } = setup;
        let pools = if layout == Layout::Flat { 1 } else { luns };
        let domains = layout.domains(luns);
        let blocks_per_pool = blocks / pools;
        let usable_per_pool = blocks_per_pool - wear.spare_blocks_per_pool;
        let blocks_of_pools = |first, end| {
            (0..pools)
                .map(|pool| pool * blocks_per_pool + first..pool * blocks_per_pool + end)
                .map(|blocks| blocks.rev().collect()) // the lowest block is used first
                .collect()
        };
        let rule = victims::rule(&setup.victims);
        let scheme = match &setup.manager {
            Manager::Placed(spec) => Some(placements::scheme(spec, &setup)),
            _ => None,
        };
        let mut drive = NaiveDrive {
            random: Stream::new(setup.seed, "victims"),
            setup,
            pools: pools as usize,
            pages: vec![Page::Erased; (blocks * pages_per_block) as usize],
            free: blocks_of_pools(0, usable_per_pool),
            open: BTreeMap::new(),
            closed: vec![Vec::new(); domains as usize],
            held: Vec::new(),
            closed_for: HashMap::new(),
            opened_for: HashMap::new(),
            opened_at: HashMap::new(),
            rule,
            scheme,
            writes: HashMap::new(),
            written_at: HashMap::new(),
            closed_at: HashMap::new(),
            changed_at: HashMap::new(),
            next_pool: HashMap::new(),
            clock: Moment { event: 0, now: 0 },
            counters: Counters::default(),
            erase_counts: vec![0; blocks as usize],
            members: (0..blocks)
                .map(|block| PoolMember { in_cold_pool: block % 2 == 1, effective_erases: 0 })
                .collect(),
            spares: blocks_of_pools(usable_per_pool, blocks_per_pool),
            migrated_pages: 0,
            first_to_reach: Vec::new(),
            end_of_life: None,
            host_groups: Vec::new(),
            group_state: None,
            scan: Scan::default(),
            tag: 0,
            tag_of: HashMap::new(),
            by_tag: TagCounts::new(),
            transfers: Transfers::new(),
        };
        match drive.setup.manager {
            Manager::HotCold { .. } => {
                (0..drive.pools).for_each(|pool| drive.replace_full_frontiers(pool));
            }
            Manager::Grouped(rules) => {
                let reserve_blocks = drive.reserve_blocks() as u32;
                drive.group_state =
                    Some(GroupState::new(rules, &drive.setup, pools, reserve_blocks));
                drive.set_targets();
            }
            Manager::Placed(_) | Manager::TwoRegion { .. } => {}
        }
        drive
    }

    /// Sets the sizes and write shares of the host's groups of pages.
    pub fn set_host_groups(&mut self, groups: &[HostGroup]) {
        if self.host_groups == groups {
            return;
        }
        self.host_groups = groups.to_vec();
        if self.group_state.is_some() {
            self.set_groups(groups);
        }
    }

    /// Writes one logical page for the host.
    pub fn write(&mut self, logical: u32, hint: Hint) {
        *self.writes.entry(logical).or_default() += 1;
        self.written_at.insert(logical, self.clock.now);
        self.tag = match &self.scheme {
            Some(scheme) if self.setup.counts_handles => scheme.handle(logical, hint),
            _ => hint.tag,
        };
        if let Manager::HotCold { .. } = self.setup.manager {
            return self.write_hot_or_cold(logical, self.is_hot(hint.group));
        }
        if let Manager::TwoRegion { below } = self.setup.manager {
            return self.write_to_host_region(logical, below);
        }
        if let Manager::Grouped(_) = self.setup.manager {
            return self.write_to_group(logical, usize::from(hint.group));
        }
        if logical >= self.setup.logical_pages - self.setup.table_pages {
            let pool = self.make_room(logical, TABLE);
            self.invalidate(logical);
            self.program(logical, TABLE, pool);
            self.counters.table_programs += 1;
            self.count_written(logical, CountedFor::Mapping);
            return;
        }
        let now = self.clock.now;
        let mut scheme = self.scheme.take().expect("the drive must have a placement");
        if scheme.needs_blocks() {
            let closed = self.closed.iter().flatten().chain(&self.held);
            let closed = closed.filter(|block| self.opened_for[block] != TABLE);
            scheme.observe_blocks(closed.map(|&block| self.valid_pages(block)).collect(), now);
        }
        let stream = scheme.host(logical, now, hint);
        self.scheme = Some(scheme);
        let pool = self.make_room(logical, stream);
        self.host_programs(logical, stream, pool);
    }

    /// Unmaps one logical page for the host.
    pub fn trim(&mut self, logical: u32) {
        if self.invalidate(logical) {
            self.counters.trimmed_pages += 1;
            self.writes.remove(&logical);
            self.written_at.remove(&logical);
            if let Some(scheme) = &mut self.scheme {
                scheme.on_unmapped(logical);
            }
            if let Some(state) = &mut self.group_state {
                state.on_unmapped(logical);
            }
        }
    }

    /// Returns the physical page of the current version of a logical page, if it has one.
    pub fn physical(&self, logical: u32) -> Option<u32> {
        self.pages.iter().position(|&page| page == Page::Valid(logical)).map(|page| page as u32)
    }

    /// Returns the physical page of every logical page that has a current version.
    pub fn map(&self) -> BTreeMap<u32, u32> {
        let mapped = |(physical, page): (usize, &Page)| match *page {
            Page::Valid(logical) => Some((logical, physical as u32)),
            Page::Erased | Page::Invalid => None,
        };
        self.pages.iter().enumerate().filter_map(mapped).collect()
    }

    /// Returns the number of invalid pages of `block`.
    pub fn invalid_pages(&self, block: u32) -> u32 {
        self.pages_of(block).iter().filter(|page| **page == Page::Invalid).count() as u32
    }

    /// Returns the erases of each block.
    pub fn erase_counts(&self) -> &[u32] {
        &self.erase_counts
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the programs by tag and cause.
    pub fn by_tag(&self) -> &TagCounts {
        &self.by_tag
    }

    /// Returns the counters when the first block reached n erases, for n = 1, 2, … in order.
    ///
    /// The list ends with the wear limit; it is empty without one.
    pub fn first_to_reach(&self) -> &[Erased] {
        &self.first_to_reach
    }

    pub fn end_of_life(&self) -> Option<&EndOfLife> {
        self.end_of_life.as_ref()
    }

    /// Returns the remaining spare blocks of each pool.
    pub fn spares(&self) -> &[Vec<u32>] {
        &self.spares
    }

    /// Returns the pages that collection moved between the blocks of handles.
    pub fn transfers(&self) -> &Transfers {
        &self.transfers
    }

    fn host_programs(&mut self, logical: u32, stream: usize, pool: usize) {
        self.clock.now += 1;
        self.invalidate(logical);
        self.program(logical, stream, pool);
        self.counters.host_programs += 1;
        self.count_written(logical, CountedFor::Host);
    }

    /// Counts the program of a page with its new tag.
    fn count_written(&mut self, logical: u32, cause: CountedFor) {
        self.tag_of.insert(logical, self.tag);
        *self.by_tag.entry((self.tag, cause as usize)).or_default() += 1;
    }

    /// Counts the program of a page that collection has moved.
    fn count_gc(&mut self, logical: u32) {
        self.counters.gc_programs += 1;
        self.count_moved(logical, CountedFor::Gc);
    }

    /// Counts a moved page under the tag of its current version.
    fn count_moved(&mut self, logical: u32, cause: CountedFor) {
        *self.by_tag.entry((self.tag_of[&logical], cause as usize)).or_default() += 1;
    }

    /// Invalidates the current version of `logical`; true if there was one.
    fn invalidate(&mut self, logical: u32) -> bool {
        let Some(page) = self.physical(logical) else { return false };
        self.pages[page as usize] = Page::Invalid;
        self.clock.event += 1;
        self.changed_at.insert(page / self.setup.pages_per_block, self.clock);
        true
    }

    /// Programs `logical` to the first erased page of the open block; closes a full block.
    fn program(&mut self, logical: u32, stream: usize, pool: usize) {
        let block = self.open[&(stream, pool)];
        let erased = self.pages_of(block).iter().filter(|page| **page == Page::Erased).count();
        let next = self.range_of(block).end - erased;
        self.pages[next] = Page::Valid(logical);
        if erased == 1 {
            self.open.remove(&(stream, pool));
            let domain = self.domain_of(block);
            let scheme = self.scheme.as_mut().filter(|_| stream != TABLE);
            let is_held = scheme.is_some_and(|scheme| scheme.on_close(block, stream, domain));
            self.close_block(block, is_held);
        }
    }

    /// Closes `block`; it becomes a candidate of the victim policy unless `is_held`.
    fn close_block(&mut self, block: u32, is_held: bool) {
        let (domain, pool) = (self.domain_of(block), self.pool_of(block));
        if is_held {
            self.held.push(block);
        } else {
            self.closed[domain].push(block);
        }
        self.closed_for.entry((self.opened_for[&block], pool)).or_default().push(block);
        self.clock.event += 1;
        self.closed_at.insert(block, self.clock);
        self.changed_at.insert(block, self.clock);
    }

    /// Returns the logical pages with their current version in `block`.
    fn valid_pages(&self, block: u32) -> Vec<u32> {
        let valid =
            |page: &Page| if let Page::Valid(logical) = page { Some(*logical) } else { None };
        self.pages_of(block).iter().filter_map(valid).collect()
    }

    fn range_of(&self, block: u32) -> Range<usize> {
        let pages = self.setup.pages_per_block as usize;
        block as usize * pages..(block as usize + 1) * pages
    }

    fn pages_of(&self, block: u32) -> &[Page] {
        &self.pages[self.range_of(block)]
    }

    fn pool_of(&self, block: u32) -> usize {
        block as usize / (self.setup.blocks as usize / self.pools)
    }

    fn domain_of(&self, block: u32) -> usize {
        if self.closed.len() == 1 { 0 } else { self.pool_of(block) }
    }
}
