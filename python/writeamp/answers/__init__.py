"""One question answered by every way, side by side; why answers differ; what would make it less."""
