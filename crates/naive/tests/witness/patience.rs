//! Time limit of a piece of work.
//!
//! A broken policy can collect for ever; a test should then fail, not hang.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Limit far above the slowest piece of work on a machine that is busy with much else.
const LIMIT: Duration = Duration::from_secs(300);

/// Does `work` on a thread of its own, within a time limit.
///
/// If it does not end, that is an error, and the thread is left behind.
pub fn in_time<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = channel();
    let worker = thread::spawn(move || {
        // The receiver is gone only if nobody waits any more.
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
