//! Calendar queue: items in order of time, and simultaneous items in the order of insertion.
//!
//! The near future is divided into days of equal length. Each day has a list of its items, and a
//! bit that is set if the list is not empty, so the next item is found by a few bit operations.
//! Later items wait in a heap until their day is near. Most events of a drive occur within the
//! time of a program, so few of them enter the heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Binary logarithm of the length of a day, in ns.
/// A day of a busy drive then has few items, and a program ends in the near future.
const DAY_BITS: u32 = 8;
/// Number of days in the near future: as many as the bits of 64 words.
const DAYS: u64 = 64 * 64;
/// Value that means "no entry".
const NONE: u32 = u32::MAX;

/// Number of an entry in the calendar, valid until its item is taken.
pub type EntryId = u32;

#[derive(Debug, Clone, Copy)]
struct Entry {
    at_ns: u64,
    item: u64,
    /// Next entry of the same day, or [`NONE`]. Free entries are linked by this field, too.
    next: EntryId,
    /// Last entry of the same day. Valid in the first entry only.
    last: EntryId,
}

/// Items in order of time. Each item is a number.
#[derive(Debug)]
pub struct Calendar {
    now_ns: u64,
    entries: Vec<Entry>,
    /// First free entry.
    free: EntryId,
    /// First entry of each near day with items. The day's number modulo [`DAYS`] is its place.
    first_of_day: Box<[EntryId; DAYS as usize]>,
    /// One bit for each near day: set if the day has items.
    busy_days: [u64; 64],
    /// One bit for each word of `busy_days`: set if the word is not 0.
    busy_words: u64,
    /// Entries after the near future, with their times and sequence numbers.
    late: BinaryHeap<Reverse<(u64, u64, EntryId)>>,
    /// Number of entries that were inserted into `late`.
    late_count: u64,
    /// Time from which the first entry of `late` belongs to the near future.
    next_move_ns: u64,
}

/// Number of the day of a time.
#[inline(always)]
fn day_of(at_ns: u64) -> u64 {
    at_ns >> DAY_BITS
}

impl Calendar {
    /// Builds an empty calendar at time 0.
    pub fn new() -> Self {
        Calendar {
            now_ns: 0,
            entries: Vec::new(),
            free: NONE,
            first_of_day: Box::new([NONE; DAYS as usize]),
            busy_days: [0; 64],
            busy_words: 0,
            late: BinaryHeap::new(),
            late_count: 0,
            next_move_ns: u64::MAX,
        }
    }

    /// Current time: that of the last item taken, or a later one set by [`Self::advance`].
    #[inline(always)]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Advances the time to `to_ns`, before which no item may be left.
    pub fn advance(&mut self, to_ns: u64) {
        debug_assert!(self.next_ns().is_none_or(|next_ns| next_ns >= to_ns));
        self.go_to(self.now_ns.max(to_ns));
    }

    /// Inserts an item, whose time must not be in the past.
    #[inline(always)]
    pub fn insert(&mut self, at_ns: u64, item: u64) -> EntryId {
        debug_assert!(at_ns >= self.now_ns);
        let id = self.free;
        let id = if let Some(place) = self.entries.get_mut(id as usize) {
            self.free = place.next;
            (place.at_ns, place.item) = (at_ns, item);
            id
        } else {
            self.entries.push(Entry { at_ns, item, next: NONE, last: NONE });
            self.entries.len() as u32 - 1
        };
        if day_of(at_ns) - day_of(self.now_ns) < DAYS {
            self.insert_near(at_ns, id);
        } else {
            self.insert_late(at_ns, id);
        }
        id
    }

    #[inline(always)]
    fn insert_near(&mut self, at_ns: u64, id: EntryId) {
        let day = (day_of(at_ns) % DAYS) as usize;
        let (word, bit) = (day / 64, 1 << (day % 64));
        if self.busy_days[word] & bit != 0 {
            return self.insert_beside(day, at_ns, id);
        }
        self.busy_days[word] |= bit;
        self.busy_words |= 1 << word;
        self.first_of_day[day] = id;
        let entry = &mut self.entries[id as usize];
        (entry.next, entry.last) = (NONE, id);
    }

