"""Theory without simulation: closed forms, mean fields, division of spare space."""
