//! The drive in time against schedules made by hand, queueing theory, and the drive without time.

mod laws;
mod mqsim;
mod rig;
mod schedules;
mod untimed;
