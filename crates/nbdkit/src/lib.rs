//! nbdkit plugin of the virtual SSD: passes requests to [`writeamp_vssd::Drive`].
//!
//! `nbdkit ./_nbdkit.so config=FILE`, where FILE is a [`writeamp_vssd::Config`] in JSON.

#![allow(unsafe_code)]

mod abi;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use abi::Plugin;
use writeamp_vssd::control::Control;
use writeamp_vssd::{Config, Drive, Error, Result};

static CONFIG: Mutex<Option<PathBuf>> = Mutex::new(None);
static DRIVE: OnceLock<Arc<Drive>> = OnceLock::new();
static CONTROL: Mutex<Option<Control>> = Mutex::new(None);
/// Last printed error.
/// It is not printed twice in a row, because a client may repeat a failing request forever.
static PRINTED: Mutex<String> = Mutex::new(String::new());
/// True if closing the drive failed, so that host writes may be lost.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

static PLUGIN: Plugin = Plugin {
    struct_size: size_of::<Plugin>() as u64,
    api_version: abi::API_VERSION,
    thread_model: abi::THREAD_MODEL_PARALLEL,
    name: c"writeamp".as_ptr(),
    longname: c"writeamp virtual SSD".as_ptr(),
    version: VERSION.as_ptr(),
    description: c"a simulated flash SSD that reports its write amplification".as_ptr(),
    load: None,
    unload: Some(unload),
    config: Some(config),
    config_complete: Some(config_complete),
    config_help: c"config=<FILE>  (required) the drive, in JSON, from `writeamp serve`".as_ptr(),
    open: Some(open),
    close: None,
    get_size: Some(get_size),
    can_write: Some(yes),
    can_flush: Some(yes),
    is_rotational: Some(no),
    can_trim: Some(yes),
    pread_v1: None,
    pwrite_v1: None,
    flush_v1: None,
    trim_v1: None,
    zero_v1: None,
    errno_is_preserved: 0,
    dump_plugin: None,
    can_zero: Some(yes),
    can_fua: Some(can_fua),
    pread: Some(pread),
    pwrite: Some(pwrite),
    flush: Some(flush),
    trim: Some(trim),
    zero: Some(zero),
    magic_config_key: c"config".as_ptr(),
    // A flush on one connection covers the completed requests of all connections.
    can_multi_conn: Some(yes),
    can_extents: Some(yes),
    extents: Some(extents),
    can_cache: Some(can_cache),
    cache: Some(cache),
    thread_model_asked: None,
    can_fast_zero: Some(yes),
    preconnect: None,
    get_ready: None,
    after_fork: Some(after_fork),
    list_exports: None,
    default_export: None,
    export_description: None,
    cleanup: Some(cleanup),
    block_size: Some(block_size),
};

/// Exit status after a drive that could not be closed: `EX_IOERR` of sysexits.h.
const NOT_CLOSED: c_int = 74;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("the version must not contain a NUL"),
    };

/// Returns the plugin's table of functions; nbdkit looks for this symbol.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_init() -> *const Plugin {
    &raw const PLUGIN
}

unsafe extern "C" fn config(key: *const c_char, value: *const c_char) -> c_int {
    // SAFETY: nbdkit passes valid strings.
    let (key, value) = unsafe { (CStr::from_ptr(key), CStr::from_ptr(value)) };
    answered(|| {
        if key != c"config" {
            let key = key.to_string_lossy();
            return Err(Error::invalid(format!("unknown parameter {key:?}; valid: config")));
        }
        let path = std::os::unix::ffi::OsStrExt::from_bytes(value.to_bytes());
        let path: &std::ffi::OsStr = path;
        *CONFIG.lock().expect("no thread panicked while it held this lock") = Some(path.into());
        Ok(())
    })
}

unsafe extern "C" fn config_complete() -> c_int {
    answered(|| read_config().map(drop))
}

fn read_config() -> Result<Config> {
    let path = CONFIG.lock().expect("no thread panicked while it held this lock").clone();
    Config::read(&path.ok_or_else(|| Error::invalid("config=FILE is required"))?)
}

