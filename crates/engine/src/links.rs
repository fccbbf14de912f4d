//! Queues of numbers, such as those of blocks, as doubly linked lists in one table.
//!
//! Each queue is a circle that includes an entry for the queue itself. So no operation needs a
//! branch for the ends of a queue, which the processor could not predict.

use std::hint::select_unpredictable;

use crate::error::Result;
use crate::flash::{Table, filled, prefetch};

#[derive(Debug, Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

/// Queues of numbers below a bound, of which each is in at most one queue.
/// All operations are O(1), except iterations.
#[derive(Debug, Clone)]
pub struct Links {
    /// Entries of all numbers, and then of all queues. The entry of an empty queue, and that of a
    /// number in no queue, is linked to itself.
    links: Table<Link>,
    bound: u32,
}

impl Links {
    pub fn new(bound: u32, queues: usize) -> Result<Self> {
        let nothing = Link { previous: 0, next: 0 };
        let mut links = Links { links: filled(nothing, bound as usize + queues)?, bound };
        links.clear();
        Ok(links)
    }

    /// Removes all numbers from all queues.
    pub fn clear(&mut self) {
        for (at, link) in (0..).zip(&mut self.links) {
            *link = Link { previous: at, next: at };
        }
    }

    /// Bound below which numbers may be in a queue.
    pub fn bound(&self) -> usize {
        self.bound as usize
    }

    /// Number of queues.
    pub fn queues(&self) -> usize {
        self.links.len() - self.bound()
    }

    /// True if `number` is in a queue.
    #[inline(always)]
    pub fn contains(&self, number: u32) -> bool {
        self.links[number as usize].next != number
    }

    /// Appends `number`, which is in no queue.
    #[inline(always)]
    pub fn append(&mut self, number: u32, queue: usize) {
        self.insert_before(number, self.bound + queue as u32);
    }

    /// Removes `number` from its queue, if it is in one.
    #[inline(always)]
    pub fn remove(&mut self, number: u32) {
        self.take(number);
        self.links[number as usize] = Link { previous: number, next: number };
    }

    /// Moves `number` to the end of `queue`, if it is in a queue. Returns whether it is.
    #[inline(always)]
    pub fn move_to(&mut self, number: u32, queue: usize) -> bool {
        let is_queued = self.contains(number);
        self.take(number);
        // A number in no queue is linked to itself again.
        let next = select_unpredictable(is_queued, self.bound + queue as u32, number);
        self.insert_before(number, next);
        is_queued
    }

    /// First number of a queue.
    #[inline(always)]
    pub fn first(&self, queue: usize) -> Option<u32> {
        self.number(self.links[self.bound() + queue].next)
    }

    /// Blocks of a queue in order.
    pub fn of_queue(&self, queue: usize) -> impl Iterator<Item = u32> + '_ {
        let next = |&number: &u32| self.number(self.links[number as usize].next);
        std::iter::successors(self.first(queue), next)
    }

    /// Moves all numbers of queue `from` to the end of queue `into`.
    pub fn merge(&mut self, from: usize, into: usize) {
        let (from, into) = (self.bound() + from, self.bound() + into);
        let Link { previous: last, next: first } = self.links[from];
        if self.number(first).is_none() {
            return;
        }
        let end = self.links[into].previous;
        self.links[end as usize].next = first;
        self.links[first as usize].previous = end;
        self.links[last as usize].next = into as u32;
        self.links[into].previous = last;
        self.links[from] = Link { previous: from as u32, next: from as u32 };
    }

    #[inline(always)]
    pub fn prefetch(&self, number: u32) {
        prefetch(&self.links, number as usize);
    }

    /// The number of an entry, or None for that of a queue.
    #[inline(always)]
    fn number(&self, entry: u32) -> Option<u32> {
        (entry < self.bound).then_some(entry)
    }

    /// Links the neighbours of `number` to each other.
    #[inline(always)]
    fn take(&mut self, number: u32) {
        let Link { previous, next } = self.links[number as usize];
        self.links[previous as usize].next = next;
        self.links[next as usize].previous = previous;
    }

    /// Inserts `number` before the entry `next`, which may be its own.
    #[inline(always)]
    fn insert_before(&mut self, number: u32, next: u32) {
        let previous = self.links[next as usize].previous;
        self.links[number as usize] = Link { previous, next };
        self.links[previous as usize].next = number;
        self.links[next as usize].previous = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn queues_have_the_blocks_in_the_order_of_their_moves() {
        let (numbers, queues) = (10, 3);
        let mut links = Links::new(numbers, queues).unwrap();
        let mut expected = vec![Vec::new(); queues];
        let mut random = Stream::new(1, "test");
        let mut moved = [0; 2];
        for _ in 0..5000 {
            let (number, queue) = (random.below(numbers), random.below(queues as u32) as usize);
            let is_queued = expected.iter().any(|of: &Vec<u32>| of.contains(&number));
            assert_eq!(links.contains(number), is_queued);
            match random.below(4) {
                0 => links.remove(number),
                1 if !is_queued => links.append(number, queue),
                2 => {
                    let other = (queue + 1) % queues;
                    links.merge(queue, other);
                    let tail = std::mem::take(&mut expected[queue]);
                    expected[other].extend(tail);
                    continue;
                }
                _ => {
                    assert_eq!(links.move_to(number, queue), is_queued);
                    moved[usize::from(is_queued)] += 1;
                    if !is_queued {
                        continue;
                    }
                }
            }
            for of in &mut expected {
                of.retain(|&other| other != number);
            }
            if links.contains(number) {
                expected[queue].push(number);
            }
            for (queue, expected) in expected.iter().enumerate() {
                assert_eq!(links.of_queue(queue).collect::<Vec<_>>(), *expected);
                assert_eq!(links.first(queue), expected.first().copied());
            }
        }
        assert!(moved.iter().all(|&count| count > 100), "{moved:?}");
        links.clear();
        assert!((0..numbers).all(|number| !links.contains(number)));
        assert!((0..queues).all(|queue| links.first(queue).is_none()));
    }
}
