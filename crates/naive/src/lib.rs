//! The slow, obvious flash drive that the tests hold `writeamp-engine` against.
//!
//! It keeps what it must and counts the rest anew on every question: the list of physical pages is
//! the only record of the data, so "where is this logical page" and "how many pages of this block
//! are invalid" are searches of that list. It shares nothing with the engine but
//! `writeamp_engine::rng::Stream`, so that both draw the same random numbers, and the lists of the
//! policies that there must be a twin of; a test holds it to that.

mod grouped;
mod hot_cold;
mod leveling;
mod placements;
mod spec;
pub mod timed;
mod victims;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use writeamp_engine::rng::Stream;

use grouped::Books;
use leveling::PoolMember;
use placements::{Collected, Scheme};
use victims::Rule;

pub use grouped::GroupRules;
pub use leveling::Leveling;
pub use spec::Spec;
pub use victims::Candidate;

/// Rule for the write streams: their number, and the stream of each kind of write.
#[derive(Debug, Clone, PartialEq)]
pub enum Manager {
    /// Stream 0 for hot pages, stream 1 for cold ones. With a number, hot and cold blocks swap,
    /// and the second victim is the best of so many drawn.
    HotCold { d_swap: Option<u32> },
    /// A stream for each group of pages.
    Grouped(GroupRules),
    /// Streams of a placement.
    Placed(Spec),
}

/// Description that the host gives of one of its groups of pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostGroup {
    pub pages: u32,
    /// Share of the host's writes that goes to the group.
    pub write_share: f64,
}

/// Hint that the host gives with a page that it writes, for managers that use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    /// Index of the group, of those that the drive has heard of.
    pub group: u8,
    /// The clock at which the page is going to be invalid.
    pub invalidation_time: Option<u64>,
}

/// Division of the blocks into pools, and the unit that collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One pool.
    Flat,
    /// A pool for each LUN; collection looks at the whole drive.
    Striped,
    /// A pool for each LUN, which collects for itself.
    StripedPerLun,
    /// A pool for each LUN, as before, and a logical page goes to the LUN that it belongs to.
    Static,
}

impl Layout {
    /// Parts of a drive of so many LUNs that collect for themselves.
    fn domains(self, luns: u32) -> u32 {
        match self {
            Layout::Flat | Layout::Striped => 1,
            Layout::StripedPerLun | Layout::Static => luns,
        }
    }
}

/// A drive to be built.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Erase units in the drive.
    pub blocks: u32,
    pub pages_per_block: u32,
    pub logical_pages: u32,
    /// The last of them that hold a mapping table, whose blocks hold nothing else.
    pub table_pages: u32,
    /// Units that the blocks are divided over, in consecutive ranges of equal length.
    pub luns: u32,
    pub layout: Layout,
    pub manager: Manager,
    pub victims: Spec,
    pub leveling: Leveling,
    pub seed: u64,
    pub wear: Wear,
}

/// Limit of erases of a block, and the spares that replace worn ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wear {
    /// Erases after which a block is worn out, if ever.
    pub limit: Option<u32>,
    /// Blocks at the end of each pool that are not used until they replace worn ones.
    pub spare_blocks_per_pool: u32,
}

/// Counters of the drive by the end of an erase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erased {
    pub erases: u64,
    /// Valid pages that were on the blocks erased.
    pub migrated_pages: u64,
    pub host_pages: u64,
}

/// The drive at the end of its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndOfLife {
    pub after: Erased,
    pub erase_counts: Vec<u32>,
}

/// Content of a physical page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    Erased,
    /// The current version of this logical page.
    Valid(u32),
    /// Something invalid.
    Invalid,
}

/// A moment in the life of the drive.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// Closes and invalidations so far: tells which of two changes came first.
    event: u64,
    /// Host pages written so far: measures age.
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

/// The stream of the mapping table, which no placement has.
const TABLE: usize = usize::MAX;

