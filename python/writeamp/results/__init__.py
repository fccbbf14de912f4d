"""Results for people and tools: notebooks, data frames, CSV, and comparisons."""
