//! Numbers in order of age, such as the objects of a cache by their last use.

use crate::error::Result;
use crate::links::Links;
use crate::state::{Reader, State, Writer, require};

/// List of different numbers below a bound, the oldest first. Each operation is O(1).
#[derive(Debug)]
pub struct AgeList {
    /// A single queue.
    links: Links,
    len: usize,
}

impl AgeList {
    /// Builds an empty list of numbers below `bound`.
    pub fn new(bound: u32) -> Result<Self> {
        Ok(AgeList { links: Links::new(bound, 1)?, len: 0 })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn contains(&self, number: u32) -> bool {
        self.links.contains(number)
    }

    pub fn oldest(&self) -> Option<u32> {
        self.links.first(0)
    }

    /// Numbers of the list, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.links.of_queue(0)
    }

    /// Makes a number the newest of the list, and adds it if necessary.
    pub fn renew(&mut self, number: u32) {
        self.remove(number);
        self.links.append(number, 0);
        self.len += 1;
    }

    /// Removes a number from the list, if it is there.
    pub fn remove(&mut self, number: u32) {
        self.len -= usize::from(self.contains(number));
        self.links.remove(number);
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
        self.links.clear();
        self.len = 0;
        for number in numbers {
            let is_new = (number as usize) < self.links.bound() && !self.contains(number);
            require(is_new, "AgeList")?;
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
