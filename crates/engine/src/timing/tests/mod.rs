//! Fixtures for tests of several devices.

pub mod server;
