"""Drive formulas: the time of a request by what the parts of a drive cost."""
