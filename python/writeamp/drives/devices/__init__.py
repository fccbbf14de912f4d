"""Real drives: read by their tools, measured while a command writes, their units learned."""
