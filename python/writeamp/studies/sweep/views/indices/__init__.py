"""How much each axis matters: one file for each kind of design."""
