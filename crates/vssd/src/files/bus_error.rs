//! Handler of SIGBUS, the signal for a mapped page that the kernel cannot read or store.
//!
//! The causes are a truncated file, a failed disk, or a page without disk space. The handler maps
//! an empty page in its place, so that the load or store returns, and marks the range as failed.
//! Faults at other addresses go to the previous handler.

#![allow(unsafe_code)]

use std::io;
use std::mem::{transmute, zeroed};
use std::ptr::{null, null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, compiler_fence};
use std::sync::{Mutex, OnceLock};

use libc::{c_int, c_void, siginfo_t};

type Handler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
type PlainHandler = unsafe extern "C" fn(c_int);

/// Entry for a watched range of addresses.
/// Entries are reused and never freed, so that the handler can read them at any time.
#[derive(Debug)]
struct Range {
    /// First address of the range, or `NOWHERE` if the entry is unused.
    start: AtomicUsize,
    end: AtomicUsize,
    /// Address of the first load or store that failed, or `NOWHERE`.
    failed_at: AtomicUsize,
    next: *const Range,
}

// SAFETY: all fields but `next` are atomics, and `next` is constant once the range is published.
unsafe impl Sync for Range {}

/// Data for the signal handler besides the ranges.
struct Installed {
    former: libc::sigaction,
    page_bytes: usize,
}

const NOWHERE: usize = usize::MAX;
/// Linked list of the ranges: the handler must not take a lock.
static RANGES: AtomicPtr<Range> = AtomicPtr::new(null_mut());
static FREE: Mutex<Vec<&'static Range>> = Mutex::new(Vec::new());
static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// A watched range of addresses; dropping it ends the watch.
#[derive(Debug)]
pub struct Watch(&'static Range);

impl Watch {
    /// Watches mapped memory.
    pub fn of(start: *const u8, length: usize) -> io::Result<Self> {
        let mut free = FREE.lock().expect("no thread panicked while it held this lock");
        install()?;
        let range = free.pop().unwrap_or_else(new_range);
        range.failed_at.store(NOWHERE, Ordering::Relaxed);
        range.end.store(start.addr() + length, Ordering::Relaxed);
        range.start.store(start.addr(), Ordering::Release);
        Ok(Watch(range))
    }

    /// Returns the address of the first load or store in the range that failed, or None.
    pub fn failed_at(&self) -> Option<usize> {
        // The compiler must not move loads or stores of mapped memory behind this line, because
        // they may fault.
        compiler_fence(Ordering::SeqCst);
        let address = self.0.failed_at.load(Ordering::Acquire);
        (address != NOWHERE).then_some(address)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.start.store(NOWHERE, Ordering::Release);
        FREE.lock().expect("no thread panicked while it held this lock").push(self.0);
    }
}

impl Range {
    /// Maps an empty page at a faulting address; false if that fails.
    fn replace_page(&self, address: usize, page_bytes: usize) -> bool {
        let (new, done) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.failed_at.compare_exchange(NOWHERE, address, new, done);
        let page = without_provenance_mut(address / page_bytes * page_bytes);
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
        let flags = kind | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: the page belongs to a watched mapping, whose users check `failed_at`. On Linux,
        // mmap is a plain system call, which a signal handler may make.
        unsafe { libc::mmap(page, page_bytes, access, flags, -1, 0) == page }
    }
}

/// Adds a range at the head of the list. The caller has the lock of `FREE`.
fn new_range() -> &'static Range {
    let range = Box::leak(Box::new(Range {
        start: AtomicUsize::new(NOWHERE),
        end: AtomicUsize::new(NOWHERE),
        failed_at: AtomicUsize::new(NOWHERE),
        next: RANGES.load(Ordering::Relaxed),
    }));
    RANGES.store(range, Ordering::Release);
    range
}

