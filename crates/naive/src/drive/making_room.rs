//! Room for a page: opening of blocks, and the order in which LUNs are tried.

use super::NaiveDrive;
use crate::setup::Layout;

impl NaiveDrive {
    /// Makes room for a page of a stream; returns its pool.
    pub(super) fn make_room(&mut self, logical: u32, stream: usize) -> usize {
        match self.setup.layout {
            Layout::Flat => self.make_room_alone(stream, 0),
            Layout::Static => self.make_room_alone(stream, logical as usize % self.pools),
            Layout::Striped | Layout::StripedPerLun => self.make_room_striped(stream),
        }
    }

    /// Makes room in the pool that must take the page, where no other pool is allowed; returns
    /// the pool.
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
    /// This needs an open block, and as many free blocks as are reserved.
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
            assert_eq!(
                self.setup.layout,
                Layout::Striped,
                "only with the layout striped may every LUN lack room and invalid pages"
            );
            self.collect(0);
        }
    }

    /// Makes room in `pool` without collecting elsewhere; false if that is impossible.
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

    pub(super) fn open_block(&mut self, stream: usize, pool: usize) {
        let block = self.take_free(pool);
        let previous = self.open.insert((stream, pool), block);
        assert_eq!(previous, None, "a stream must not open a second block in a pool");
        self.opened_for.insert(block, stream);
        self.opened_at.insert(block, self.clock.now);
        if let Some(state) = &mut self.group_state {
            *state.opened.entry(pool).or_default() += 1;
        }
    }
}
