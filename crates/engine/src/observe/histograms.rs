//! Histograms of the state of a drive.

use crate::flash::{Array, BlockState};

/// Histogram of closed blocks: entry v counts the blocks with v valid pages.
pub fn valid_page_histogram(flash: &Array) -> Vec<u64> {
    let pages_per_block = flash.geometry().pages_per_block();
    let mut histogram = vec![0; pages_per_block as usize + 1];
    for block in 0..flash.geometry().blocks() {
        if flash.state(block) == BlockState::Closed {
            histogram[(pages_per_block - flash.invalid_pages(block)) as usize] += 1;
        }
    }
    histogram
}

/// Histogram of all blocks: entry n counts the blocks that were erased n times.
pub fn erase_histogram(flash: &Array) -> Vec<u64> {
    let most = flash.erase_counts().iter().max().copied().unwrap_or(0);
    let mut histogram = vec![0; most as usize + 1];
    for &erases in flash.erase_counts() {
        histogram[erases as usize] += 1;
    }
    histogram
}
