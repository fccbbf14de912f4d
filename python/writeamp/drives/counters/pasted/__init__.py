"""Removal of what pasting adds to a log: quotes, colours, log prefixes, line breaks."""