/// Installs the handler once. The caller has the lock of `FREE`.
fn install() -> io::Result<()> {
    if INSTALLED.get().is_some() {
        return Ok(());
    }
    // SAFETY: structures of integers, for which 0 is valid, and system calls on them.
    let done = unsafe {
        let (mut own, mut former) = (zeroed::<libc::sigaction>(), zeroed::<libc::sigaction>());
        libc::sigaction(libc::SIGBUS, null(), &raw mut former);
        let page_bytes = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        // These data are set before the handler is installed, because a signal may arrive at once.
        INSTALLED.get_or_init(|| Installed { former, page_bytes });
        own.sa_sigaction = on_bus_error as Handler as usize;
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const own, null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Handles the signal.
///
/// It takes no lock and allocates no memory, as the signal can interrupt any code.
unsafe extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(Installed { former, page_bytes }) = INSTALLED.get() else { return };
    // SAFETY: the kernel passes valid signal information; `errno` is thread-local.
    let (is_fault, address, errno) =
        unsafe { ((*info).si_code > 0, (*info).si_addr().addr(), *libc::__errno_location()) };
    let is_replaced =
        is_fault && watched(address).is_some_and(|range| range.replace_page(address, *page_bytes));
    if is_replaced {
        // SAFETY: as above; the interrupted code may read `errno` next.
        unsafe { *libc::__errno_location() = errno };
        return;
    }
    match former.sa_sigaction {
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => end_by(signal),
        // SAFETY: the flags of the previous action state which of the two function types it has.
        handler => unsafe {
            if former.sa_flags & libc::SA_SIGINFO != 0 {
                transmute::<usize, Handler>(handler)(signal, info, context);
            } else {
                transmute::<usize, PlainHandler>(handler)(signal);
            }
        },
    }
}

/// Watched range of an address, or None.
fn watched(address: usize) -> Option<&'static Range> {
    let mut next = RANGES.load(Ordering::Acquire).cast_const();
    // SAFETY: ranges are never freed.
    while let Some(range) = unsafe { next.as_ref() } {
        let start = range.start.load(Ordering::Acquire);
        if (start..range.end.load(Ordering::Relaxed)).contains(&address) {
            return Some(range);
        }
        next = range.next;
    }
    None
}

/// Ends the process by the default action of a signal.
fn end_by(signal: c_int) {
    // SAFETY: a structure of integers, and system calls that a handler may make.
    unsafe {
        let default = zeroed::<libc::sigaction>();
        libc::sigaction(signal, &raw const default, null_mut());
        libc::raise(signal);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use memmap2::MmapRaw;

    use super::*;

    const CHILD: &str = "WRITEAMP_BUS_ERROR";

    fn mapped_and_cut() -> MmapRaw {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 8192]).unwrap();
        let map = MmapRaw::map_raw(&file).unwrap();
        file.set_len(4096).unwrap();
        map
    }

    fn read(map: &MmapRaw, at: usize) -> u8 {
        assert!(at < map.len());
        // SAFETY: the byte is mapped, and a fault there is what is tested.
        unsafe { map.as_ptr().add(at).read_volatile() }
    }

    #[test]
    fn a_fault_in_a_watched_range_reads_zeros_and_is_noted() {
        for _ in 0..3 {
            let map = mapped_and_cut();
            let watch = Watch::of(map.as_ptr(), map.len()).unwrap();
            assert_eq!((read(&map, 0), watch.failed_at()), (7, None));
            assert_eq!(read(&map, 5000), 0);
            assert_eq!(watch.failed_at(), Some(map.as_ptr().addr() + 5000));
        }
    }

    /// Process that a signal ends, with the handler of Rust before ours, or none.
    #[test]
    fn a_process_with_a_handler() {
        let Ok(kind) = std::env::var(CHILD) else { return };
        if kind.starts_with("no handler") {
            // SAFETY: a system call.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        }
        let map = mapped_and_cut();
        let watch = Watch::of(map.as_ptr(), 4096).unwrap();
        if kind.ends_with("sent") {
            // SAFETY: a system call.
            unsafe { libc::raise(libc::SIGBUS) };
        } else {
            read(&map, 5000);
        }
        assert_eq!(watch.failed_at(), None);
    }

    #[test]
    fn other_bus_errors_end_the_process_as_without_a_handler() {
        for kind in ["elsewhere", "no handler, elsewhere", "no handler, sent"] {
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "files::bus_error::tests::a_process_with_a_handler"])
                .env(CHILD, kind)
                .output()
                .unwrap()
                .status;
            assert_eq!(status.signal(), Some(libc::SIGBUS), "{kind}: {status}");
        }
    }
}
