"""The command run in this process, which spares a second of imports each time."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import pytest
from writeamp.cli import main


def run(verb: str, arguments: str) -> tuple[int, str, str]:
    """Run a verb with arguments separated by spaces: status, stdout, stderr."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with (
        patch.object(sys, "argv", ["writeamp", verb, *arguments.split()]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    for stream in (out, err):
        stream.seek(0)
    return int(ended.value.code or 0), out.read(), err.read()
