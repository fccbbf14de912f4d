"""The one exception for input that a user can mend."""

from __future__ import annotations


class WriteampError(ValueError):
    """Bad usage or bad input: one sentence that says what was wrong, where, and what is valid.

    The command line prints the sentence and exits with status 2; the library raises it.
    """
