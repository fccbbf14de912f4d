//! Tags of the host's writes, and the numbers of programs by tag.

use std::collections::BTreeMap;

/// Number of programs by tag and cause; a cause is its index in reports.
pub type TagCounts = BTreeMap<(u8, usize), u64>;

/// Number of pages that collection moved between the blocks of two handles.
/// The handles are those from and to which it moved. None is for blocks that handles share.
pub type Transfers = BTreeMap<(Option<u8>, Option<u8>), u64>;

/// Tag of data without a tag.
pub const UNTAGGED: u8 = 255;
/// Tag of padding and of the mapping table.
pub const OF_DRIVE: u8 = 254;
