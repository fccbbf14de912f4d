//! The form of long tests: short in `make test`, whole in `make test-full`.
//!
//! `forms.py` says the same.

use std::ffi::OsStr;

/// True if `WRITEAMP_TEST_FULL` is set, to something else than nothing and `0`.
pub fn is_full() -> bool {
    asks_for_the_whole(std::env::var_os("WRITEAMP_TEST_FULL").as_deref())
}

fn asks_for_the_whole(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

#[test]
fn nothing_and_zero_ask_for_the_short_form() {
    let asked = |value: &str| asks_for_the_whole(Some(OsStr::new(value)));
    assert!(!asks_for_the_whole(None) && !asked("") && !asked("0"));
    assert!(asked("1") && asked("yes") && asked("00"));
}
