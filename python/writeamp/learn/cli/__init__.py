"""Commands of learnt models: `blackbox` and `twin`."""
