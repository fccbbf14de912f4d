//! Files as the machine has them: mapped, sparse, of one owner, and labelled with what they are.

pub mod bus_error;
pub mod cell;
pub mod label;
pub mod mapping;
pub mod private;
pub mod space;
