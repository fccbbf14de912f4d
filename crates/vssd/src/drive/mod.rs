//! A virtual drive: what a protocol calls, from any number of threads.
//!
//! Data are copied under a lock of their page alone; then the lock of [`Serialized`] is taken for
//! what must be in order: the flash serves the request, and its row is written down.

mod serialized;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use writeamp_engine::request::Op;

use crate::config::Config;
use crate::data::{Data, Source};
use crate::error::{Error, Result};
use crate::flash::Flash;
use crate::flash::books::Pages;
use crate::flash::clocked::Clocked;
use crate::flash::report::{self, Samples};
use crate::held::Held;
use crate::kept::journal::Journal;
use crate::kept::store::{self, Opened};
use crate::record::Ask;
use serialized::{Recording, Serialized};

/// A drive that serves requests.
pub struct Drive {
    size_bytes: u64,
    page_bytes: u64,
    started: Instant,
    data: Data,
    held: Arc<Held>,
    serialized: Mutex<Serialized>,
    /// Woken when a request of a timed drive is done.
    done: Condvar,
    /// True if there will soon be no space to write requests down.
    is_short: AtomicBool,
    /// Error after which nothing is called durable any more.
    lost_writes: OnceLock<Error>,
}

impl Drive {
    /// The drive of a configuration: a new one, or one that goes on where its files end.
    pub fn open(config: &Config) -> Result<Self> {
        config.check()?;
        let page_bytes = u64::from(config.drive.geometry.page_bytes);
        let (flash, data, held, journal) = if let Some(path) = &config.backing {
            let Opened { flash, data, held, end } = store::open(config, path)?;
            let journal = Journal::new(end, Duration::from_millis(config.longest_replay_ms))?;
            (flash, data, held, Some(journal))
        } else {
            let flash = Flash::new(config, store::initial_state(config)?.as_deref())?;
            let data = Data::in_memory(config.size_bytes, page_bytes as u32);
            let data = data.map_err(|error| Error {
                sentence: format!("{} bytes cannot be mapped: {error}", config.size_bytes),
                errno: libc::ENOMEM,
            })?;
            let held = flash.held(config.size_bytes / page_bytes);
            (flash, data, held, None)
        };
        let recording = config.record.as_deref().map(Recording::new).transpose()?;
        let samples = Samples::from(&flash.counters());
        let serialized = Serialized { flash, journal, recording, samples, served: 0, since: 0 };
        Ok(Drive {
            size_bytes: config.size_bytes,
            page_bytes,
            started: Instant::now(),
            data,
            held,
            serialized: Mutex::new(serialized),
            done: Condvar::new(),
            is_short: AtomicBool::new(false),
            lost_writes: OnceLock::new(),
        })
    }

    /// Bytes that the host sees.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The unit of mapping: smaller writes are read-modify-write.
    pub fn page_bytes(&self) -> u32 {
        self.page_bytes as u32
    }