/// Starts threads after nbdkit has forked into the background.
unsafe extern "C" fn after_fork() -> c_int {
    answered(|| {
        let config = read_config()?;
        if config.dies_with_parent {
            // SAFETY: a system call with a signal number.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        }
        let drive = Arc::new(Drive::open(&config)?);
        if let Some(path) = &config.control {
            let control = Control::listen(path, drive.clone())?;
            *CONTROL.lock().expect("no thread panicked while it held this lock") = Some(control);
        }
        if DRIVE.set(drive).is_err() {
            return Err(Error::invalid("the drive was opened twice"));
        }
        Ok(())
    })
}

unsafe extern "C" fn cleanup() {
    // The last printed error is cleared, so that the reason of a failed close is printed even if it
    // was printed before.
    PRINTED.lock().expect("no thread panicked while it held this lock").clear();
    let closed = answered(|| {
        CONTROL.lock().expect("no thread panicked while it held this lock").take();
        DRIVE.get().map_or(Ok(()), |drive| drive.close())
    });
    HAS_FAILED.store(closed != 0, Ordering::Release);
}

/// Ends the process with status `EX_IOERR` if the drive could not be closed.
///
/// nbdkit itself would exit with 0.
unsafe extern "C" fn unload() {
    if HAS_FAILED.load(Ordering::Acquire) {
        // SAFETY: a system call; the drive is closed.
        unsafe { libc::_exit(NOT_CLOSED) };
    }
}

unsafe extern "C" fn open(_readonly: c_int) -> *mut c_void {
    // All connections use the same drive.
    (&raw const DRIVE).cast_mut().cast()
}

unsafe extern "C" fn get_size(_: *mut c_void) -> i64 {
    drive().map_or(-1, |drive| drive.size_bytes().cast_signed())
}

unsafe extern "C" fn yes(_: *mut c_void) -> c_int {
    1
}

unsafe extern "C" fn no(_: *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn can_fua(_: *mut c_void) -> c_int {
    abi::FUA_NATIVE
}

unsafe extern "C" fn can_cache(_: *mut c_void) -> c_int {
    abi::CACHE_NATIVE
}

/// Requests of any size are served.
/// The preferred size is a page of the host, which may be less than a mapping unit.
unsafe extern "C" fn block_size(
    _: *mut c_void,
    minimum: *mut u32,
    preferred: *mut u32,
    maximum: *mut u32,
) -> c_int {
    answered(|| {
        let page_bytes = drive()?.host_page_bytes();
        // SAFETY: nbdkit passes valid pointers.
        unsafe {
            *minimum = 1;
            *preferred = page_bytes.next_power_of_two().clamp(512, 32 << 20);
            *maximum = u32::MAX;
        }
        Ok(())
    })
}

unsafe extern "C" fn pread(
    _: *mut c_void,
    to: *mut c_void,
    length: u32,
    offset: u64,
    _flags: u32,
) -> c_int {
    // SAFETY: nbdkit passes a buffer of that length, which is not used elsewhere meanwhile.
    let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), length as usize) };
    answered(|| drive()?.read(offset, to))
}

unsafe extern "C" fn pwrite(
    _: *mut c_void,
    from: *const c_void,
    length: u32,
    offset: u64,
    flags: u32,
) -> c_int {
    // SAFETY: as for `pread`.
    let from = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length as usize) };
    answered(|| drive()?.write(offset, from, flags & abi::FLAG_FUA != 0))
}

unsafe extern "C" fn flush(_: *mut c_void, _flags: u32) -> c_int {
    answered(|| drive()?.flush())
}

unsafe extern "C" fn trim(_: *mut c_void, length: u32, offset: u64, flags: u32) -> c_int {
    answered(|| drive()?.trim(offset, u64::from(length), flags & abi::FLAG_FUA != 0))
}

/// Writes zeros. If the client lets the drive free the space, whole pages are trimmed.
unsafe extern "C" fn zero(_: *mut c_void, length: u32, offset: u64, flags: u32) -> c_int {
    let (may_trim, fua) = (flags & abi::FLAG_MAY_TRIM != 0, flags & abi::FLAG_FUA != 0);
    answered(|| {
        if flags & abi::FLAG_FAST_ZERO != 0 && !may_trim {
            let sentence =
                "fast zeroing needs permission to trim: without it, zeros are as slow as a \
                            write"
                    .into();
            return Err(Error { sentence, errno: libc::EOPNOTSUPP });
        }
        drive()?.zero(offset, u64::from(length), may_trim, fua)
    })
}

unsafe extern "C" fn extents(
    _: *mut c_void,
    length: u32,
    offset: u64,
    flags: u32,
    to: *mut c_void,
) -> c_int {
    answered(|| {
        let most = if flags & abi::FLAG_REQ_ONE != 0 { 1 } else { usize::MAX };
        for (bytes, holds) in drive()?.extents(offset, u64::from(length))?.take(most) {
            let kind = if holds { 0 } else { abi::EXTENT_HOLE | abi::EXTENT_ZERO };
            let length = bytes.end - bytes.start;
            // SAFETY: the list is the one that nbdkit passed for this request.
            if unsafe { abi::nbdkit_add_extent(to, bytes.start, length, kind) } != 0 {
                return Err(Error::invalid("nbdkit rejected an extent"));
            }
        }
        Ok(())
    })
}

/// Ignores requests to prefetch (NBD's cache command), because only served reads are counted.
unsafe extern "C" fn cache(_: *mut c_void, _length: u32, _offset: u64, _flags: u32) -> c_int {
    0
}

fn drive() -> Result<&'static Drive> {
    DRIVE.get().map(|drive| &**drive).ok_or_else(|| Error::invalid("the drive is not open yet"))
}

/// Returns 0, or −1 after reporting an error to nbdkit. A panic becomes an error.
fn answered(serve: impl FnOnce() -> Result<()>) -> c_int {
    let panicked = |_| Err(Error::fault("internal error of writeamp: a request panicked"));
    let Err(error) = catch_unwind(AssertUnwindSafe(serve)).unwrap_or_else(panicked) else {
        return 0;
    };
    let mut printed = PRINTED.lock().expect("no thread panicked while it held this lock");
    if *printed != error.sentence {
        let sentence = CString::new(error.sentence.replace('\0', "")).unwrap_or_default();
        // SAFETY: both arguments are C strings, and the format takes one string.
        unsafe { abi::nbdkit_error(c"%s".as_ptr(), sentence.as_ptr()) };
        *printed = error.sentence;
    }
    // SAFETY: the function only takes an integer.
    unsafe { abi::nbdkit_set_error(error.errno) };
    -1
}
