"""Self-contained HTML pages: their frame, their style, and the data inside them."""
