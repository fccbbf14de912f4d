"""Units: ratios of spare space, sizes in bytes and durations, as people write them."""
