//! Check that the bytes of a request are within its device.

use super::IoRequest;
use crate::error::{Error, Result};
use crate::request::Op;

/// Checks that `request` is within a device of this capacity. Flushes are always valid.
pub fn check_extent(request: &IoRequest, capacity_bytes: u64) -> Result<()> {
    let IoRequest { op, offset, length, .. } = *request;
    if op == Op::Flush {
        return Ok(());
    }
    if length == 0 {
        return Err(Error::Spec(format!(
            "the request at byte {offset} has no length; it must be at least 1 byte"
        )));
    }
    if offset.checked_add(length).is_none_or(|end| end > capacity_bytes) {
        return Err(Error::Spec(format!(
            "the request for {length} bytes at byte {offset} is off the end of the device, which \
             has {capacity_bytes} bytes"
        )));
    }
    Ok(())
}
