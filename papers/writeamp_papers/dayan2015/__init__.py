"""Dayan, Bouganim and Bonnet 2015 (paper 3), one module for each part of the paper."""
