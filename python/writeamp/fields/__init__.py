"""Fields: settings as they are declared, each with its default, domain and words, once."""