    /// Inserts an entry into a day that has items.
    fn insert_beside(&mut self, day: usize, at_ns: u64, id: EntryId) {
        let first = self.first_of_day[day];
        let Entry { at_ns: first_ns, last, .. } = self.entries[first as usize];
        if self.entries[last as usize].at_ns <= at_ns {
            self.entries[last as usize].next = id;
            self.entries[first as usize].last = id;
            self.entries[id as usize].next = NONE;
        } else if at_ns < first_ns {
            self.first_of_day[day] = id;
            let entry = &mut self.entries[id as usize];
            (entry.next, entry.last) = (first, last);
        } else {
            let mut earlier = first;
            let after = loop {
                let next = self.entries[earlier as usize].next;
                if self.entries[next as usize].at_ns > at_ns {
                    break next;
                }
                earlier = next;
            };
            self.entries[earlier as usize].next = id;
            self.entries[id as usize].next = after;
        }
    }

    #[cold]
    fn insert_late(&mut self, at_ns: u64, id: EntryId) {
        self.late.push(Reverse((at_ns, self.late_count, id)));
        self.late_count += 1;
        self.plan_move();
    }

    /// Sets the time at which the next entry of `late` belongs to the near future.
    fn plan_move(&mut self) {
        self.next_move_ns = self
            .late
            .peek()
            .map_or(u64::MAX, |Reverse((at_ns, ..))| (day_of(*at_ns) - DAYS + 1) << DAY_BITS);
    }

    /// Sets the time, and moves late entries that belong to the near future now.
    /// They precede all near entries of the same time, which are inserted afterwards.
    #[inline(always)]
    fn go_to(&mut self, at_ns: u64) {
        self.now_ns = at_ns;
        if at_ns >= self.next_move_ns {
            self.move_late();
        }
    }

    #[cold]
    fn move_late(&mut self) {
        let today = day_of(self.now_ns);
        while let Some(&Reverse((at_ns, _, id))) = self.late.peek()
            && day_of(at_ns) - today < DAYS
        {
            self.late.pop();
            self.insert_near(at_ns, id);
        }
        self.plan_move();
    }

    /// Place of the first near day with items.
    #[inline(always)]
    fn first_day(&self) -> Option<usize> {
        let today = (day_of(self.now_ns) % DAYS) as usize;
        let (word, bit) = (today / 64, today % 64);
        let of_word = self.busy_days[word] >> bit;
        if of_word != 0 {
            return Some((today + of_word.trailing_zeros() as usize) % DAYS as usize);
        }
        if self.busy_words == 0 {
            return None;
        }
        // After the last word, the first ones follow, up to today's word itself.
        let words_on = self.busy_words.rotate_right(word as u32 + 1).trailing_zeros() as usize;
        let word = (word + 1 + words_on) % 64;
        Some((64 * word + self.busy_days[word].trailing_zeros() as usize) % DAYS as usize)
    }

    /// Time of the next item.
    #[inline(always)]
    pub fn next_ns(&self) -> Option<u64> {
        let Some(day) = self.first_day() else {
            return self.late.peek().map(|Reverse((at_ns, ..))| *at_ns);
        };
        Some(self.entries[self.first_of_day[day] as usize].at_ns)
    }

    /// Takes the next item if it is due before `before_ns`, and advances the time to it.
    #[inline(always)]
    pub fn take_before(&mut self, before_ns: u64) -> Option<u64> {
        let Some(day) = self.first_day() else { return self.take_late(before_ns) };
        let first = self.first_of_day[day];
        let Entry { at_ns, item, next, last } = self.entries[first as usize];
        if at_ns >= before_ns {
            return None;
        }
        if let Some(second) = self.entries.get_mut(next as usize) {
            second.last = last;
            self.first_of_day[day] = next;
        } else {
            let word = day / 64;
            self.busy_days[word] &= !(1 << (day % 64));
            self.busy_words &= !(u64::from(self.busy_days[word] == 0) << word);
        }
        self.entries[first as usize].next = self.free;
        self.free = first;
        self.go_to(at_ns);
        Some(item)
    }

    /// Like [`Self::take_before`], if no item is in the near future.
    #[cold]
    fn take_late(&mut self, before_ns: u64) -> Option<u64> {
        let &Reverse((at_ns, ..)) = self.late.peek()?;
        if at_ns >= before_ns {
            return None;
        }
        self.go_to(at_ns);
        self.take_before(before_ns)
    }

    /// Replaces an item that was not taken yet. Its time and order stay the same.
    pub fn replace(&mut self, id: EntryId, item: u64) {
        self.entries[id as usize].item = item;
    }
}
