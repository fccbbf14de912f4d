//! Dies, channels and the stages of their operations.

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
pub enum OpKind {
    Read,
    Program,
    Erase,
}

/// Receiver of the notification that an operation is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiter {
    Operation(OpId),
    Request(u32),
    CachedPage,
    Collection(usize),
    TablePage(u32),
}

#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // the flags of an operation
pub struct Operation {
    id: OpId,
    pub kind: OpKind,
    pub die: usize,
    /// Pages of a program.
    pages: Vec<u32>,
    bytes: u64,
    left_ns: u64,
    /// Number of operations to wait for, plus 1 until this operation is submitted.
    waits: usize,
    is_submitted: bool,
    /// True for a read of an entry of the mapping table.
    is_of_table: bool,
    /// True for a read of a page that is copied.
    is_of_copy: bool,
    /// True for a program with copied pages.
    holds_copies: bool,
    /// True for a program with pages that were written, not copied.
    holds_data: bool,
    /// Block of a program or an erase.
    block: u32,
    /// Number of operations submitted so far, including this one.
    submission: u64,
    waiters: Vec<Waiter>,
    suspensions: u32,
    /// First page of a read.
    page: u32,
    /// Number of further tries that the read still needs before its data are correct.
    retries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    Command(OpId),
    Array(OpId),
    Suspending(OpId),
    DataOut(OpId),
    Decoding(OpId),
}

/// State of a die, or of a chip where dies are not interleaved.
#[derive(Debug)]
struct Unit {
    channel: usize,
    stage: Stage,
    /// State of each plane, where planes read independently; else empty.
    planes: Vec<Plane>,
    /// Queues of reads, the most urgent first: of the mapping table, other reads, of copies that
    /// yield.
    reads: [VecDeque<OpId>; 3],
    /// Queue of programs and erases.
    /// It also has the reads if the profile does not let reads go first.
    main_queue: VecDeque<OpId>,
    /// Queue of the programs and erases of collection, if collection is paced.
    collections: VecDeque<OpId>,
    /// Array time in ns of the operations of collection that wait at this die.
    backlog_ns: i128,
    /// Array time in ns that collection may still take before the host's operations (credit).
    credit_ns: i128,
    /// Time in ns since which copies that yield are passed over.
    copies_wait_since: Option<u64>,
    /// Time in ns since which programs and erases are passed over.
    writes_wait_since: Option<u64>,
    suspended: Option<OpId>,
    /// Next program of cache programming, and whether all of its data are loaded.
    loading: Option<(OpId, bool)>,
    array_end_ns: u64,
}

/// User of a channel or a flash array: a die, or a plane that reads independently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DieOrPlane {
    Die(usize),
    Plane(usize, usize),
}

#[derive(Debug, Default)]
struct Channel {
    user: Option<DieOrPlane>,
    outs: VecDeque<(DieOrPlane, u64)>,
    ins: VecDeque<(DieOrPlane, u64)>,
}

#[derive(Debug)]
pub struct Array {
    profile: Profile,
    durations: Durations,
    ops: Vec<Operation>,
    next_op_id: OpId,
    units: Vec<Unit>,
    channels: Vec<Channel>,
    /// Waiters to notify of operations that are done; the last is notified first.
    pub to_notify: Vec<Waiter>,
    /// Dies (or chips) that have run out of work; the last in the list may collect first.
    pub idle_units: Vec<usize>,
    pub reads: u64,
    pub programs: u64,
    /// Number of free blocks of each pool, as the untimed drive states it.
    pub free_blocks: Vec<u32>,
    submitted: u64,
    pub errors: Option<Errors>,
}

