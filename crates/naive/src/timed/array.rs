//! Dies, channels and operations in time.

use std::collections::VecDeque;

use super::durations::Durations;
use super::errors::Errors;
use super::profile::{Profile, transfer_ns};
use super::{Clock, Event};

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

/// Turn of a die whose collections are paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Copy,
    Collected,
    Host,
}

#[derive(Debug)]
struct Unit {
    channel: usize,
    doing: Doing,
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

#[derive(Debug, Default)]
struct Channel {
    user: Option<usize>,
    outs: VecDeque<(usize, u64)>,
    ins: VecDeque<(usize, u64)>,
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

    /// Programs of the host that the erased blocks of a unit have room for; one at least.
    fn room(&self, at: usize) -> i128 {
        let (profile, pools) = (&self.profile, self.free_blocks.len());
        let dies = profile.dies() as usize;
        let pool_of = |die: usize| if pools == 1 { 0 } else { die };
        let mut room = 0;
        for die in (0..dies).filter(|&die| profile.unit_of(die) == at) {
            let pool = pool_of(die);
            let is_erase = |op: &&Operation| op.kind == Kind::Erase && pool_of(op.die) == pool;
            let under_way = self.ops.iter().filter(is_erase).count();
            let erasing = under_way.div_ceil(profile.dies_of(0).len()) as u32;
            let erased = self.free_blocks[pool].saturating_sub(erasing);
            let programs = profile.pages_per_block / profile.program_units();
            room += i128::from(erased * programs) / (dies / pools) as i128;
        }
        room.max(1)
    }

    /// The queue whose turn it is, where collection is paced and no read goes first: copies,
    /// collections, the host.
    fn turn(&self, at: usize, with_copies: bool) -> Option<Turn> {
        let unit = &self.units[at];
        let is_ready =
            |queue: &VecDeque<OpId>| queue.front().is_some_and(|&first| self.op(first).waits == 0);
        let has_copy = with_copies && !unit.reads[2].is_empty();
        let has_host = is_ready(&unit.others);
        if (has_copy || is_ready(&unit.collections)) && !(has_host && unit.credit_ns <= 0) {
            Some(if has_copy { Turn::Copy } else { Turn::Collected })
        } else {
            has_host.then_some(Turn::Host)
        }
    }

    fn take_turn(&mut self, at: usize, turn: Turn) -> OpId {
        let room = self.room(at);
        let host_waits = self.next_ready(at).is_some();
        let unit = &mut self.units[at];
        let queue = match turn {
            Turn::Copy => &mut unit.reads[2],
            Turn::Collected => &mut unit.collections,
            Turn::Host => &mut unit.others,
        };
        let id = queue.pop_front().expect("it has its turn");
        let left_ns = i128::from(self.op(id).left_ns);
        let unit = &mut self.units[at];
        if turn == Turn::Host {
            unit.credit_ns += unit.backlog_ns / room;
        } else {
            unit.backlog_ns -= left_ns;
            unit.credit_ns -= if host_waits { left_ns } else { 0 };
            if unit.backlog_ns == 0 {
                unit.credit_ns = 0;
            }
        }
        id
    }

    /// True if reads wait that go before everything else.
    fn has_first_reads(&self, at: usize) -> bool {
        self.units[at].reads[..2].iter().any(|reads| !reads.is_empty())
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
        if kind == Kind::Read {
            let goes_first = self.profile.reads_first;
            let reads = &mut unit.reads[if yields { 2 } else { usize::from(!is_of_table) }];
            if goes_first { reads } else { &mut unit.others }.push_back(id);
        }
        match unit.doing {
            Doing::Nothing => self.begin_next(at, clock),
            Doing::Array(op) if kind == Kind::Read && !yields && self.profile.suspend => {
                self.suspend(at, op, clock);
            }
            Doing::Array(_) => self.load_next(at, clock),
            Doing::Command(_) | Doing::Suspending(_) | Doing::DataOut(_) | Doing::Decoding(_) => {}
        }
    }

