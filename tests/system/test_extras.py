"""Commands without the packages of an extra: the error names two ways to install it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from writeamp.errors import how_to_install

# Packages of all extras, none of which the command finds.
MISSING = (
    "cryptography", "distributed", "fsspec", "lightgbm", "numba", "optuna", "SALib", "sklearn",
    "skops", "threadpoolctl",
)  # fmt: skip
PLACEMENT = """
import writeamp as wa

@wa.compiled
class Alone(wa.Placement):
    streams, migration_streams = 1, [0]

    def on_write(self, page, now):
        return 0

    def on_migrate(self, page, victim):
        return 0
"""
SWEEP = """
[device]
blocks = 64
pages_per_block = 8
[run]
writes = 600
[sweep]
design = "{design}"
{more}
axes = {{ op = {{ from = 0.2, to = 0.4 }} }}
"""
SMALL = "--blocks 64 --pages-per-block 8 --writes 600"
COMMANDS = {
    "blackbox": [f"blackbox {verb}" for verb in (
        "train table --out m", "evaluate m table", "predict m --workload random:bs=4k", "explain m",
        "choose m --workload random:bs=4k --max-latency 2ms",
    )],
    "cluster": [
        f"simulate {SMALL} --scheduler tcp://127.0.0.1:1",
        "sweep grid.toml --keep grid --workers 2",
        "volumes split s3://bucket/a.csv --out fleet",
        "simulate --trace s3://bucket/a.csv",
    ],
    "numba": [f"simulate {SMALL} --manager placement.py:Alone:compiled=yes"],
    "search": ["sweep search.toml --keep search"],
    "sensitivity": ["sweep saltelli.toml --keep s", "sweep morris.toml --keep m"],
}  # fmt: skip
CHILD = f"""
import io, json, sys
from contextlib import redirect_stderr
sys.modules.update(dict.fromkeys({MISSING!r}))
from writeamp.cli import main
results = []
for line in json.load(sys.stdin):
    sys.argv = ["writeamp", *line.split()]
    with redirect_stderr(io.TextIOWrapper(io.BytesIO(), "utf-8")) as errors:
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    errors.seek(0)
    results.append([status, errors.read()])
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Return status and error of each command, which run in one process without the packages."""
    folder = tmp_path_factory.mktemp("extras")
    (folder / "placement.py").write_text(PLACEMENT)
    designs = {
        "grid": "",
        "search": "samples = 4\nminimize = 'wa'",
        "saltelli": "samples = 4",
        "morris": "samples = 4",
    }
    for design, more in designs.items():
        text = SWEEP.format(design=design, more=more)
        if design == "grid":
            text = text.replace('design = "grid"', "").replace("{ from = 0.2, to = 0.4 }", "[0.2]")
        (folder / f"{design}.toml").write_text(text)
    lines = [line for lines in COMMANDS.values() for line in lines]
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(lines),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(lines, map(tuple, json.loads(done.stdout.splitlines()[-1])), strict=True))


@pytest.mark.parametrize(
    ("extra", "line"), [(extra, line) for extra, lines in COMMANDS.items() for line in lines]
)
def test_a_command_that_misses_an_extra_names_both_ways_to_install_it(
    errors: dict[str, tuple[int, str]], extra: str, line: str
) -> None:
    status, text = errors[line]
    assert status == 2, text
    assert text.count("\n") == 1
    assert how_to_install(extra) in text


@pytest.mark.parametrize("name", ["BlackBox", "choose", "explained", "load", "save", "train"])
def test_a_function_that_misses_its_extra_names_both_ways(name: str) -> None:
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({MISSING!r})); import writeamp as wa\n"
        f"try:\n    wa.blackbox.{name}\nexcept wa.WriteampError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert how_to_install("blackbox") in done.stdout
