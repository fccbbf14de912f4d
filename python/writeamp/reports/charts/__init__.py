"""Drawings of reports: SVG without a library, in the colours of the page."""
