"""Runner on a Dask cluster.

Dask is an extra and takes half a second to load: `choice` imports this package only if needed.
"""