/// The drive.
pub struct NaiveDrive {
    setup: Setup,
    pools: usize,
    /// Every physical page; page p lies in block p / `pages_per_block`.
    pages: Vec<Page>,
    /// The free blocks of each pool; the last is opened next.
    free: Vec<Vec<u32>>,
    /// The open block of each (stream, pool) that has one.
    open: BTreeMap<(usize, usize), u32>,
    /// The closed blocks of each collection domain: the drive, or each pool. Closing appends, a
    /// choice swap-removes; only the policies that draw at random can tell.
    closed: Vec<Vec<u32>>,
    /// Closed blocks that are held back from the victim policy.
    held: Vec<u32>,
    /// The closed blocks of each (stream, pool), in an order of the same kind.
    closed_for: HashMap<(usize, usize), Vec<u32>>,
    /// The stream that each block was last opened for.
    opened_for: HashMap<u32, usize>,
    /// Host pages written when each block was last opened.
    opened_at: HashMap<u32, u64>,
    /// Writes of each page by the host since it last had no data, and its clock before the last.
    writes: HashMap<u32, u64>,
    written_at: HashMap<u32, u64>,
    closed_at: HashMap<u32, Moment>,
    changed_at: HashMap<u32, Moment>,
    /// The pool that each stream tries first.
    next_pool: HashMap<usize, usize>,
    random: Stream,
    clock: Moment,
    counters: Counters,
    erase_counts: Vec<u32>,
    rule: Box<dyn Rule>,
    scheme: Option<Box<dyn Scheme>>,
    /// State of each block in the dual pool.
    members: Vec<PoolMember>,
    /// The spare blocks of each pool; the last is used next.
    spares: Vec<Vec<u32>>,
    migrated_pages: u64,
    first_to_reach: Vec<Erased>,
    end_of_life: Option<EndOfLife>,
    /// The groups of the host, as it described them last.
    said: Vec<HostGroup>,
    /// State of a manager with groups.
    books: Option<Books>,
}

