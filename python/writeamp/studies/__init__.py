"""Studies: many runs for one result, each stored when finished, so that a study can resume."""
