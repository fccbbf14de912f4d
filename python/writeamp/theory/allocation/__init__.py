"""How to divide over-provisioned space between groups of pages; users see `writeamp.allocation`."""
