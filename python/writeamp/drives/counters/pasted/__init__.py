"""Cleaning of pasted logs: removes quotes, colours, log prefixes and line breaks."""
