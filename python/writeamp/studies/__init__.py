"""Studies: many runs for one answer, each kept when something stops."""
