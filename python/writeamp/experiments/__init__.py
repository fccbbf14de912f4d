"""Experiments on drives in memory: what is asked, how it is run, and results that draw themselves.

`experiment.py` has the one value that says what to run; `simulation.py`, `comparison.py` and
`lifetime.py` run it. Their functions are `writeamp.simulate`, `compare` and `endurance`.
"""
