"""The form of long tests: short in `make test`, whole in `make test-full`."""

from __future__ import annotations

import os

FULL = os.environ.get("WRITEAMP_TEST_FULL") == "1"