impl Array {
    pub fn new(profile: &Profile, seed: u64) -> Self {
        let unit = |at: usize| Unit {
            channel: at % profile.channels as usize,
            stage: Stage::Idle,
            planes: (0..profile.reading_planes).map(|_| Plane::default()).collect(),
            reads: Default::default(),
            main_queue: VecDeque::new(),
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
            next_op_id: 0,
            units: (0..profile.units()).map(unit).collect(),
            channels: (0..profile.channels).map(|_| Channel::default()).collect(),
            to_notify: Vec::new(),
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
        let op = self.new_op(OpKind::Read, die, left_ns);
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
        let op = self.new_op(OpKind::Program, die, left_ns);
        self.op_mut(op).block = self.profile.block_of(first_page);
        op
    }

    /// Returns the die of a page of the SLC cache.
    ///
    /// Programs of `slc_unit_pages` pages go to the dies in turn; all pages of a program are on one
    /// die.
    fn slc_die(&self, page: u32) -> usize {
        let program = (page - self.profile.first_slc_page()) / self.profile.slc_unit_pages();
        (program % self.profile.dies()) as usize
    }

    pub fn new_slc_erase(&mut self, die: usize) -> OpId {
        let left_ns = self.durations.slc_erase_ns();
        self.new_op(OpKind::Erase, die, left_ns)
    }

    /// Makes an operation of `die` wait for all submitted programs of other dies.
    pub fn wait_for_other_dies(&mut self, id: OpId, die: usize) {
        let is_to_be_done =
            |op: &&Operation| op.kind == OpKind::Program && op.is_submitted && op.die != die;
        let programs: Vec<OpId> = self.ops.iter().filter(is_to_be_done).map(|op| op.id).collect();
        for program in programs {
            self.notify(program, Waiter::Operation(id));
        }
    }

    pub fn new_erase(&mut self, die: usize, block: u32) -> OpId {
        let left_ns = self.durations.erase_ns();
        let op = self.new_op(OpKind::Erase, die, left_ns);
        self.op_mut(op).block = block;
        op
    }

    fn new_op(&mut self, kind: OpKind, die: usize, left_ns: u64) -> OpId {
        let id = self.next_op_id;
        self.next_op_id += 1;
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
            submission: 0,
            waiters,
            suspensions,
            page: 0,
            retries: 0,
        });
        id
    }

    pub fn op(&self, id: OpId) -> &Operation {
        self.ops.iter().find(|op| op.id == id).expect("an unfinished operation")
    }

    fn op_mut(&mut self, id: OpId) -> &mut Operation {
        self.ops.iter_mut().find(|op| op.id == id).expect("an unfinished operation")
    }

    pub fn add_bytes(&mut self, id: OpId, bytes: u32) {
        self.op_mut(id).bytes += u64::from(bytes);
    }

    pub fn add_page(&mut self, id: OpId, page: u32, bytes: u32) {
        self.add_bytes(id, bytes);
        self.op_mut(id).pages.push(page);
    }

    /// True if a program with this page is not done.
    pub fn is_in_memory(&self, page: u32) -> bool {
        self.ops.iter().any(|op| op.pages.contains(&page))
    }

    /// Marks a read as one of the mapping table.
    pub fn mark_of_table(&mut self, id: OpId) {
        self.op_mut(id).is_of_table = true;
    }

    /// Marks a read as one of a page that is copied.
    pub fn mark_of_copy(&mut self, id: OpId) {
        self.op_mut(id).is_of_copy = true;
    }

    /// Marks a program as holding a page that was copied, or one that was written.
    pub fn mark_contents(&mut self, id: OpId, is_copied: bool) {
        let op = self.op_mut(id);
        op.holds_copies |= is_copied;
        op.holds_data |= !is_copied;
    }

    /// True for operations that serve collection only, if the profile paces collection.
    pub fn is_collection(&self, id: OpId) -> bool {
        let op = self.op(id);
        self.profile.paced
            && match op.kind {
                OpKind::Read => op.is_of_copy,
                OpKind::Program => op.holds_copies && !op.holds_data,
                OpKind::Erase => true,
            }
    }

    /// Lets `waiter` wait for operation `id`, so that it is notified when the operation is done.
    pub fn notify(&mut self, id: OpId, waiter: Waiter) {
        if let Waiter::Operation(waiting) = waiter {
            self.op_mut(waiting).waits += 1;
        }
        self.op_mut(id).waiters.push(waiter);
    }

    /// Lets a request wait for all programs that are queued, not those only begun.
    ///
    /// Returns the number of these programs.
    pub fn notify_of_programs(&mut self, request: u32, is_begun: impl Fn(OpId) -> bool) -> usize {
        let is_queued = |op: &&mut Operation| op.kind == OpKind::Program && !is_begun(op.id);
        let queued = self.ops.iter_mut().filter(is_queued);
        queued.map(|op| op.waiters.push(Waiter::Request(request))).count()
    }

    /// Notifies requests and cached pages that wait for a program, although it is not done.
    pub fn release_early(&mut self, id: OpId) {
        let waiters = std::mem::take(&mut self.op_mut(id).waiters);
        let (early, remaining): (Vec<_>, Vec<_>) = waiters
            .into_iter()
            .partition(|waiter| matches!(waiter, Waiter::Request(_) | Waiter::CachedPage));
        self.op_mut(id).waiters = remaining;
        self.to_notify.extend(early.into_iter().rev());
    }

    /// Returns the number of submitted programs and erases of a die that are not done.
    pub fn queue_of(&self, die: usize) -> usize {
        let is_queued =
            |op: &&Operation| op.is_submitted && op.die == die && op.kind != OpKind::Read;
        self.ops.iter().filter(is_queued).count()
    }

    /// Submits a complete operation to its die.
    pub fn submit(&mut self, id: OpId, clock: &mut Clock) {
        self.op_mut(id).is_submitted = true;
        self.submitted += 1;
        self.op_mut(id).submission = self.submitted;
        let (kind, unit) = (self.op(id).kind, self.profile.unit_of(self.op(id).die));
        let is_collection = self.is_collection(id);
        if is_collection {
            self.units[unit].backlog_ns += i128::from(self.op(id).left_ns);
        }
        if kind != OpKind::Read {
            if let Some(previous) = self.previous_of_block(id)
                && self.is_collection(previous) != is_collection
            {
                self.notify(previous, Waiter::Operation(id));
            }
            let unit = &mut self.units[unit];
            let queue = if is_collection { &mut unit.collections } else { &mut unit.main_queue };
            queue.push_back(id);
        } else if self.op(id).page < self.profile.first_slc_page() {
            self.count_tries(id, clock.now_ns);
        }
        self.free(id, clock);
    }

    /// Determines how often a read is tried again.
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

    /// Returns the last submitted program or erase of the same block and die that is not done.
    fn previous_of_block(&self, id: OpId) -> Option<OpId> {
        let Operation { block, die, .. } = *self.op(id);
        let is_of_block = |op: &&Operation| {
            let is_place = op.block == block && op.die == die && op.kind != OpKind::Read;
            is_place && op.is_submitted && op.id != id
        };
        self.ops.iter().filter(is_of_block).max_by_key(|op| op.submission).map(|op| op.id)
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
        if kind == OpKind::Read && !unit.planes.is_empty() {
            self.queue_on_plane(at, id, if yields { 2 } else { usize::from(!is_of_table) });
        } else if kind == OpKind::Read {
            let goes_first = self.profile.reads_first;
            let reads = &mut unit.reads[if yields { 2 } else { usize::from(!is_of_table) }];
            if goes_first { reads } else { &mut unit.main_queue }.push_back(id);
        }
        match self.units[at].stage {
            Stage::Idle => self.begin_next(at, clock),
            Stage::Array(op) if kind == OpKind::Read && !yields && self.profile.suspend => {
                self.suspend(at, op, clock);
            }
            Stage::Array(_) => self.load_next(at, clock),
            Stage::Command(_) | Stage::Suspending(_) | Stage::DataOut(_) | Stage::Decoding(_) => {}
        }
    }
}