    /// Lets copies, or programs and erases, go that others went before for too long.
    fn begin_overdue(&mut self, at: usize, clock: &mut Clock) -> bool {
        let (now_ns, most_ns) = (clock.now_ns, self.profile.most_wait_ns);
        let (has_copies, has_write) = (
            !self.units[at].reads[2].is_empty(),
            self.units[at].suspended.is_some()
                || self.next_ready(at).is_some()
                || self.profile.paced && self.turn(at, false).is_some(),
        );
        let is_copys_turn = if self.profile.paced {
            self.units[at].suspended.is_none() && self.turn(at, true) == Some(Turn::Copy)
        } else {
            has_copies
        };
        let unit = &mut self.units[at];
        let overdue = |since: Option<u64>| since.filter(|since| since + most_ns <= now_ns);
        let copies = overdue(unit.copies_wait_since).filter(|_| has_copies);
        let writes = overdue(unit.writes_wait_since).filter(|_| has_write);
        let (copy_goes, write_goes) = match (copies, writes) {
            (Some(copies), Some(writes)) => (copies <= writes, copies > writes),
            (copies, writes) => (copies.is_some(), writes.is_some()),
        };
        // What would go next if nothing were overdue.
        let has_reads = !unit.reads[0].is_empty() || !unit.reads[1].is_empty();
        let is_forced = copy_goes || write_goes;
        let copy_begins = copy_goes || !is_forced && !has_reads && is_copys_turn;
        let write_begins = write_goes || !is_forced && !has_reads && !is_copys_turn;
        if copy_begins {
            unit.copies_wait_since = None;
        } else if has_copies && unit.copies_wait_since.is_none() {
            unit.copies_wait_since = Some(now_ns);
        }
        if write_begins {
            unit.writes_wait_since = None;
        } else if has_write && unit.writes_wait_since.is_none() {
            unit.writes_wait_since = Some(now_ns);
        }
        if copy_goes {
            let read = if self.profile.paced {
                self.take_turn(at, Turn::Copy)
            } else {
                unit.reads[2].pop_front().expect("there are copies")
            };
            self.begin_command(at, read, clock);
        } else if write_goes {
            let suspended = unit.suspended.take();
            let op = match (suspended, self.turn(at, false)) {
                (Some(op), _) => op,
                (None, Some(turn)) if self.profile.paced => self.take_turn(at, turn),
                _ => self.units[at].others.pop_front().expect("there is one"),
            };
            self.op_mut(op).suspensions = self.profile.most_suspends;
            match suspended {
                Some(op) => self.begin_array(at, op, clock),
                None => self.begin_command(at, op, clock),
            }
        }
        is_forced
    }

    fn begin_next(&mut self, at: usize, clock: &mut Clock) {
        if self.profile.most_wait_ns > 0 && self.begin_overdue(at, clock) {
            return;
        }
        if self.profile.paced && !self.has_first_reads(at) {
            if let Some(op) = self.units[at].suspended.take() {
                self.begin_array(at, op, clock);
                return;
            }
            if let Some(turn) = self.turn(at, true) {
                let op = self.take_turn(at, turn);
                self.begin_command(at, op, clock);
                return;
            }
        }
        let unit = &mut self.units[at];
        if let Some(read) = unit.reads.iter_mut().find_map(VecDeque::pop_front) {
            self.begin_command(at, read, clock);
        } else if let Some(op) = unit.suspended.take() {
            self.begin_array(at, op, clock);
        } else if let Some(op) = self.next_ready(at) {
            self.units[at].others.pop_front();
            self.begin_command(at, op, clock);
        } else {
            self.idle_units.push(at);
        }
    }

    /// The first of the other operations, if it waits for nothing.
    fn next_ready(&self, at: usize) -> Option<OpId> {
        let first = *self.units[at].others.front()?;
        (self.op(first).waits == 0).then_some(first)
    }

    fn begin_command(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        self.units[at].doing = Doing::Command(id);
        self.send_command(at, id, clock);
    }

    fn send_command(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let (profile, op) = (&self.profile, self.op(id));
        let duration_ns = match op.kind {
            Kind::Read => profile.read_command_ns,
            Kind::Program => {
                profile.program_command_ns + transfer_ns(op.bytes, profile.channel_mb_s)
            }
            Kind::Erase => profile.erase_command_ns,
        };
        let channel = self.units[at].channel;
        self.channels[channel].ins.push_back((at, duration_ns));
        self.begin_transfer(channel, clock);
    }

    /// Begins the next transfer of a channel that is free.
    fn begin_transfer(&mut self, at: usize, clock: &mut Clock) {
        let channel = &mut self.channels[at];
        if channel.user.is_some() {
            return;
        }
        let next = if self.profile.commands_first {
            channel.ins.pop_front().or_else(|| channel.outs.pop_front())
        } else {
            channel.outs.pop_front().or_else(|| channel.ins.pop_front())
        };
        if let Some((unit, duration_ns)) = next {
            channel.user = Some(unit);
            clock.at(clock.now_ns + duration_ns, Event::ChannelFree(at));
        }
    }

