"""Headlines of results, by kind of document."""
