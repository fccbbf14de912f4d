"""Ready/Busy pins: captures of real drives' flash, and the write amplification they show."""
