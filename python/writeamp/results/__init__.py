"""How results meet people and other tools: notebooks, data frames, CSV, and each other."""
