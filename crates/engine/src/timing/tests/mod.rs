//! What tests of several devices use.

pub mod server;
