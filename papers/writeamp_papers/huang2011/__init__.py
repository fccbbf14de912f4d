"""Huang et al. 2011 (paper 2): black-box models of flash drives, one module for each part."""
