//! Tests of the drive in time: hand-made schedules, queueing theory, the drive without time.

mod dispatch;
mod errors;
mod laws;
mod mqsim;
mod off;
mod planes;
mod rig;
mod schedules;
mod slc;
mod untimed;
