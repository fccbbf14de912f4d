"""One question answered by all methods, why the answers differ, and how to reduce WA."""
