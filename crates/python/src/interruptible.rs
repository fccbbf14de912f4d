//! Long calls that Ctrl-C can interrupt.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// The longest time in which nobody asks whether to go on.
const POLL: Duration = Duration::from_millis(50);

/// Stack of the main thread on most systems; that of a new one is smaller by default.
const STACK_BYTES: usize = 8 << 20;

/// Does the work on a thread of its own, so that this one can be interrupted.
///
/// It looks for Ctrl-C and for the wish to stop of who started it (`writeamp.runners`). If either comes,
/// the work is left alone, and what it finds is dropped.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    interruptible_with(py, work, |_| Ok(()))
}

/// As [`interruptible`]; meanwhile `also` is called from time to time.
pub fn interruptible_with<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    also: impl Fn(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let worker = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || drop(sender.send(work()))) // nobody listens any more after an interrupt
        .map_err(|error| PyOSError::new_err(format!("cannot start a thread: {error}")))?;
    let receiver = Mutex::new(receiver);
    loop {
        // At once too: many short calls in a row would never wait for so long.
        check_interrupt(py)?;
        let answer = py.detach(|| receiver.lock().expect("one thread locks it").recv_timeout(POLL));
        match answer {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => also(py)?,
            Err(RecvTimeoutError::Disconnected) => {
                resume_unwind(worker.join().expect_err("only a panic sends nothing"))
            }
        }
    }
}

/// An error if this thread shall not go on.
pub fn check_interrupt(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    py.import("writeamp.runners.stopping")?.call_method0("stop_if_asked").map(drop)
}
