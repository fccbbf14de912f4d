"""Verschoren and Van Houdt 2019 (paper 4), one module for each part of the paper."""