    /// Reads bytes.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        let Some(ask) = self.ask(Op::Read, offset, to.len() as u64, false)? else { return Ok(()) };
        self.serve(self.lock_with_room()?, &ask)?;
        let pages = Pages::of(&ask, self.page_bytes).range;
        let mut at = 0;
        for (end, holds) in self.held.runs(pages) {
            let end = ((end * self.page_bytes - offset) as usize).min(to.len());
            let part = &mut to[at..end];
            if holds {
                self.data.read(offset + at as u64, part)?;
            } else {
                part.fill(0);
            }
            at = end;
        }
        Ok(())
    }

    /// Writes bytes; `fua` if they are to be durable before this returns.
    pub fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<()> {
        let Some(ask) = self.ask(Op::Write, offset, from.len() as u64, fua)? else { return Ok(()) };
        self.store(&ask, Source::Bytes(from))
    }

    /// Makes bytes 0. If `may_trim`, whole pages then hold no data; else all are written.
    pub fn zero(&self, offset: u64, length: u64, may_trim: bool, fua: bool) -> Result<()> {
        let Some(ask) = self.ask(Op::Write, offset, length, fua)? else { return Ok(()) };
        let inner = self.whole_pages(offset, length);
        if !may_trim || inner.is_empty() {
            return self.store(&ask, Source::Zeros(length));
        }
        for part in [offset..inner.start, inner.end..offset + length] {
            if let Some(ask) = self.ask(Op::Write, part.start, part.end - part.start, false)? {
                self.store(&ask, Source::Zeros(part.end - part.start))?;
            }
        }
        self.trim(inner.start, inner.end - inner.start, fua)
    }

    /// Takes the data of all pages that lie wholly within the bytes.
    pub fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<()> {
        self.ask(Op::Trim, offset, length, fua)?;
        let inner = self.whole_pages(offset, length);
        let whole_bytes = inner.end - inner.start;
        let Some(ask) = self.ask(Op::Trim, inner.start, whole_bytes, fua)? else { return Ok(()) };
        self.check_room()?;
        self.data.discard(inner)?;
        self.serve(self.lock_with_room()?, &ask)?;
        if fua { self.sync() } else { Ok(()) }
    }

    /// Makes all that was answered before durable.
    pub fn flush(&self) -> Result<()> {
        self.serve(self.lock_with_room()?, &Ask::flush())?;
        self.sync()
    }

    /// Splits a range into runs of whole pages with or without data.
    ///
    /// Of each it tells the bytes, and whether they hold data.
    pub fn extents(
        &self,
        offset: u64,
        length: u64,
    ) -> Result<impl Iterator<Item = (Range<u64>, bool)> + '_> {
        self.ask(Op::Read, offset, length, false)?;
        let pages = offset / self.page_bytes..(offset + length).div_ceil(self.page_bytes);
        let mut at = pages.start;
        Ok(self.held.runs(pages).map(move |(end, holds)| {
            let first = std::mem::replace(&mut at, end);
            (first * self.page_bytes..end * self.page_bytes, holds)
        }))
    }

    /// Waits until no snapshot is being taken.
    pub fn settle(&self) {
        while self.lock().is_ok_and(|locked| locked.journal.as_ref().is_some_and(Journal::is_busy))
        {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Makes everything durable; the last call before the drive goes.
    pub fn close(&self) -> Result<()> {
        self.settle();
        let mut synced = self.sync();
        let mut locked = self.lock()?;
        let locked = &mut *locked;
        let caught_up = locked.flash.catch_up();
        // Before it is turned off, which is no part of them.
        let recorded = locked.write_recordings();
        if let (Ok(()), Some(journal)) = (&synced, &mut locked.journal) {
            if let Err(error) = journal.finish(&mut locked.flash) {
                // Its requests are served anew at the next start instead.
                eprintln!("writeamp: warning: no snapshot of the flash was taken: {error}");
            }
            synced = self.data.sync_sums().and_then(|()| journal.close());
        }
        synced.and(caught_up).and(recorded)
    }

    /// Counters as a document; those of the run begin anew if `begin`.
    pub fn counters(&self, begin: bool) -> Result<Map<String, Value>> {
        let mut locked = self.lock()?;
        let locked = &mut *locked;
        locked.flash.catch_up()?;
        let recorded = locked.write_recordings();
        let counters = locked.flash.counters();
        if begin {
            (locked.since, locked.samples) = (locked.served, Samples::from(&counters));
            if let Flash::Clocked(clocked, _) = &mut locked.flash {
                clocked.forget_latencies();
            }
        }
        let requests = locked.flash.requests();
        let mut found =
            report::counters(locked.flash.flash(), &counters, requests, locked.flash.causes());
        found.insert("since".into(), locked.since.into());
        found.insert("requests".into(), locked.served.into());
        found.insert("elapsed_ns".into(), (self.started.elapsed().as_nanos() as u64).into());
        found.insert("size_bytes".into(), self.size_bytes.into());
        // The flash of a timed drive has pages of its mapping table too, and lacks those that an
        // SLC cache or a write cache holds.
        found.insert("logical_pages".into(), (self.size_bytes / self.page_bytes).into());
        found.insert("mapped_pages".into(), self.held.count().into());
        if let Some(wear) = locked.flash.slc_wear() {
            found.insert("slc".into(), report::slc(&wear));
        }
        found.insert("latency".into(), locked.flash.latencies());
        found.insert("timed".into(), locked.flash.moment());
        found.insert("recording_error".into(), recorded.err().map(|error| error.sentence).into());
        Ok(found)
    }

    /// Samples since counting began.
    pub fn series(&self) -> Result<Value> {
        Ok(self.lock()?.samples.to_json())
    }

    /// Blocks by valid pages and by erases.
    pub fn blocks(&self) -> Result<Value> {
        Ok(report::blocks(self.lock()?.flash.flash()))
    }

    /// The request, if it lies on the drive and asks for anything.
    fn ask(&self, op: Op, offset: u64, length: u64, fua: bool) -> Result<Option<Ask>> {
        let ask = u32::try_from(length).map(|length| Ask { op, offset, length, fua });
        let Some(ask) = ask.ok().filter(|ask| ask.is_on(self.size_bytes)) else {
            return Err(Error::invalid(format!(
                "{length} bytes at {offset} are not on this drive of {} bytes",
                self.size_bytes
            )));
        };
        Ok((length > 0).then_some(ask))
    }

    fn whole_pages(&self, offset: u64, length: u64) -> Range<u64> {
        let first = offset.next_multiple_of(self.page_bytes);
        let end = (offset + length) / self.page_bytes * self.page_bytes;
        first..end.max(first)
    }

    /// Stores data, then serves the request.
    ///
    /// Pages that hold none yet are begun with nobody else at the desk: two requests may begin the
    /// same page, and what they do not write of it must be zeros.
    fn store(&self, ask: &Ask, source: Source<'_>) -> Result<()> {
        self.check_room()?;
        let pages = Pages::of(ask, self.page_bytes);
        let locked = if pages.range.clone().all(|page| self.held.holds(page)) {
            self.put(ask, source)?;
            self.lock_with_room()?
        } else {
            let locked = self.lock_with_room()?;
            // They read as zeros, so the rest of them must be zeros once they hold data.
            for page in pages.partial().filter(|page| !self.held.holds(*page)) {
                self.data.begin(page)?;
            }
            self.put(ask, source)?;
            locked
        };
        self.serve(locked, ask)?;
        if ask.fua { self.sync() } else { Ok(()) }
    }

    fn put(&self, ask: &Ask, source: Source<'_>) -> Result<()> {
        self.data.write(ask.offset, source)
    }

    /// Serves a request whose data are stored, and notes which pages hold data from here on.
    /// That is one step, so that rows of the journal are in its order.
    fn serve(&self, mut locked: MutexGuard<'_, Serialized>, ask: &Ask) -> Result<()> {
        let partly_held = Pages::of(ask, self.page_bytes).hold(ask.op, &self.held);
        let at_ns = self.started.elapsed().as_nanos() as u64;
        let served = locked.serve(ask, at_ns, partly_held);
        let is_short = locked.journal.as_ref().is_some_and(|journal| journal.shortage().is_some());
        self.is_short.store(is_short, Ordering::Relaxed);
        let id = served?;
        while let (Some(id), Flash::Clocked(clocked, _)) = (id, &mut locked.flash) {
            self.catch_up(clocked)?;
            if clocked.take_done(id) {
                break;
            }
            locked = self.wait(locked)?;
        }
        Ok(())
    }

    /// Fails, before any data changes, if there is no space to write the request down.
    fn check_room(&self) -> Result<()> {
        if !self.is_short.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut locked = self.lock()?;
        let Serialized { journal: Some(journal), flash, .. } = &mut *locked else { return Ok(()) };
        journal.make_room(flash)?;
        journal.shortage().cloned().map_or(Ok(()), Err)
    }

    /// Lets happen what has happened by now, and wakes whoever waits for it.
    fn catch_up(&self, clocked: &mut Clocked) -> Result<()> {
        if clocked.catch_up()? {
            self.done.notify_all();
        }
        Ok(())
    }

    /// Waits until something happens to a timed drive.
    fn wait<'a>(&self, locked: MutexGuard<'a, Serialized>) -> Result<MutexGuard<'a, Serialized>> {
        let Flash::Clocked(clocked, _) = &locked.flash else { return Ok(locked) };
        let Some(time) = clocked.until_next() else {
            return self.done.wait(locked).map_err(|_| broken());
        };
        let (mut locked, _) = self.done.wait_timeout(locked, time).map_err(|_| broken())?;
        if let Flash::Clocked(clocked, _) = &mut locked.flash {
            self.catch_up(clocked)?;
        }
        Ok(locked)
    }

    /// Makes data and journal durable.
    ///
    /// The machine tells of a failed write-back once, and only one of those who ask: after it,
    /// nothing is called durable any more.
    fn sync(&self) -> Result<()> {
        let unsynced = self.lock()?.journal.as_ref().map(Journal::unsynced);
        let Some(unsynced) = unsynced else { return Ok(()) };
        if let Some(error) = self.lost_writes.get() {
            return Err(error.clone());
        }
        unsynced.sync(&self.data).inspect_err(|error| {
            let _ = self.lost_writes.set(error.clone());
        })?;
        if let Some(journal) = &mut self.lock()?.journal {
            journal.synced(&unsynced);
        }
        Ok(())
    }

    /// The lock, once the drive takes a further request.
    fn lock_with_room(&self) -> Result<MutexGuard<'_, Serialized>> {
        let mut locked = self.lock()?;
        while locked.flash.is_full() {
            locked = self.wait(locked)?;
        }
        Ok(locked)
    }

    fn lock(&self) -> Result<MutexGuard<'_, Serialized>> {
        self.serialized.lock().map_err(|_| broken())
    }
}

/// Returns the error after a panic, which is a defect of the engine.
///
/// Its state may be half changed, and what is written down would not fit to it.
fn broken() -> Error {
    Error::fault("a request has panicked, so this drive serves no more; start it again")
}
