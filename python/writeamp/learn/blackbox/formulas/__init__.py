"""Drive formulas: the time of a request from the costs of a drive's parts."""