    pub fn on_channel_free(&mut self, channel: usize, clock: &mut Clock) {
        let at = self.channels[channel].user.expect("a transfer has ended");
        match self.units[at].doing {
            Doing::Command(id) => self.begin_array(at, id, clock),
            Doing::DataOut(id) if self.op(id).retries > 0 => {
                self.op_mut(id).retries -= 1;
                self.units[at].doing = Doing::Decoding(id);
                let decode_ns = self.errors.as_ref().expect("a read has failed").decode_ns();
                clock.at(clock.now_ns + decode_ns, Event::ArrayDone(at));
            }
            Doing::DataOut(id) => {
                self.units[at].doing = Doing::Nothing;
                self.end(at, id, clock);
            }
            Doing::Nothing | Doing::Array(_) | Doing::Suspending(_) | Doing::Decoding(_) => {
                self.units[at].loading.as_mut().expect("data were loaded").1 = true;
            }
        }
        self.channels[channel].user = None;
        self.begin_transfer(channel, clock);
    }

    fn begin_array(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let end_ns = clock.now_ns + self.op(id).left_ns;
        self.units[at].doing = Doing::Array(id);
        self.units[at].array_end_ns = end_ns;
        clock.at(end_ns, Event::ArrayDone(at));
        self.load_next(at, clock);
    }

    pub fn on_array_done(&mut self, at: usize, clock: &mut Clock) {
        match self.units[at].doing {
            Doing::Suspending(id) => {
                self.units[at].doing = Doing::Nothing;
                self.units[at].suspended = Some(id);
                self.begin_next(at, clock);
            }
            Doing::Array(id) if self.op(id).kind == Kind::Read => {
                self.units[at].doing = Doing::DataOut(id);
                let duration_ns = transfer_ns(self.op(id).bytes, self.profile.channel_mb_s);
                let channel = self.units[at].channel;
                self.channels[channel].outs.push_back((at, duration_ns));
                self.begin_transfer(channel, clock);
            }
            Doing::Array(id) => {
                self.units[at].doing = Doing::Nothing;
                match self.units[at].loading.take() {
                    Some((next, true)) => self.begin_array(at, next, clock),
                    Some((next, false)) => self.units[at].doing = Doing::Command(next),
                    None => {}
                }
                self.end(at, id, clock);
            }
            Doing::Decoding(id) => self.begin_command(at, id, clock),
            doing => unreachable!("an array ended that was {doing:?}"),
        }
    }

    /// An operation is done.
    fn end(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let place = self.ops.iter().position(|op| op.id == id).expect("it was under way");
        let op = self.ops.remove(place);
        for waiter in op.waiters.into_iter().rev() {
            match waiter {
                Waiter::Operation(waiting) => self.free(waiting, clock),
                _ => self.told.push(waiter),
            }
        }
        if self.units[at].doing == Doing::Nothing {
            self.begin_next(at, clock);
        }
    }

    fn load_next(&mut self, at: usize, clock: &mut Clock) {
        let unit = &self.units[at];
        let Doing::Array(current) = unit.doing else { return };
        let is_program = |id: OpId| self.op(id).kind == Kind::Program;
        if !self.profile.cache_program
            || unit.loading.is_some()
            || self.has_first_reads(at)
            || !is_program(current)
        {
            return;
        }
        if self.profile.paced {
            let unit = &self.units[at];
            let turn = self.turn(at, true);
            let first = match turn {
                None | Some(Turn::Copy) => None,
                Some(Turn::Collected) => unit.collections.front(),
                Some(Turn::Host) => unit.others.front(),
            };
            if let (Some(turn), Some(&first)) = (turn, first)
                && is_program(first)
            {
                let next = self.take_turn(at, turn);
                self.units[at].loading = Some((next, false));
                self.send_command(at, next, clock);
            }
            return;
        }
        if !unit.reads[2].is_empty() {
            return;
        }
        if let Some(next) = self.next_ready(at).filter(|&id| is_program(id)) {
            self.units[at].others.pop_front();
            self.units[at].loading = Some((next, false));
            self.send_command(at, next, clock);
        }
    }

    fn suspend(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let left_ns = self.units[at].array_end_ns - clock.now_ns;
        let Profile { suspend_ns, resume_ns, most_suspends, .. } = self.profile;
        let is_loading = self.units[at].loading.is_some();
        let op = self.op_mut(id);
        if op.kind == Kind::Read
            || is_loading
            || op.suspensions == most_suspends
            || left_ns <= suspend_ns
        {
            return;
        }
        op.suspensions += 1;
        op.left_ns = left_ns + resume_ns;
        self.units[at].doing = Doing::Suspending(id);
        clock.call_off_array(at);
        clock.at(clock.now_ns + suspend_ns, Event::ArrayDone(at));
    }

    pub fn is_idle(&self, at: usize) -> bool {
        let unit = &self.units[at];
        unit.doing == Doing::Nothing
            && unit.suspended.is_none()
            && unit.reads.iter().all(VecDeque::is_empty)
            && unit.others.is_empty()
            && unit.collections.is_empty()
    }

    /// True if an operation was submitted that is not done.
    pub fn has_work(&self) -> bool {
        self.ops.iter().any(|op| op.is_submitted)
    }
}
