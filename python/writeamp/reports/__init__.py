"""Reports: a self-contained HTML page made from a result's JSON, which can be read back."""
