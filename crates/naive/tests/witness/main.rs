//! The engine against the naive drive: every registered victim policy, on every registered block
//! manager, in every layout.

mod agreement;
mod batches;
mod cases;
mod host;
mod pair;
mod patience;
