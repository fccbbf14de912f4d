"""The notebook in examples/: it runs as it stands there, and shows what it says."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import polars as pl
import pytest

import writeamp as wa
from forms import FULL
from patience import PATIENCE_S
from places import EXAMPLES, TRACE

NOTEBOOK = EXAMPLES / "how_much_op.ipynb"
# Of 604,279 of the trace.
SHORT_REQUESTS = 100_000
# Managers that are not compared in the short form: searching the op of the best one takes a minute.
SLOW_MANAGERS = ', "sepbit", "wolf-interval"'
# Of the outputs of all cells, so that whoever keeps them can still send the file.
MOST_BYTES = 1_000_000


@pytest.fixture(scope="module")
def stored() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the notebook where it lies; in the short form, a copy beside a shorter trace."""
    if FULL:
        return NOTEBOOK
    folder = tmp_path_factory.mktemp("notebook")
    requests = pl.read_parquet(TRACE).head(SHORT_REQUESTS)
    wa.traces.write(wa.traces.of(requests), folder / TRACE.name)
    return Path(shutil.copy(NOTEBOOK, folder))


@pytest.fixture(scope="module")
def ran(stored: Any, place: Path) -> dict[str, list[Any]]:
    """Run the notebook, in the short form with fewer managers; return the outputs of its cells."""
    found = nbformat.from_dict(stored)
    assert SLOW_MANAGERS in str([cell.source for cell in found.cells])
    for cell in found.cells:
        cell.source = cell.source if FULL else cell.source.replace(SLOW_MANAGERS, "")
    # The kernel shall take the library that the tests take.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(Path(wa.__file__).parents[1])
    try:
        client = nbclient.NotebookClient(
            found, timeout=PATIENCE_S, resources={"metadata": {"path": str(place.parent)}}
        )
        client.execute()
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before
    return {cell.id: cell.outputs for cell in found.cells if cell.cell_type == "code"}


def test_it_is_stored_without_outputs_and_with_ids(stored: Any) -> None:
    nbformat.validate(stored)
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert len(code) > 5
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    ids = [cell.id for cell in stored.cells]
    assert len(set(ids)) == len(ids)


def test_every_cell_shows_something_and_none_complains(ran: dict[str, list[Any]]) -> None:
    for name, outputs in ran.items():
        kinds = {one.output_type for one in outputs}
        assert "error" not in kinds, name
        assert not [one for one in outputs if one.get("name") == "stderr"], name
        assert (kinds == set()) == (name == "import"), name
    assert len(str(ran)) < MOST_BYTES


def test_results_are_tables_and_plots_are_pictures(ran: dict[str, list[Any]]) -> None:
    for name, outputs in ran.items():
        data = [one.data for one in outputs if one.output_type == "execute_result"]
        if name.startswith("show-"):
            assert data[0]["image/svg+xml"].startswith("<svg"), name
        elif data:
            assert "<table" in data[0]["text/html"], name


def test_the_answer_is_the_op_that_the_trace_needs(ran: dict[str, list[Any]], place: Path) -> None:
    printed = "".join(ran["best"][0].text)
    found = re.search(r"^sepgc: op ([\d.]+) \(([\d.]+) to ([\d.]+)\)", printed)
    op, low, high = map(float, found.groups())
    assert 0 < low <= op <= high
    trace = str(place.with_name(TRACE.name))
    assert isinstance(run := wa.simulate(trace=trace, manager="sepgc", op=op), wa.Result)
    assert run.ci[0] <= 1.5 <= run.ci[1]
    shown = re.search(r"op for WA 1\.5.*?(0\.\d+)", ran["answer"][0].data["text/html"], re.DOTALL)
    assert float(shown.group(1)) == pytest.approx(op, abs=6e-4)  # to three digits
