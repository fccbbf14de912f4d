//! Collection: choice of the victim, migration of its pages, erase and wear.

use super::{EndOfLife, Erased, NaiveDrive, Page, TABLE};
use crate::placements::Collected;
use crate::victims::Candidate;

impl NaiveDrive {
    /// Collects one victim on an idle LUN. Returns false if it collected nothing.
    ///
    /// The drive collects nothing if the victim has no invalid page, or a pool lacks reserved
    /// blocks. Hot and cold frontiers never collect on an idle LUN.
    pub fn collect_idle(&mut self, lun: u32) -> bool {
        let pool = if self.pools == 1 { 0 } else { lun as usize };
        if self.group_state.is_some() {
            return self.collect_most_invalid(pool);
        }
        if self.scheme.is_none() {
            return false; // hot and cold frontiers collect only when one is full
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
        // A victim without invalid pages is not collected. It becomes a candidate again, as if it
        // had just closed.
        swap_remove(&mut self.closed[domain], victim);
        self.closed[domain].push(victim);
        self.clock.event += 1;
        self.closed_at.insert(victim, self.clock);
        self.changed_at.insert(victim, self.clock);
        false
    }

    pub(super) fn collect(&mut self, domain: usize) {
        let own = self.own_victim(domain, false);
        let victim = own.unwrap_or_else(|| self.choose(domain));
        self.collect_block(victim);
    }

    /// Returns the victim that the scheme chooses itself, if any.
    ///
    /// Blocks that the scheme no longer holds back become candidates, as if they had just closed.
    fn own_victim(&mut self, domain: usize, is_idle: bool) -> Option<u32> {
        let is_data = |block: &&u32| self.opened_for[*block] != TABLE;
        let candidates = self.closed[domain].iter().filter(is_data).count();
        let scheme = self.scheme.as_mut()?;
        let own = scheme.victim(domain, is_idle, candidates);
        for block in scheme.take_released() {
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
            let scheme = self.scheme.as_mut().expect("the drive must have a placement");
            let stream = if is_table { TABLE } else { scheme.migrated(logical, from) };
            if !self.open.contains_key(&(stream, pool)) {
                self.open_block(stream, pool);
            }
            if self.setup.counts_handles && !is_table {
                let handle = |stream| self.scheme.as_ref().unwrap().handle_of_stream(stream);
                let handles = (handle(from.stream), handle(stream));
                *self.transfers.entry(handles).or_default() += 1;
            }
            self.program(logical, stream, pool);
            self.count_gc(logical);
        }
    }

    /// Returns the victim of the drive's victim policy.
    pub(super) fn choose(&mut self, domain: usize) -> u32 {
        let candidates: Vec<Candidate> =
            self.closed[domain].iter().map(|&block| self.candidate(block)).collect();
        let choice = self.rule.choose(&candidates, &mut self.random);
        self.closed[domain][choice]
    }

    pub(super) fn candidate(&self, block: u32) -> Candidate {
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

    /// Erases a victim and levels wear; returns the victim's valid pages, to be programmed again.
    pub(super) fn erase_victim(&mut self, victim: u32) -> Vec<u32> {
        let migrating = self.erase(victim);
        self.level(victim);
        migrating
    }

    /// Erases a closed block; returns its valid pages.
    pub(super) fn erase(&mut self, victim: u32) -> Vec<u32> {
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

    /// Counts the wear of an erase of `block`, which was just freed.
    ///
    /// A block with `limit` erases is worn out, and a spare block replaces it.
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
}

fn swap_remove(blocks: &mut Vec<u32>, block: u32) {
    let place =
        blocks.iter().position(|&other| other == block).expect("the list must contain the block");
    blocks.swap_remove(place);
}
