//! Dies, channels and operations in time.

mod planes;
mod stages;
mod turns;

use std::collections::VecDeque;

use super::Clock;
use super::durations::Durations;
use super::errors::Errors;
use super::profile::Profile;
use planes::Plane;

pub type OpId = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Program,
    Erase,
}

/// Receiver of the news that an operation is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiter {
    Operation(OpId),
    Request(u32),
    CachedPage,
    Collection(usize),
    TablePage(u32),
}

#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // what is known of an operation
pub struct Operation {
    id: OpId,
    pub kind: Kind,
    pub die: usize,
    /// Pages of a program.
    pages: Vec<u32>,
    bytes: u64,
    left_ns: u64,
    /// Operations that must be done first, and one more until it is submitted.
    waits: usize,
    is_submitted: bool,
    /// True of a read for an entry of the mapping table.
    is_of_table: bool,
    /// True of a read of a page that is copied.
    is_of_copy: bool,
    /// Contents of a program.
    holds_copies: bool,
    holds_data: bool,
    /// The block of a program or an erase.
    block: u32,
    /// Its number among those submitted.
    submitted_as: u64,
    waiters: Vec<Waiter>,
    suspensions: u32,
    /// The first page of a read, and the tries that it needs after the first.
    page: u32,
    retries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Nothing,
    Command(OpId),
    Array(OpId),
    Suspending(OpId),
    DataOut(OpId),
    Decoding(OpId),
}

#[derive(Debug)]
struct Unit {
    channel: usize,
    doing: Doing,
    /// Planes that read for themselves, if any do.
    planes: Vec<Plane>,
    /// Reads of the mapping table, then others, then those of copies that yield.
    reads: [VecDeque<OpId>; 3],
    others: VecDeque<OpId>,
    /// Programs and erases of collections, where these are paced.
    collections: VecDeque<OpId>,
    /// Time in the array that collections have to do here, and may have before the host.
    backlog_ns: i128,
    credit_ns: i128,
    /// Since when others have gone before copies that yield, and before programs and erases.
    copies_wait_since: Option<u64>,
    writes_wait_since: Option<u64>,
    suspended: Option<OpId>,
    /// A program whose data are loaded, and whether they have come.
    loading: Option<(OpId, bool)>,
    array_end_ns: u64,
}

/// User of a channel or an array: a die, or a plane of it that reads for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    Die(usize),
    Plane(usize, usize),
}

#[derive(Debug, Default)]
struct Channel {
    user: Option<Seat>,
    outs: VecDeque<(Seat, u64)>,
    ins: VecDeque<(Seat, u64)>,
}

#[derive(Debug)]
pub struct Array {
    profile: Profile,
    durations: Durations,
    ops: Vec<Operation>,
    born: OpId,
    units: Vec<Unit>,
    channels: Vec<Channel>,
    /// Waiters that must hear of what is done; the last hears first.
    pub told: Vec<Waiter>,
    /// Units that have run out of work; the last is looked at first.
    pub idle_units: Vec<usize>,
    pub reads: u64,
    pub programs: u64,
    /// Free blocks of each pool, as the books have them.
    pub free_blocks: Vec<u32>,
    submitted: u64,
    pub errors: Option<Errors>,
}

impl Array {
    pub fn new(profile: &Profile, seed: u64) -> Self {
        let unit = |at: usize| Unit {
            channel: at % profile.channels as usize,
            doing: Doing::Nothing,
            planes: (0..profile.reading_planes).map(|_| Plane::default()).collect(),
            reads: Default::default(),
            others: VecDeque::new(),
            collections: VecDeque::new(),
            backlog_ns: 0,
            credit_ns: 0,
            copies_wait_since: None,
            writes_wait_since: None,
            suspended: None,
            loading: None,
            array_end_ns: 0,
        };
        Array {
            durations: Durations::new(profile, seed),
            ops: Vec::new(),
            born: 0,
            units: (0..profile.units()).map(unit).collect(),
            channels: (0..profile.channels).map(|_| Channel::default()).collect(),
            told: Vec::new(),
            idle_units: Vec::new(),
            reads: 0,
            programs: 0,
            free_blocks: Vec::new(),
            submitted: 0,
            errors: None,
            profile: profile.clone(),
        }
    }

    pub fn new_read(&mut self, page: u32, bytes: u32) -> OpId {
        let (die, left_ns) = if page >= self.profile.first_slc_page() {
            (self.slc_die(page), self.durations.slc_read_ns())
        } else {
            let place = self.profile.place(page);
            (place.die, self.durations.read_ns(place))
        };
        self.reads += 1;
        let op = self.new_op(Kind::Read, die, left_ns);
        self.add_bytes(op, bytes);
        self.op_mut(op).page = page;
        op
    }

