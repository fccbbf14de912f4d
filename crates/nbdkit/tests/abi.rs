//! The binding has the layout of the header, where that is installed.

#[allow(dead_code)]
#[path = "../src/abi.rs"]
mod abi;

use std::fmt::Write;
use std::mem::offset_of;
use std::process::Command;

use abi::Plugin;

macro_rules! fields {
    ($($ours:ident = $theirs:literal),+ $(,)?) => {
        [$(($theirs, offset_of!(Plugin, $ours))),+]
    };
}

#[test]
fn every_field_lies_where_the_header_says() {
    let header = "/usr/include/nbdkit-plugin.h";
    if !std::path::Path::new(header).exists() {
        eprintln!("skipped: {header} is missing (Debian package nbdkit-plugin-dev)");
        return;
    }
    let fields = fields! {
        struct_size = "_struct_size", api_version = "_api_version", thread_model = "_thread_model",
        name = "name", longname = "longname", version = "version", description = "description",
        load = "load", unload = "unload", config = "config", config_complete = "config_complete",
        config_help = "config_help", open = "open", close = "close", get_size = "get_size",
        can_write = "can_write", can_flush = "can_flush", is_rotational = "is_rotational",
        can_trim = "can_trim", errno_is_preserved = "errno_is_preserved",
        dump_plugin = "dump_plugin", can_zero = "can_zero", can_fua = "can_fua", pread = "pread",
        pwrite = "pwrite", flush = "flush", trim = "trim", zero = "zero",
        magic_config_key = "magic_config_key", can_multi_conn = "can_multi_conn",
        can_extents = "can_extents", extents = "extents", can_cache = "can_cache",
        cache = "cache", thread_model_asked = "thread_model", can_fast_zero = "can_fast_zero",
        preconnect = "preconnect", get_ready = "get_ready", after_fork = "after_fork",
        list_exports = "list_exports", default_export = "default_export",
        export_description = "export_description", cleanup = "cleanup", block_size = "block_size",
    };
    let constants = [
        ("NBDKIT_API_VERSION", i64::from(abi::API_VERSION)),
        ("NBDKIT_THREAD_MODEL_PARALLEL", i64::from(abi::THREAD_MODEL_PARALLEL)),
        ("NBDKIT_FLAG_MAY_TRIM", i64::from(abi::FLAG_MAY_TRIM)),
        ("NBDKIT_FLAG_FUA", i64::from(abi::FLAG_FUA)),
        ("NBDKIT_FLAG_REQ_ONE", i64::from(abi::FLAG_REQ_ONE)),
        ("NBDKIT_FLAG_FAST_ZERO", i64::from(abi::FLAG_FAST_ZERO)),
        ("NBDKIT_FUA_NATIVE", i64::from(abi::FUA_NATIVE)),
        ("NBDKIT_CACHE_NATIVE", i64::from(abi::CACHE_NATIVE)),
        ("NBDKIT_EXTENT_HOLE", i64::from(abi::EXTENT_HOLE)),
        ("NBDKIT_EXTENT_ZERO", i64::from(abi::EXTENT_ZERO)),
    ];
    let mut source = String::from(
        "#define NBDKIT_API_VERSION 2\n#include <stddef.h>\n#include <nbdkit-plugin.h>\n",
    );
    let mut assert_that = |what: String| writeln!(source, "_Static_assert({what});").unwrap();
    for (field, at) in fields {
        assert_that(format!("offsetof(struct nbdkit_plugin, {field}) == {at}, \"{field}\""));
    }
    for (name, value) in constants {
        assert_that(format!("{name} == {value}, \"{name}\""));
    }
    let own_bytes = size_of::<Plugin>();
    assert_that(format!("sizeof(struct nbdkit_plugin) >= {own_bytes}, \"size\""));
    let directory = std::env::temp_dir().join(format!("writeamp-abi-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("layout.c");
    std::fs::write(&file, source).unwrap();
    let done = Command::new("cc").arg("-fsyntax-only").arg(&file).output().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
