"""Real drives: reading by tools, measurement of a command, and calibration of units."""
