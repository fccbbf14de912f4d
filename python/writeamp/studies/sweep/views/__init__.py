"""Views of sweep results (curves, heat maps, trade-offs, sensitivity), one module for each."""
