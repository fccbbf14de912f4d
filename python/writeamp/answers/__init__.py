"""One question answered by all sources, why the answers differ, and how to reduce WA."""
