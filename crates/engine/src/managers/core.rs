//! Core of managers that collect one block at a time: drive, frontiers and victim policies.
//! It reports all changes of blocks to the victim policies.

mod exchange;
mod history;
mod state;

pub use exchange::Exchange;

use super::Setup;
use crate::error::{Error, Result};
use crate::flash::{
    BlockState, Cause, Director, Each, Flash, Frontier, Loss, MAP_LOOKAHEAD, Notice, Score, Tap,
};
use crate::leveling::{self, WearLeveler};
use crate::rng::Stream;
use crate::state::Identity;
use crate::victims::{Bag, Situation, VictimPolicy};
use crate::write_history::WriteHistory;

/// Prefetch distance of a write: data that belongs to a page is fetched this many pages
/// ahead.
pub const PAGE_LOOKAHEAD: usize = 10;

/// Flash with victim policies, and a write frontier (a block being filled) per stream and
/// pool.
pub struct Core<V, T: Tap> {
    pub flash: Flash<T>,
    /// Frontiers of all streams and pools; [`Core::frontier`] computes the index.
    pub frontiers: Vec<Frontier>,
    /// One victim policy per collection domain, which is the drive or a pool.
    victims: Vec<V>,
    random: Stream,
    /// Number of consecutive victims without an invalid page, up to the last victim.
    gainless: u64,
    /// For each block: true if the victim policy may not choose it.
    /// Empty until a first block is held.
    held: Vec<bool>,
    /// Wear levellers, one per pool. Empty if the drive has no wear levelling.
    levelers: Vec<Box<dyn WearLeveler>>,
    reserve_blocks: u32,
    /// Pages moved by an exchange of the wear leveller.
    exchanged: Vec<u32>,
    /// Write history of the pages, if a policy uses it.
    history: Option<WriteHistory>,
    /// All settings that the drive was built from. A saved state must have the same ones.
    pub identity: Identity,
}

impl<V: VictimPolicy, T: Tap> Core<V, T> {
    /// Builds a new drive for `streams` streams.
    /// Up to `reserve_blocks` free blocks of each pool are reserved, in addition to the reserve of
    /// a wear leveller.
    pub fn new(
        policy: V,
        setup: &Setup,
        streams: u32,
        reserve_blocks: u32,
        tap: T,
    ) -> Result<Self> {
        let (layout, random) = (setup.layout, setup.random("victims"));
        let leveler = setup.wear_leveling.as_ref().map(|spec| {
            let build = || leveling::build(spec, &setup.geometry);
            (0..layout.pools().count(&setup.geometry)).map(|_| build()).collect::<Result<Vec<_>>>()
        });
        let levelers = leveler.transpose()?.unwrap_or_default();
        let leveler_blocks = leveling::reserve_blocks(setup.wear_leveling.as_deref())?;
        let reserve_blocks = reserve_blocks.saturating_add(leveler_blocks);
        let flash = setup.flash(tap)?;
        let domains = layout.domains(&setup.geometry) as usize;
        let uses_write_history = policy.uses_write_history();
        let mut core = Core {
            frontiers: vec![Frontier::default(); streams as usize * flash.pools()],
            victims: vec![policy; domains],
            flash,
            random,
            gainless: 0,
            held: Vec::new(),
            levelers,
            reserve_blocks,
            exchanged: Vec::new(),
            history: None,
            identity: Identity::default(),
        };
        if uses_write_history {
            core.keep_history()?;
        }
        Ok(core)
    }