    pub fn new_program(&mut self, first_page: u32) -> OpId {
        let (die, left_ns) = if first_page >= self.profile.first_slc_page() {
            (self.slc_die(first_page), self.durations.slc_program_ns())
        } else {
            let place = self.profile.place(first_page);
            (place.die, self.durations.program_ns(place))
        };
        self.programs += 1;
        let op = self.new_op(Kind::Program, die, left_ns);
        self.op_mut(op).block = self.profile.block_of(first_page);
        op
    }

    /// The die of a page of the SLC cache, whose programs lie on the dies in turn.
    fn slc_die(&self, page: u32) -> usize {
        let program = (page - self.profile.first_slc_page()) / self.profile.slc_unit_pages();
        (program % self.profile.dies()) as usize
    }

    pub fn new_slc_erase(&mut self, die: usize) -> OpId {
        let left_ns = self.durations.slc_erase_ns();
        self.new_op(Kind::Erase, die, left_ns)
    }

    /// Lets an operation wait for all programs that were submitted to other dies.
    pub fn wait_for_programs(&mut self, id: OpId, die: usize) {
        let is_to_be_done =
            |op: &&Operation| op.kind == Kind::Program && op.is_submitted && op.die != die;
        let programs: Vec<OpId> = self.ops.iter().filter(is_to_be_done).map(|op| op.id).collect();
        for program in programs {
            self.tell(program, Waiter::Operation(id));
        }
    }

    pub fn new_erase(&mut self, die: usize, block: u32) -> OpId {
        let left_ns = self.durations.erase_ns();
        let op = self.new_op(Kind::Erase, die, left_ns);
        self.op_mut(op).block = block;
        op
    }

    fn new_op(&mut self, kind: Kind, die: usize, left_ns: u64) -> OpId {
        let id = self.born;
        self.born += 1;
        let (pages, waiters) = (Vec::new(), Vec::new());
        let suspensions = 0;
        self.ops.push(Operation {
            id,
            kind,
            die,
            pages,
            bytes: 0,
            left_ns,
            waits: 1,
            is_submitted: false,
            is_of_table: false,
            is_of_copy: false,
            holds_copies: false,
            holds_data: false,
            block: 0,
            submitted_as: 0,
            waiters,
            suspensions,
            page: 0,
            retries: 0,
        });
        id
    }

    pub fn op(&self, id: OpId) -> &Operation {
        self.ops.iter().find(|op| op.id == id).expect("an operation that is not done")
    }

    fn op_mut(&mut self, id: OpId) -> &mut Operation {
        self.ops.iter_mut().find(|op| op.id == id).expect("an operation that is not done")
    }

    pub fn add_bytes(&mut self, id: OpId, bytes: u32) {
        self.op_mut(id).bytes += u64::from(bytes);
    }

    pub fn add_page(&mut self, id: OpId, page: u32, bytes: u32) {
        self.add_bytes(id, bytes);
        self.op_mut(id).pages.push(page);
    }

    /// True if a program that holds the page is not done.
    pub fn is_in_memory(&self, page: u32) -> bool {
        self.ops.iter().any(|op| op.pages.contains(&page))
    }

    /// A read is one for an entry of the mapping table.
    pub fn mark_of_table(&mut self, id: OpId) {
        self.op_mut(id).is_of_table = true;
    }

    /// A read is one of a page that is copied.
    pub fn mark_of_copy(&mut self, id: OpId) {
        self.op_mut(id).is_of_copy = true;
    }

    /// A program holds a page that was copied, or one that was written.
    pub fn mark_contents(&mut self, id: OpId, is_copied: bool) {
        let op = self.op_mut(id);
        op.holds_copies |= is_copied;
        op.holds_data |= !is_copied;
    }

    /// True of what is done for collections only, where these are paced.
    pub fn is_collection(&self, id: OpId) -> bool {
        let op = self.op(id);
        self.profile.paced
            && match op.kind {
                Kind::Read => op.is_of_copy,
                Kind::Program => op.holds_copies && !op.holds_data,
                Kind::Erase => true,
            }
    }

    pub fn tell(&mut self, id: OpId, waiter: Waiter) {
        if let Waiter::Operation(waiting) = waiter {
            self.op_mut(waiting).waits += 1;
        }
        self.op_mut(id).waiters.push(waiter);
    }

