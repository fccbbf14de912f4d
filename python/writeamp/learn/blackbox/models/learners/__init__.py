"""Learners: one file each, with its `LEARNER`, and a line in `blackbox/model_kinds.py`."""
