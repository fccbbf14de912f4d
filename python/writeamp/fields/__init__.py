"""Fields: declarations of what is asked, each with its default, its domain and its words, once."""