    /// Lets a request wait for all programs but those that are only begun; how many it waits for.
    pub fn tell_of_programs(&mut self, request: u32, is_begun: impl Fn(OpId) -> bool) -> usize {
        let is_queued = |op: &&mut Operation| op.kind == Kind::Program && !is_begun(op.id);
        let queued = self.ops.iter_mut().filter(is_queued);
        queued.map(|op| op.waiters.push(Waiter::Request(request))).count()
    }

    /// Tells of a program to the waiters that are no operations.
    pub fn release_early(&mut self, id: OpId) {
        let waiters = std::mem::take(&mut self.op_mut(id).waiters);
        let (early, kept): (Vec<_>, Vec<_>) = waiters
            .into_iter()
            .partition(|waiter| matches!(waiter, Waiter::Request(_) | Waiter::CachedPage));
        self.op_mut(id).waiters = kept;
        self.told.extend(early.into_iter().rev());
    }

    /// Programs and erases that a die has to do.
    pub fn queue_of(&self, die: usize) -> usize {
        let is_queued = |op: &&Operation| op.is_submitted && op.die == die && op.kind != Kind::Read;
        self.ops.iter().filter(is_queued).count()
    }

    /// An operation is complete: it goes to its die.
    pub fn submit(&mut self, id: OpId, clock: &mut Clock) {
        self.op_mut(id).is_submitted = true;
        self.submitted += 1;
        self.op_mut(id).submitted_as = self.submitted;
        let (kind, unit) = (self.op(id).kind, self.profile.unit_of(self.op(id).die));
        let is_collection = self.is_collection(id);
        if is_collection {
            self.units[unit].backlog_ns += i128::from(self.op(id).left_ns);
        }
        if kind != Kind::Read {
            if let Some(before) = self.last_of_block(id)
                && self.is_collection(before) != is_collection
            {
                self.tell(before, Waiter::Operation(id));
            }
            let unit = &mut self.units[unit];
            let queue = if is_collection { &mut unit.collections } else { &mut unit.others };
            queue.push_back(id);
        } else if self.op(id).page < self.profile.first_slc_page() {
            self.count_tries(id, clock.now_ns);
        }
        self.free(id, clock);
    }

    /// Decides how often a read will be tried again.
    fn count_tries(&mut self, id: OpId, now_ns: u64) {
        let Operation { page, bytes, is_of_table, is_of_copy, .. } = *self.op(id);
        let place = (self.profile.block_of(page), self.profile.read_unit_of(page));
        let purpose = if is_of_copy { 1 } else { 2 * usize::from(is_of_table) };
        if let Some(errors) = &mut self.errors {
            let retries = errors.tries(place, bytes, purpose, now_ns);
            self.reads += u64::from(retries);
            self.op_mut(id).retries = retries;
        }
    }

    /// The program or erase of the same block on the same die that was submitted last before.
    fn last_of_block(&self, id: OpId) -> Option<OpId> {
        let Operation { block, die, .. } = *self.op(id);
        let is_of_block = |op: &&Operation| {
            let is_place = op.block == block && op.die == die && op.kind != Kind::Read;
            is_place && op.is_submitted && op.id != id
        };
        self.ops.iter().filter(is_of_block).max_by_key(|op| op.submitted_as).map(|op| op.id)
    }

    fn free(&mut self, id: OpId, clock: &mut Clock) {
        self.op_mut(id).waits -= 1;
        if self.op(id).waits > 0 {
            return;
        }
        let Operation { kind, die, is_of_table, is_of_copy, .. } = *self.op(id);
        let yields = is_of_copy && self.profile.copies_yield;
        let at = self.profile.unit_of(die);
        let unit = &mut self.units[at];
        if kind == Kind::Read && !unit.planes.is_empty() {
            self.queue_on_plane(at, id, if yields { 2 } else { usize::from(!is_of_table) });
        } else if kind == Kind::Read {
            let goes_first = self.profile.reads_first;
            let reads = &mut unit.reads[if yields { 2 } else { usize::from(!is_of_table) }];
            if goes_first { reads } else { &mut unit.others }.push_back(id);
        }
        match self.units[at].doing {
            Doing::Nothing => self.begin_next(at, clock),
            Doing::Array(op) if kind == Kind::Read && !yields && self.profile.suspend => {
                self.suspend(at, op, clock);
            }
            Doing::Array(_) => self.load_next(at, clock),
            Doing::Command(_) | Doing::Suspending(_) | Doing::DataOut(_) | Doing::Decoding(_) => {}
        }
    }
}
