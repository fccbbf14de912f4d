"""What holds for every test."""

from hypothesis import settings

# A deadline is a timed assertion, which a busy machine fails.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
