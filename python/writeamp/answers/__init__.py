"""One question answered by every way, why answers differ, and what would make it less."""
