"""Dayan, Bouganim and Bonnet 2015 (paper 3), one module a part of the paper."""
