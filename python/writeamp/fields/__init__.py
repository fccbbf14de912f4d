"""Fields of settings: default, domain, help and names, each declared once."""
