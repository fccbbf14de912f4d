"""Fields of NVMe log pages: the virtual drive encodes them, measurements decode them."""
