"""Names of the registered models, available without importing a model."""

# In the order of listings; each is the name of a file in this package.
MODEL_NAMES = (
    "uniform-distribution",
    "expected-value",
    "fifo",
    "markov",
    "d-choices",
    "coupon-collector",
)
