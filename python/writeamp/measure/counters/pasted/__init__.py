"""Text as people paste it: readers get it without quotes, colours, log prefixes and wraps."""
