"""Runner on a Dask cluster.

Dask is an optional dependency and takes half a second to load. Therefore `choice` imports this
package only if it is needed.
"""
