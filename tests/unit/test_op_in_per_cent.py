"""An op that looks like per cent without the sign is asked back; one with the sign is taken."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import in_process
import writeamp as wa
from writeamp.fields.domains import PerCent

SMALL = {"blocks": 64, "pages_per_block": 16, "writes": 1000, "replicas": 1}
OPTIONS = "--blocks 64 --pages-per-block 16 --writes 1000 --replicas 1"


@pytest.mark.parametrize(
    "command",
    [
        "simulate --op 15",
        "simulate --sweep op=15:40:3",
        "compare --managers single --op 15",
        "endurance --w-max 5 --op 15",
        "predict --op 15",
        "predict --sweep op=0.05:15:3",
        "meanfield --mode hcwf --d 9 --op 15 --hot-fraction 0.1 --hot-write-fraction 0.9",
        "allocate --op 15 --sizes 0.4,0.6 --frequencies 0.9,0.1",
        "serve --op 15 --run true",
    ],
)
def test_op_15_is_asked_back_by_every_verb(command: str) -> None:
    done = in_process.run(command, "")
    assert (done.status, done.out) == (2, "")
    assert "did you mean 15%? An op above 3 is given in per cent, as 1500%" in done.err


def test_the_library_and_files_ask_back_too(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text('verb = "simulate"\n[device]\nop = 15\n')
    plan = {"verb": "simulate", "sweep": {"axes": {"op": [15]}}}
    for asked in (
        lambda: wa.simulate(op=15.0, **SMALL),
        lambda: wa.device(op="15"),
        lambda: wa.predict(op=15),
        lambda: wa.wa_over_op([0.1, 15]),
        lambda: wa.run(file),
        lambda: wa.sweep(plan, out=tmp_path / "out", workers=1),
    ):
        with pytest.raises(wa.WriteampError, match="did you mean 15%"):
            asked()


def test_one_in_per_cent_is_taken_and_kept(tmp_path: Path) -> None:
    saved = tmp_path / "saved.toml"
    found = in_process.document("simulate", f"--op 1500% {OPTIONS} --save-config {saved}")
    assert found["op"] == 15
    assert 'op = "1500%"' in saved.read_text()
    assert in_process.document("simulate", f"{saved}")["causes"] == found["causes"]
    again = wa.Experiment.from_toml(saved)
    assert pickle.loads(pickle.dumps(again)) == again
    plan = {"device": {"blocks": 64}, "run": {"writes": 1000, "replicas": 1}}
    axes = {"op": ["400%", 3]}
    swept = wa.sweep({**plan, "sweep": {"axes": axes}}, out=tmp_path / "out", workers=1)
    assert swept.done == 2


def test_per_cent_is_a_number_like_others() -> None:
    value = PerCent("7.3%")
    assert (value, json.dumps(value), pickle.loads(pickle.dumps(value)).text) == (
        0.073,
        "0.073",
        "7.3%",
    )


def test_a_fill_that_leaves_so_much_space_needs_no_sign() -> None:
    assert wa.device(fill=0.1, blocks=64).op == pytest.approx(9, rel=0.1)
