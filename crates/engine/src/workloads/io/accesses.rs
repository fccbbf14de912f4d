//! Sizes and positions of the requests of one direction.

/// Size of requests in bytes, and share of the requests with this size in per cent.
pub type SizeShare = (u64, u32);

/// Requests of one direction, reads or writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accesses {
    /// Size of each request, in bytes.
    pub size_bytes: u64,
    /// Share of requests at random positions; the other requests continue from the previous
    /// request.
    pub random: f64,
    /// Bytes between the end of a request and the start of the one that continues it.
    pub stride_bytes: u64,
    /// Alignment of random requests, in bytes.
    pub align_bytes: u64,
}
