"""Paper 2: black-box models of flash drives (Huang et al. 2011)."""
