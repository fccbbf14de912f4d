"""A small drive step by step in the browser: recordings of it, ten chapters, and their page."""
