"""Names of the registered models, for which no model need be imported."""

# In the order in which they are listed: each is the file of this package that has its name.
MODEL_NAMES = (
    "uniform-distribution",
    "expected-value",
    "fifo",
    "markov",
    "d-choices",
    "coupon-collector",
)
