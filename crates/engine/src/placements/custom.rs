//! Custom placements: adapter from [`PlacementCalls`] to the manager.
//!
//! Calls are in the order in which pages are written and victims collected, so a placement may keep
//! any state. The streams of a victim's pages are requested before the block is erased, so that a
//! fault loses no page.

use super::{CustomStreams, HostPage, Placement, PlacementCalls, PlacementSource, SelfDeclared};
use super::{Sizes, Streams, Victim};
use crate::error::{Error, Result};
use crate::faults::{Failure, Hook};
use crate::hints::RequiredHints;
use crate::state::{Reader, State, Writer};

/// Custom placement, with its name for error messages and the methods to call.
pub struct CustomPlacement {
    name: String,
    required_hints: RequiredHints,
    calls: Box<dyn PlacementCalls>,
    streams: CustomStreams,
    /// For each stream: true if it may receive migrated pages.
    may_migrate: Vec<bool>,
    /// Streams that the placement returned for the pages of the current victim.
    /// The next field is the number of pages that were moved.
    answers: Vec<i64>,
    used: usize,
    /// Number of host pages written at the last call of the placement.
    now: u64,
    failure: Option<Error>,
}

impl CustomPlacement {
    /// Builds the placement of a source for a drive. Returns an error if its streams are invalid.
    pub fn new(source: &dyn PlacementSource, sizes: &Sizes) -> Result<Self> {
        const MOST: usize = 256;
        let (name, calls) = (source.name(), source.build(sizes)?);
        let streams = calls.streams();
        let CustomStreams { all, migration } = &streams;
        if !(1..=MOST).contains(all) {
            return Err(Error::Spec(format!(
                "{name} has {all} streams; it must have 1 to {MOST} streams, numbered from 0"
            )));
        }
        if migration.is_empty() || migration.iter().any(|stream| stream >= all) {
            return Err(Error::Spec(format!(
                "{name} names the streams {} for migrated pages; it must name at least one stream, \
                 and only streams of its own: {}",
                listed(migration),
                range(*all)
            )));
        }
        let may_migrate = (0..*all).map(|stream| migration.contains(&stream)).collect();
        Ok(CustomPlacement {
            name: name.to_owned(),
            required_hints: source.required_hints(),
            calls,
            streams,
            may_migrate,
            answers: Vec::new(),
            used: 0,
            now: 0,
            failure: None,
        })
    }

    fn error(&self, hook: Hook, host_pages: u64, page: Option<u32>, failure: Failure) -> Error {
        Error::of_policy(&self.name, self.calls.word(hook), (host_pages, page), failure)
    }

    #[cold]
    fn fail(&mut self, hook: Hook, host_pages: u64, page: Option<u32>, failure: Failure) {
        self.failure = Some(self.error(hook, host_pages, page, failure));
    }

    #[cold]
    fn wrong_host_stream(&mut self, page: HostPage, stream: i64) {
        let valid = range(self.streams.all);
        let failure =
            Failure::of(format!("returned the stream {stream}, but its streams are {valid}"));
        self.fail(Hook::Write, page.now, Some(page.logical), failure);
    }

    /// Checks that the placement returned one stream for each page, and only streams for migrated
    /// pages.
    fn check(&self, pages: &[u32], victim: &Victim) -> Result<()> {
        if self.answers.len() != pages.len() {
            let failure = Failure::of(format!(
                "returned {} streams, but it must return one for each of the {} valid pages of the \
                 victim",
                self.answers.len(),
                pages.len()
            ));
            return Err(self.error(Hook::Migrate, victim.now, None, failure));
        }
        let may_get = |stream: i64| {
            let stream = usize::try_from(stream).ok();
            stream.and_then(|stream| self.may_migrate.get(stream)).is_some_and(|may| *may)
        };
        let wrong = self.answers.iter().position(|stream| !may_get(*stream));
        wrong.map_or(Ok(()), |at| {
            let failure = Failure::of(format!(
                "returned the stream {}, but its streams for migrated pages are {}",
                self.answers[at],
                listed(&self.streams.migration)
            ));
            Err(self.error(Hook::Migrate, victim.now, Some(pages[at]), failure))
        })
    }
}

fn range(all: usize) -> String {
    if all == 1 { "0 only".to_owned() } else { format!("0 to {}", all - 1) }
}

fn listed(streams: &[usize]) -> String {
    let words: Vec<String> = streams.iter().map(usize::to_string).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

impl SelfDeclared for CustomPlacement {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn streams(&self) -> Streams {
        let CustomStreams { all, migration } = &self.streams;
        Streams { all: *all, migration: migration.len() }
    }

    fn required_hints(&self) -> RequiredHints {
        self.required_hints
    }
}

impl Placement for CustomPlacement {
    const USES_HOST_HINTS: bool = true;
    const USES_VICTIM: bool = true;
    const CAN_FAIL: bool = true;

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        self.now = page.now + 1;
        match self.calls.host_stream(&page) {
            Ok(stream) if (stream as u64) < self.streams.all as u64 => stream as usize,
            Ok(stream) => {
                self.wrong_host_stream(page, stream);
                0
            }
            Err(failure) => {
                self.fail(Hook::Write, page.now, Some(page.logical), failure);
                0
            }
        }
    }

    fn forget(&mut self, logical: u32) {
        if let Err(failure) = self.calls.forget(logical) {
            self.fail(Hook::Trim, self.now, Some(logical), failure);
        }
    }

    fn on_pages(&mut self, pages: &[u32], victim: &Victim) -> Result<()> {
        self.calls
            .on_victim(victim)
            .map_err(|failure| self.error(Hook::Victim, victim.now, None, failure))?;
        self.answers.clear();
        self.used = 0;
        self.calls
            .migration_streams(pages, victim, &mut self.answers)
            .map_err(|failure| self.error(Hook::Migrate, victim.now, None, failure))?;
        self.check(pages, victim)
    }

    #[inline(always)]
    fn migration_stream(&mut self, _logical: u32, _victim: &Victim) -> usize {
        self.used += 1;
        self.answers[self.used - 1] as usize
    }

    #[inline(always)]
    fn failure(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn bytes(&self) -> u64 {
        self.calls.bytes()
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        self.calls.prefetch(logical);
    }
}

impl State for CustomPlacement {
    fn save(&self, to: &mut Writer) {
        to.value(&self.now);
        match self.calls.save() {
            Ok(bytes) => to.list(&bytes),
            Err(error) => to.refuse(error),
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.now = from.value("the clock of the placement")?;
        let mut bytes: Vec<u8> = Vec::new();
        from.list(&mut bytes, "the state of the placement")?;
        self.calls.restore(&bytes)
    }
}