impl NaiveDrive {
    /// A new, erased drive. The logical space has no bound of its own here; the caller keeps it
    /// small enough for collection to gain something.
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
            said: Vec::new(),
            books: None,
        };
        match drive.setup.manager {
            Manager::HotCold { .. } => {
                (0..drive.pools).for_each(|pool| drive.replace_full_frontiers(pool));
            }
            Manager::Grouped(rules) => {
                let reserve_blocks = drive.reserve_blocks() as u32;
                drive.books = Some(Books::new(rules, &drive.setup, pools, reserve_blocks));
                drive.set_targets();
            }
            Manager::Placed(_) => {}
        }
        drive
    }

    /// The host says what its groups of pages are like from now on.
    pub fn hear(&mut self, groups: &[HostGroup]) {
        if self.said == groups {
            return;
        }
        self.said = groups.to_vec();
        if self.books.is_some() {
            self.hear_groups(groups);
        }
    }

    /// The host writes one logical page.
    pub fn write(&mut self, logical: u32, hint: Hint) {
        *self.writes.entry(logical).or_default() += 1;
        self.written_at.insert(logical, self.clock.now);
        if let Manager::HotCold { .. } = self.setup.manager {
            return self.write_hot_or_cold(logical, self.is_hot(hint.group));
        }
        if let Manager::Grouped(_) = self.setup.manager {
            return self.write_to_group(logical, usize::from(hint.group));
        }
        if logical >= self.setup.logical_pages - self.setup.table_pages {
            let pool = self.make_room(logical, TABLE);
            self.invalidate(logical);
            self.program(logical, TABLE, pool);
            self.counters.table_programs += 1;
            return;
        }
        let now = self.clock.now;
        let mut scheme = self.scheme.take().expect("only placements get here");
        if scheme.wants_blocks() {
            let closed = self.closed.iter().flatten().chain(&self.held);
            let closed = closed.filter(|block| self.opened_for[block] != TABLE);
            scheme.sees_blocks(closed.map(|&block| self.valid_pages(block)).collect(), now);
        }
        let stream = scheme.host(logical, now, hint);
        self.scheme = Some(scheme);
        let pool = self.make_room(logical, stream);
        self.host_programs(logical, stream, pool);
    }

    /// The host declares one logical page unused.
    pub fn trim(&mut self, logical: u32) {
        if self.invalidate(logical) {
            self.counters.trimmed_pages += 1;
            self.writes.remove(&logical);
            self.written_at.remove(&logical);
            if let Some(scheme) = &mut self.scheme {
                scheme.forgets(logical);
            }
            if let Some(books) = &mut self.books {
                books.forgets(logical);
            }
        }
    }

    /// Collects one victim while nobody waits for it, on a LUN that is idle, if one is found that
    /// has an invalid page; true if so.
    pub fn collect_idle(&mut self, lun: u32) -> bool {
        let pool = if self.pools == 1 { 0 } else { lun as usize };
        if self.books.is_some() {
            return self.collect_most_invalid(pool);
        }
        if self.scheme.is_none() {
            return false; // hot and cold frontiers collect when one is full, at no other time
        }
        let domain = if self.closed.len() == 1 { 0 } else { pool };
        let mut pools = (0..self.pools).filter(|&pool| self.closed.len() == 1 || pool == domain);
        if pools.any(|pool| self.free[pool].len() < self.reserve_blocks()) {
            return false;
        }
        let own = self.own_victim(domain, true);
        if let Some(victim) = own.filter(|&victim| self.invalid_pages(victim) > 0) {
            self.collect_block(victim);
            return true;
        }
        if self.closed[domain].is_empty() {
            return false;
        }
        let victim = self.choose(domain);
        if self.invalid_pages(victim) > 0 {
            self.collect_block(victim);
            return true;
        }
        // It is a candidate as if it had closed just now.
        swap_remove(&mut self.closed[domain], victim);
        self.closed[domain].push(victim);
        self.clock.event += 1;
        self.closed_at.insert(victim, self.clock);
        self.changed_at.insert(victim, self.clock);
        false
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

    /// Pages of `block` that hold something invalid.
    pub fn invalid_pages(&self, block: u32) -> u32 {
        self.pages_of(block).iter().filter(|page| **page == Page::Invalid).count() as u32
    }

    /// Erases of each block.
    pub fn erase_counts(&self) -> &[u32] {
        &self.erase_counts
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The first erase that was the n-th of its block, for n = 1, 2, … up to the wear limit.
    pub fn first_to_reach(&self) -> &[Erased] {
        &self.first_to_reach
    }

    pub fn end_of_life(&self) -> Option<&EndOfLife> {
        self.end_of_life.as_ref()
    }

    /// The spare blocks left, pool by pool.
    pub fn spares(&self) -> &[Vec<u32>] {
        &self.spares
    }

    fn host_programs(&mut self, logical: u32, stream: usize, pool: usize) {
        self.clock.now += 1;
        self.invalidate(logical);
        self.program(logical, stream, pool);
        self.counters.host_programs += 1;
    }

    /// Makes room for a page of a stream; returns the pool.
    fn make_room(&mut self, logical: u32, stream: usize) -> usize {
        match self.setup.layout {
            Layout::Flat => self.make_room_alone(stream, 0),
            Layout::Static => self.make_room_alone(stream, logical as usize % self.pools),
            Layout::Striped | Layout::StripedPerLun => self.make_room_striped(stream),
        }
    }

    /// Makes room in a pool that no other helps out; returns it.
    fn make_room_alone(&mut self, stream: usize, pool: usize) -> usize {
        while !self.has_room(stream, pool) {
            if self.can_open(pool) {
                self.open_block(stream, pool);
            } else {
                self.collect(pool);
            }
        }
        pool
    }

    /// True if the host may write a page of `stream` to `pool`.
    ///
    /// There must be an open block, and as many free ones as must be kept back.
    fn has_room(&self, stream: usize, pool: usize) -> bool {
        self.open.contains_key(&(stream, pool)) && self.free[pool].len() >= self.reserve_blocks()
    }

    fn make_room_striped(&mut self, stream: usize) -> usize {
        loop {
            let first = self.next_pool.get(&stream).copied().unwrap_or(0);
            for pool in (first..self.pools).chain(0..first) {
                if self.make_room_on(stream, pool) {
                    self.next_pool.insert(stream, (pool + 1) % self.pools);
                    return pool;
                }
            }
            assert_eq!(self.setup.layout, Layout::Striped, "some LUN can make room for itself");
            self.collect(0);
        }
    }

    /// True if `pool` can take a page of `stream` now.
    fn make_room_on(&mut self, stream: usize, pool: usize) -> bool {
        let collects_for_itself = self.setup.layout == Layout::StripedPerLun;
        loop {
            if self.has_room(stream, pool) {
                return true;
            } else if self.can_open(pool) {
                self.open_block(stream, pool);
            } else if collects_for_itself && self.has_invalid(pool) {
                self.collect(pool);
            } else {
                return false;
            }
        }
    }

    /// True if a closed block of `pool` has an invalid page.
    fn has_invalid(&self, pool: usize) -> bool {
        let mut closed = self.closed.iter().flatten().chain(&self.held);
        closed.any(|&block| self.pool_of(block) == pool && self.invalid_pages(block) > 0)
    }

    fn open_block(&mut self, stream: usize, pool: usize) {
        let block = self.take_free(pool);
        let before = self.open.insert((stream, pool), block);
        assert_eq!(before, None, "a stream has one open block in a pool");
        self.opened_for.insert(block, stream);
        self.opened_at.insert(block, self.clock.now);
        if let Some(books) = &mut self.books {
            *books.opened.entry(pool).or_default() += 1;
        }
    }

    /// Invalidates the current version of `logical`; true if there was one.
    fn invalidate(&mut self, logical: u32) -> bool {
        let Some(page) = self.physical(logical) else { return false };
        self.pages[page as usize] = Page::Invalid;
        self.clock.event += 1;
        self.changed_at.insert(page / self.setup.pages_per_block, self.clock);
        true
    }

    /// Programs `logical` to the first erased page of the open block. Closes the block if that
    /// was its last.
    fn program(&mut self, logical: u32, stream: usize, pool: usize) {
        let block = self.open[&(stream, pool)];
        let erased = self.pages_of(block).iter().filter(|page| **page == Page::Erased).count();
        let next = self.range_of(block).end - erased;
        self.pages[next] = Page::Valid(logical);
        if erased == 1 {
            self.open.remove(&(stream, pool));
            let domain = self.domain_of(block);
            let scheme = self.scheme.as_mut().filter(|_| stream != TABLE);
            let is_held = scheme.is_some_and(|scheme| scheme.closes(block, stream, domain));
            self.closes(block, is_held);
        }
    }

    /// `block` is full, and a candidate from now on if it is not held back.
    fn closes(&mut self, block: u32, is_held: bool) {
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

    fn collect(&mut self, domain: usize) {
        let own = self.own_victim(domain, false);
        let victim = own.unwrap_or_else(|| self.choose(domain));
        self.collect_block(victim);
    }

    /// Returns the victim that the scheme insists on.
    ///
    /// Blocks that it holds back no longer are candidates as if they had closed just now.
    fn own_victim(&mut self, domain: usize, is_idle: bool) -> Option<u32> {
        let is_data = |block: &&u32| self.opened_for[*block] != TABLE;
        let candidates = self.closed[domain].iter().filter(is_data).count();
        let scheme = self.scheme.as_mut()?;
        let own = scheme.victim(domain, is_idle, candidates);
        for block in scheme.gives_up() {
            let domain = self.domain_of(block);
            self.held.retain(|&held| held != block);
            self.closed[domain].push(block);
            self.clock.event += 1;
            self.closed_at.insert(block, self.clock);
            self.changed_at.insert(block, self.clock);
        }
        own
    }

    fn collect_block(&mut self, victim: u32) {
        let pool = self.pool_of(victim);
        let from = Collected {
            block: victim,
            stream: self.opened_for[&victim],
            opened: self.opened_at[&victim],
            now: self.clock.now,
        };
        let is_table = from.stream == TABLE;
        if let Some(scheme) = self.scheme.as_mut().filter(|_| !is_table) {
            scheme.collected(from);
        }
        for logical in self.erase_victim(victim) {
            let scheme =
                self.scheme.as_mut().expect("hot and cold blocks have a collection of their own");
            let stream = if is_table { TABLE } else { scheme.migrated(logical, from) };
            if !self.open.contains_key(&(stream, pool)) {
                self.open_block(stream, pool);
            }
            self.program(logical, stream, pool);
            self.counters.gc_programs += 1;
        }
    }

    /// Chooses a victim by the policy of the drive.
    fn choose(&mut self, domain: usize) -> u32 {
        let candidates: Vec<Candidate> =
            self.closed[domain].iter().map(|&block| self.candidate(block)).collect();
        let choice = self.rule.choose(&candidates, &mut self.random);
        self.closed[domain][choice]
    }

    /// Erases a victim and levels wear.
    ///
    /// Its valid pages, which are returned, are then in the hands of the controller.
    fn erase_victim(&mut self, victim: u32) -> Vec<u32> {
        let migrating = self.erase(victim);
        self.level(victim);
        migrating
    }

    /// Erases a closed block.
    fn erase(&mut self, victim: u32) -> Vec<u32> {
        let (domain, pool) = (self.domain_of(victim), self.pool_of(victim));
        let stream = self.opened_for[&victim];
        let is_held = self.held.contains(&victim);
        swap_remove(if is_held { &mut self.held } else { &mut self.closed[domain] }, victim);
        swap_remove(self.closed_for.get_mut(&(stream, pool)).expect("closed blocks"), victim);
        let mut migrating = Vec::new();
        for page in self.range_of(victim) {
            if let Page::Valid(logical) = self.pages[page] {
                migrating.push(logical);
            }
            self.pages[page] = Page::Erased;
        }
        self.erase_counts[victim as usize] += 1;
        self.counters.erases += 1;
        self.migrated_pages += migrating.len() as u64;
        self.free[pool].push(victim);
        if let Some(limit) = self.setup.wear.limit {
            self.wear(victim, limit);
        }
        migrating
    }

    /// Applies the wear of an erase.
    ///
    /// `block` was just freed, and `limit` erases wear out.
    fn wear(&mut self, block: u32, limit: u32) {
        let after = Erased {
            erases: self.counters.erases,
            migrated_pages: self.migrated_pages,
            host_pages: self.counters.host_programs,
        };
        let erases = self.erase_counts[block as usize];
        if erases as usize == self.first_to_reach.len() + 1 && erases <= limit {
            self.first_to_reach.push(after);
        }
        if erases != limit {
            return;
        }
        let pool = self.pool_of(block);
        if let Some(spare) = self.spares[pool].pop() {
            self.free[pool].retain(|&free| free != block);
            self.free[pool].push(spare);
        }
        if self.spares[pool].is_empty() && self.end_of_life.is_none() {
            let erase_counts = self.erase_counts.clone();
            self.end_of_life = Some(EndOfLife { after, erase_counts });
        }
    }

    /// The logical pages whose data lies in `block`.
    fn valid_pages(&self, block: u32) -> Vec<u32> {
        let valid =
            |page: &Page| if let Page::Valid(logical) = page { Some(*logical) } else { None };
        self.pages_of(block).iter().filter_map(valid).collect()
    }

    fn candidate(&self, block: u32) -> Candidate {
        let invalid_pages = self.invalid_pages(block);
        let valid = self.valid_pages(block);
        Candidate {
            number: block,
            writes: valid.iter().map(|page| self.writes[page]).sum(),
            ages: valid.iter().map(|page| self.clock.now - self.written_at[page]).sum(),
            age_from_close: self.clock.now - self.closed_at[&block].now,
            valid_pages: self.setup.pages_per_block - invalid_pages,
            invalid_pages,
            closed: self.closed_at[&block].event,
            changed: self.changed_at[&block].event,
            age: self.clock.now - self.changed_at[&block].now,
        }
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

fn swap_remove(blocks: &mut Vec<u32>, block: u32) {
    let place = blocks.iter().position(|&other| other == block).expect("a block of the list");
    blocks.swap_remove(place);
}

/// True if the twin of the policy that `spec` names is in `module`.
fn is_module_of(module: &str, spec: &Spec) -> bool {
    module.split('_').eq(spec.name.split('-'))
}
