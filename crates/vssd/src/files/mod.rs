//! Mechanism of files: mapped memory, space, owners, and labels that say what they are.

pub mod bus_error;
pub mod cell;
pub mod label;
pub mod mapping;
pub mod private;
pub mod space;
