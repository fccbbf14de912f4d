//! Numbers in order of age, such as the objects of a cache by their last use.

use crate::error::Result;
use crate::flash::{Table, filled};
use crate::state::{Reader, State, Writer, require};

/// List of different numbers below a bound, the oldest first. Each operation is O(1).
#[derive(Debug)]
pub struct AgeList {
    /// For each number, the next newer and older one, or the number itself if it is not in the
    /// list. The bound is next to the oldest and the newest number, so the links form a ring.
    newer: Table<u32>,
    older: Table<u32>,
    len: usize,
}

impl AgeList {
    /// Builds an empty list of numbers below `bound`.
    pub fn new(bound: u32) -> Result<Self> {
        let (newer, older) = (filled(0, bound as usize + 1)?, filled(0, bound as usize + 1)?);
        let mut list = AgeList { newer, older, len: 0 };
        list.clear();
        Ok(list)
    }

    fn clear(&mut self) {
        for links in [&mut self.newer, &mut self.older] {
            links.iter_mut().zip(0..).for_each(|(link, number)| *link = number);
        }
        self.len = 0;
    }

    fn end(&self) -> u32 {
        self.newer.len() as u32 - 1
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn contains(&self, number: u32) -> bool {
        self.newer[number as usize] != number
    }

    pub fn oldest(&self) -> Option<u32> {
        self.iter().next()
    }

    /// Numbers of the list, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let in_list = |&number: &u32| number != self.end();
        let next = move |number: u32| Some(self.newer[number as usize]).filter(in_list);
        std::iter::successors(next(self.end()), move |&number| next(number))
    }

    /// Makes a number the newest of the list, and adds it if necessary.
    pub fn renew(&mut self, number: u32) {
        self.remove(number);
        let (newest, end) = (self.older[self.end() as usize], self.end());
        self.newer[newest as usize] = number;
        self.older[number as usize] = newest;
        self.newer[number as usize] = end;
        self.older[end as usize] = number;
        self.len += 1;
    }

    /// Removes a number from the list, if it is there.
    pub fn remove(&mut self, number: u32) {
        self.len -= usize::from(self.contains(number));
        let (newer, older) = (self.newer[number as usize], self.older[number as usize]);
        self.newer[older as usize] = newer;
        self.older[newer as usize] = older;
        self.newer[number as usize] = number;
        self.older[number as usize] = number;
    }
}

/// Saves the numbers in order, from which the links are restored.
impl State for AgeList {
    fn save(&self, to: &mut Writer) {
        let numbers: Vec<u32> = self.iter().collect();
        to.list(&numbers);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        let mut numbers = Vec::new();
        from.list(&mut numbers, "AgeList")?;
        self.clear();
        for number in numbers {
            require(number < self.end() && !self.contains(number), "AgeList")?;
            self.renew(number);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::rng::Stream;

    #[test]
    fn numbers_are_in_the_order_of_their_last_renewal() {
        let mut list = AgeList::new(20).unwrap();
        let (mut expected, mut random) = (VecDeque::new(), Stream::new(1, "test"));
        for _ in 0..10_000 {
            let number = random.below(20);
            expected.retain(|&other| other != number);
            if random.below(3) > 0 {
                list.renew(number);
                expected.push_back(number);
            } else {
                list.remove(number);
            }
            assert!(list.iter().eq(expected.iter().copied()));
            assert_eq!((list.len(), list.oldest()), (expected.len(), expected.front().copied()));
            assert!((0..20).all(|number| list.contains(number) == expected.contains(&number)));
        }
    }
}
