//! Time limit of a test.
//!
//! A broken policy may collect forever; the test should then fail, not hang.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time limit, far above the slowest test on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs `work` on a thread of its own, within a time limit.
///
/// If `work` does not end in time, returns an error, and the thread continues.
pub fn in_time<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = channel();
    let worker = thread::spawn(move || {
        // Sending fails only if the receiver has stopped waiting, so the error is ignored.
        let _ = sender.send(work());
    });
    match receiver.recv_timeout(LIMIT) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => {
            Err(format!("no end within {} s, as when collection gains nothing", LIMIT.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => {
            resume_unwind(worker.join().expect_err("a worker that sent nothing panicked"))
        }
    }
}
