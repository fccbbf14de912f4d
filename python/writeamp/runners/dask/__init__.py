"""Dask as a runner. It is an extra, and takes half a second to load: `choice` does so if asked."""
