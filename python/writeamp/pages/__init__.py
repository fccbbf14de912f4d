"""Self-contained HTML pages: frame, style and embedded data."""
