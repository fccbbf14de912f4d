//! JESD219: the enterprise workload under which TBW and DWPD are rated (JEDEC, 2010).
//!
//! Sizes and zones are as drive makers print them. Requests begin at multiples of 4 KiB, and 60% of
//! them are writes, as in the example job of fio. All addresses should be written before.

use super::accesses::{Accesses, SizeShare};

/// Sizes of requests.
pub const SIZES: [SizeShare; 12] = [
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4096, 67),
    (8192, 10),
    (16_384, 7),
    (32_768, 3),
    (65_536, 3),
];

/// Spec of the positions: shares of the requests to zones of the address space.
pub const ZONES: &str = "mix:sizes=0.05/0.15/0.8,weights=0.5/0.3/0.2";

/// Random requests that begin at multiples of 4 KiB, with room for the largest size.
pub const ACCESSES: Accesses =
    Accesses { size_bytes: 65_536, random: 1.0, stride_bytes: 0, align_bytes: 4096 };
