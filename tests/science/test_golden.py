"""The golden counters are met, on every processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from golden import GOLDEN, changed, counters
from registered import ONLY
from writeamp._engine import SIMD


@pytest.mark.registry
def test_one_seed_gives_the_golden_counters() -> None:
    found, golden = counters(), json.loads(GOLDEN.read_text())
    assert changed(found, golden) == []
    if ONLY is None:
        assert found.keys() == golden.keys(), "an entry is new; make check-policy NAME=it adds it"


# The widest instructions are tested above, wherever the processor has them.
@pytest.mark.parametrize("narrower", [{"WRITEAMP_SIMD": "avx2"}, {"WRITEAMP_SCALAR": "1"}])
def test_a_processor_without_wide_instructions_counts_the_same(narrower: dict[str, str]) -> None:
    if SIMD == "scalar" and "WRITEAMP_SIMD" in narrower:
        pytest.skip("the processor lacks AVX2")
    # The engine asks the processor once in a process.
    program = "import json, golden; print(json.dumps(golden.counters()))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | narrower | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
        stdout=subprocess.PIPE,
    )
    assert changed(json.loads(done.stdout), json.loads(GOLDEN.read_text())) == []
