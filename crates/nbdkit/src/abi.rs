//! Declarations of nbdkit-plugin.h (API version 2).
//!
//! A test compares every offset with the header.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

pub const API_VERSION: c_int = 2;
pub const THREAD_MODEL_PARALLEL: c_int = 3;
pub const FLAG_MAY_TRIM: u32 = 1 << 0;
pub const FLAG_FUA: u32 = 1 << 1;
pub const FLAG_REQ_ONE: u32 = 1 << 2;
pub const FLAG_FAST_ZERO: u32 = 1 << 3;
pub const FUA_NATIVE: c_int = 2;
pub const CACHE_NATIVE: c_int = 2;
pub const EXTENT_HOLE: u32 = 1 << 0;
pub const EXTENT_ZERO: u32 = 1 << 1;

/// Pointer to an optional function that this plugin does not provide.
pub type Unused = Option<unsafe extern "C" fn()>;
type Capability = Option<unsafe extern "C" fn(*mut c_void) -> c_int>;
type Ranged = Option<unsafe extern "C" fn(*mut c_void, u32, u64, u32) -> c_int>;

/// `struct nbdkit_plugin` of the header, with the header's field names.
#[allow(clippy::struct_field_names)]
#[repr(C)]
pub struct Plugin {
    pub struct_size: u64,
    pub api_version: c_int,
    pub thread_model: c_int,
    pub name: *const c_char,
    pub longname: *const c_char,
    pub version: *const c_char,
    pub description: *const c_char,
    pub load: Unused,
    pub unload: Option<unsafe extern "C" fn()>,
    pub config: Option<unsafe extern "C" fn(*const c_char, *const c_char) -> c_int>,
    pub config_complete: Option<unsafe extern "C" fn() -> c_int>,
    pub config_help: *const c_char,
    pub open: Option<unsafe extern "C" fn(c_int) -> *mut c_void>,
    pub close: Unused,
    pub get_size: Option<unsafe extern "C" fn(*mut c_void) -> i64>,
    pub can_write: Capability,
    pub can_flush: Capability,
    pub is_rotational: Capability,
    pub can_trim: Capability,
    pub pread_v1: Unused,
    pub pwrite_v1: Unused,
    pub flush_v1: Unused,
    pub trim_v1: Unused,
    pub zero_v1: Unused,
    pub errno_is_preserved: c_int,
    pub dump_plugin: Unused,
    pub can_zero: Capability,
    pub can_fua: Capability,
    pub pread: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, u32, u64, u32) -> c_int>,
    pub pwrite: Option<unsafe extern "C" fn(*mut c_void, *const c_void, u32, u64, u32) -> c_int>,
    pub flush: Option<unsafe extern "C" fn(*mut c_void, u32) -> c_int>,
    pub trim: Ranged,
    pub zero: Ranged,
    pub magic_config_key: *const c_char,
    pub can_multi_conn: Capability,
    pub can_extents: Capability,
    pub extents: Option<unsafe extern "C" fn(*mut c_void, u32, u64, u32, *mut c_void) -> c_int>,
    pub can_cache: Capability,
    pub cache: Ranged,
    pub thread_model_asked: Unused,
    pub can_fast_zero: Capability,
    pub preconnect: Unused,
    pub get_ready: Unused,
    pub after_fork: Option<unsafe extern "C" fn() -> c_int>,
    pub list_exports: Unused,
    pub default_export: Unused,
    pub export_description: Unused,
    pub cleanup: Option<unsafe extern "C" fn()>,
    pub block_size:
        Option<unsafe extern "C" fn(*mut c_void, *mut u32, *mut u32, *mut u32) -> c_int>,
}

// SAFETY: its pointers are to constants, and nbdkit does not write to it.
unsafe impl Sync for Plugin {}

unsafe extern "C" {
    pub fn nbdkit_error(format: *const c_char, ...);
    pub fn nbdkit_set_error(errno: c_int);
    pub fn nbdkit_add_extent(extents: *mut c_void, offset: u64, length: u64, kind: u32) -> c_int;
}
