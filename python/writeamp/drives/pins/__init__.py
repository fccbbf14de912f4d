"""Write amplification of real drives, from captures of their flash chips' Ready/Busy pins."""
