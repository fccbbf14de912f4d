//! Long calls that Ctrl-C can interrupt.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Longest time between two checks for interrupts.
const POLL: Duration = Duration::from_millis(50);

/// Stack size in bytes, as of the main thread on most systems.
/// The default of a new thread is smaller.
const STACK_BYTES: usize = 8 << 20;

/// Runs `work` on a separate thread, so that Ctrl-C can interrupt the present thread.
///
/// The present thread waits, and checks for Ctrl-C and for a request to stop by the runner
/// (`writeamp.runners`). In either case the function returns an error at once. `work` continues in
/// its thread, and its result is dropped.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    interruptible_with(py, work, |_| Ok(()))
}

/// Like [`interruptible`], but calls `also` after each wait in which no result arrived.
///
/// An error of `also` is returned at once.
pub fn interruptible_with<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    also: impl Fn(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let worker = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || drop(sender.send(work()))) // the receiver is gone after an interrupt
        .map_err(|error| PyOSError::new_err(format!("cannot start a thread: {error}")))?;
    let receiver = Mutex::new(receiver);
    loop {
        // The check also comes before the first wait. Short calls end before the timeout of a wait,
        // so a series of short calls could otherwise never be interrupted.
        check_interrupt(py)?;
        let answer = py.detach(|| {
            receiver.lock().expect("only this thread uses the receiver").recv_timeout(POLL)
        });
        match answer {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => also(py)?,
            Err(RecvTimeoutError::Disconnected) => resume_unwind(
                worker.join().expect_err("the thread sends a result unless it panics"),
            ),
        }
    }
}

/// Returns an error if the present thread must stop: after Ctrl-C, or if the runner requested
/// it.
pub fn check_interrupt(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    py.import("writeamp.runners.stopping")?.call_method0("stop_if_asked").map(drop)
}
