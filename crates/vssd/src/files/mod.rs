//! Access to files: mapped memory, reserved space, permissions and labels.

pub mod bus_error;
pub mod cell;
pub mod label;
pub mod mapping;
pub mod private;
pub mod space;
