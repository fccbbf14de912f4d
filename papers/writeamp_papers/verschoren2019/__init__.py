"""Verschoren and Van Houdt 2019 (paper 4), one module a part of the paper."""
