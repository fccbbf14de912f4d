"""What needs no simulation: models in closed form, mean fields, the division of spare space."""