    /// Host pages written, which is the clock of the policies.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.flash.counters().host.written_pages
    }

    /// Index of a stream's frontier on a pool.
    #[inline(always)]
    pub fn frontier(&self, stream: usize, pool: usize) -> usize {
        stream * self.flash.pools() + pool
    }

    /// Victim policy of a drive that collects as a whole, so that it has a single policy.
    #[inline(always)]
    pub fn candidates(&self) -> &V {
        &self.victims[0]
    }

    /// Victim policy of a drive that collects as a whole, mutable.
    #[inline(always)]
    pub fn candidates_mut(&mut self) -> &mut V {
        &mut self.victims[0]
    }

    #[inline(always)]
    pub fn prefetch(&self, pages: &[u32], at: usize) {
        if let Some(&logical) = pages.get(at + MAP_LOOKAHEAD) {
            self.flash.prefetch_map(logical);
        }
        if let Some(&logical) = pages.get(at + PAGE_LOOKAHEAD)
            && let Some(block) = self.flash.prefetch_invalidation(logical)
        {
            self.victims[self.domain_of(block)].prefetch(block);
        }
    }

    /// Programs a host page at a frontier with room.
    /// Returns the block of its previous version, or None.
    #[inline(always)]
    pub fn program(&mut self, logical: u32, frontier: usize) -> Option<u32> {
        self.flash.count_host_page();
        let frontier = &mut self.frontiers[frontier];
        let loss = self.flash.program(logical, frontier, Cause::Host)?;
        self.on_invalidate(loss);
        Some(loss.block)
    }

    /// Programs a page of the mapping table at a frontier with room.
    /// Returns the block of its previous version, or None.
    pub fn program_table_page(&mut self, logical: u32, frontier: usize) -> Option<u32> {
        let loss = self.flash.program(logical, &mut self.frontiers[frontier], Cause::Mapping)?;
        self.on_invalidate(loss);
        Some(loss.block)
    }

    /// Programs host pages at a frontier until it is full or all are written.
    /// Returns their number. The drive must have one collection domain.
    #[inline(always)]
    pub fn program_run(&mut self, pages: &[u32], frontier: usize) -> usize {
        let (frontier, policy) = (&mut self.frontiers[frontier], &mut self.victims[0]);
        if pages.len() >= frontier.room_pages() as usize
            && let Some(block) = policy.prefetch_choice()
        {
            self.flash.prefetch_block(block);
        }
        self.flash.program_run(pages, frontier, |Loss { block, invalid_pages }, now| {
            policy.on_invalidate(block, invalid_pages, now);
        })
    }

    /// Programs host pages, each at its own frontier; see [`Flash::program_each`].
    #[inline(always)]
    pub fn program_each<'a, D: Director>(
        &'a mut self,
        pages: &[u32],
        first: usize,
        director: impl FnOnce(&'a mut V) -> D,
    ) -> Each {
        let director = director(&mut self.victims[0]);
        self.flash.program_each(pages, &mut self.frontiers, first, director)
    }

    /// Unmaps a page. Returns false if it was not mapped.
    pub fn trim(&mut self, logical: u32) -> bool {
        let Some(loss) = self.flash.trim(logical) else { return false };
        if let Some(history) = &mut self.history {
            history.forget(logical, loss.block);
        }
        self.on_invalidate(loss);
        true
    }

    #[inline(always)]
    fn on_invalidate(&mut self, Loss { block, invalid_pages }: Loss) {
        let (domain, now) = (self.domain_of(block), self.now());
        self.victims[domain].on_invalidate(block, invalid_pages, now);
    }

    /// True if `pool` has a free block beyond its reserve.
    #[inline(always)]
    pub fn can_open(&self, pool: usize) -> bool {
        self.flash.free_blocks(pool) > self.reserve_blocks
    }

    /// True if `pool` has at least as many free blocks as its reserve requires.
    #[inline(always)]
    pub fn reserve_is_complete(&self, pool: usize) -> bool {
        self.flash.free_blocks(pool) >= self.reserve_blocks
    }

    /// Opens a free block of `pool` for `frontier` and returns it.
    /// It is the block that joined the pool last, unless a wear leveller chooses another.
    pub fn open(&mut self, frontier: usize, pool: usize) -> u32 {
        self.frontiers[frontier] = match self.levelers.get_mut(pool) {
            None => self.flash.open(pool),
            Some(leveler) => {
                let at = leveler.open(self.flash.free(pool), self.flash.erase_counts());
                self.flash.open_at(pool, at)
            }
        };
        let block = self.flash.block_behind(&self.frontiers[frontier]);
        self.flash.notify(&Notice::Open { block, frontier: Some(frontier as u32) });
        block
    }

    /// Fills the incomplete program unit of the open block `block`.
    /// Returns the block's frontier. Adds no page if the last unit is complete. Returns None if
    /// `block` is not open or is full, or if the pool has fewer free blocks than its reserve
    /// requires.
    pub fn pad(&mut self, block: u32, unit_pages: u32) -> Option<usize> {
        let is_behind =
            |frontier: &Frontier| !frontier.is_full() && self.flash.block_behind(frontier) == block;
        let at = self.frontiers.iter().position(is_behind)?;
        if !self.reserve_is_complete(self.flash.pool_of(block)) {
            return None;
        }
        let begun_pages = self.frontiers[at].next_page() % unit_pages;
        if begun_pages > 0 {
            self.flash.pad(&mut self.frontiers[at], unit_pages - begun_pages);
        }
        Some(at)
    }

    /// Closes the block of a full frontier, which makes it a candidate. Returns the block.
    #[inline(always)]
    pub fn close(&mut self, frontier: usize) -> u32 {
        self.close_behind(self.frontiers[frontier])
    }

    /// Sets whether the victim policy may not choose `block`, which is about to close.
    pub fn hold(&mut self, block: u32, is_held: bool) {
        if is_held && self.held.is_empty() {
            self.held = vec![false; self.flash.geometry().blocks() as usize];
        }
        if !self.held.is_empty() {
            self.held[block as usize] = is_held;
        }
    }

    /// Allows the victim policy to choose a closed block that was held.
    /// It becomes a candidate as if it had just closed.
    pub fn release(&mut self, block: u32) {
        self.hold(block, false);
        self.flash.touch(block);
        let (domain, now) = (self.domain_of(block), self.now());
        self.victims[domain].on_close(block, self.flash.invalid_pages(block), now);
    }

    #[inline(always)]
    pub fn is_held(&self, block: u32) -> bool {
        !self.held.is_empty() && self.held[block as usize]
    }

    #[inline(always)]
    fn close_behind(&mut self, frontier: Frontier) -> u32 {
        let block = self.flash.close(&frontier);
        let domain = self.domain_of(block);
        let invalid_pages = self.flash.invalid_pages(block);
        if !self.is_held(block) {
            let now = self.now();
            self.victims[domain].on_close(block, invalid_pages, now);
        }
        let pool = self.flash.pool_of(block);
        if let Some(leveler) = self.levelers.get_mut(pool) {
            leveler.on_close(block, self.flash.erase_counts()[block as usize]);
        }
        block
    }

    #[inline(always)]
    pub fn domain_of(&self, block: u32) -> usize {
        if self.victims.len() == 1 { 0 } else { self.flash.pool_of(block) }
    }

    /// True if a closed block of `pool` has an invalid page, so that collecting it would free
    /// space.
    pub fn has_invalid(&self, pool: usize) -> bool {
        self.flash.blocks_of(pool).any(|block| {
            self.flash.invalid_pages(block) > 0 && self.flash.state(block) == BlockState::Closed
        })
    }

    /// Chooses the next victim of a collection domain and removes it from the candidates.
    /// Returns an error if too many victims in a row had no invalid page.
    pub fn choose_victim(&mut self, domain: usize) -> Result<u32> {
        let scores = self.scores(domain);
        let Some(victim) = self.choose_candidate(domain) else {
            let failure = self.victims[domain].failure();
            return Err(failure.expect(
                "without a failure of the victim policy, a drive that collects has closed blocks",
            ));
        };
        self.count_gain(victim);
        self.notify_victim(victim, self.victims[domain].measure(), &scores);
        // If only one block of the drive has an invalid page, random choices may miss it often. The
        // probability of missing it as often as this limit is e^−50, so the limit rejects no
        // working policy.
        if self.gainless > 50 * u64::from(self.flash.geometry().blocks()) {
            return Err(Error::NeverFrees { collections: self.gainless });
        }
        Ok(victim)
    }

    /// Scores of the candidates of a collection domain, if the observer needs them.
    #[inline(always)]
    fn scores(&self, domain: usize) -> Vec<Score> {
        if !self.flash.needs_scores() {
            return Vec::new();
        }
        let (blocks, random) = (self.flash.blocks(), self.random.clone());
        let situation =
            Situation { blocks, now: self.now(), random, history: self.history.as_ref() };
        self.victims[domain].scores(&situation)
    }

    /// Reports a victim to the observer. An erase that was not reported yet is reported first.
    #[inline(always)]
    fn notify_victim(&mut self, block: u32, measure: &str, scores: &[Score]) {
        if T::IS_OPEN {
            self.flash.report_erase();
            self.flash.notify(&Notice::Victim { block, measure, scores });
        }
    }

    fn choose_candidate(&mut self, domain: usize) -> Option<u32> {
        let (now, blocks) = (self.now(), self.flash.blocks());
        let policy = &mut self.victims[domain];
        if V::USES_WRITE_HISTORY
            && let Some(history) = &self.history
        {
            policy.weigh(history, blocks, now);
        }
        policy.choose(blocks, now, &mut self.random)
    }

    /// Chooses a victim of a collection domain that is worth collecting while the host is idle.
    /// If the policy's choice has no invalid page, it becomes a candidate again, as if it had just
    /// closed, and the result is None.
    pub fn choose_idle_victim(&mut self, domain: usize) -> Result<Option<u32>> {
        let scores = self.scores(domain);
        let Some(victim) = self.choose_candidate(domain) else {
            return self.victims[domain].failure().map_or(Ok(None), Err);
        };
        if self.flash.invalid_pages(victim) == 0 {
            self.flash.touch(victim);
            let now = self.now();
            self.victims[domain].on_close(victim, 0, now);
            return Ok(None);
        }
        self.notify_victim(victim, self.victims[domain].measure(), &scores);
        Ok(Some(victim))
    }

    /// Number of collection domains of the drive.
    pub fn domains(&self) -> usize {
        self.victims.len()
    }

    /// Pools of a collection domain.
    pub fn pools_of(&self, domain: usize) -> std::ops::Range<usize> {
        if self.victims.len() == 1 { 0..self.flash.pools() } else { domain..domain + 1 }
    }

    /// Adds `victim` to the count of consecutive victims without an invalid page, or resets it to
    /// 0.
    pub fn count_gain(&mut self, victim: u32) {
        let gained = self.flash.invalid_pages(victim) > 0;
        self.gainless = if gained { 0 } else { self.gainless + 1 };
    }

    /// Removes a victim that the manager has chosen itself from the candidates.
    pub fn take_victim(&mut self, victim: u32) {
        self.forget(victim);
        self.notify_victim(victim, "chosen by the block manager", &[]);
    }

    /// Chooses a second victim for a swap and removes it from the candidates.
    /// It is the block with the most invalid pages of `d` blocks drawn at random from `among`.
    pub fn choose_second_victim(&mut self, among: &Bag, d: u32) -> Option<u32> {
        let wants_scores = self.flash.needs_scores();
        let random = || self.random.clone();
        let scores = wants_scores.then(|| among.scores_of(d, self.flash.blocks(), random()));
        let victim = among.most_invalid_of(d, self.flash.blocks(), &mut self.random)?;
        self.forget(victim);
        // Unlike `notify_victim`, this does not report the pending erase of the first victim: that
        // erase is reported once the pages of that victim have moved.
        let (measure, scores) = (Bag::MEASURE, scores.unwrap_or_default());
        self.flash.notify(&Notice::Victim { block: victim, measure, scores: &scores });
        Some(victim)
    }

    /// Removes a closed block that the policy did not choose from the candidates, if it is one.
    fn forget(&mut self, block: u32) {
        if !self.is_held(block) {
            let domain = self.domain_of(block);
            self.victims[domain].forget(block, self.flash.invalid_pages(block));
        }
    }

    /// Reads the valid pages of a victim into `pages` and erases it.
    /// Afterwards the wear leveller may exchange blocks.
    pub fn erase_victim(&mut self, victim: u32, pages: &mut Vec<u32>) -> Option<Exchange> {
        self.read_victim(victim, pages);
        self.erase_read(victim)
    }

    /// Reads the valid pages of a victim; the first half of [`Self::erase_victim`].
    pub fn read_victim(&mut self, victim: u32, pages: &mut Vec<u32>) {
        self.flash.read_valid(victim, pages, Cause::Gc);
    }

    /// Erases a victim that was read; the second half of [`Self::erase_victim`].
    pub fn erase_read(&mut self, victim: u32) -> Option<Exchange> {
        self.flash.erase(victim, Cause::Gc);
        if let Some(history) = &mut self.history {
            history.erase(victim);
        }
        if self.levelers.is_empty() { None } else { self.level(victim) }
    }

    /// Migrates the pages of a victim to a frontier that has room for all of these pages.
    pub fn migrate(&mut self, pages: &[u32], frontier: usize) {
        self.flash.migrate_all(pages, &mut self.frontiers[frontier], Cause::Gc);
        if V::USES_WRITE_HISTORY {
            for &page in pages {
                self.follow(page, None, frontier);
            }
        }
    }
}
