"""One grammar of specs: the engine's, in text and as values."""

from __future__ import annotations

import pickle

import pytest

import writeamp as wa
from in_process import document
from writeamp.registry import Spec, engine_entries, split_specs

SAME = [
    ("workloads", ["hot-cold:f=0.1,r=0.9", "hot-cold:r=0.9,f=1e-1", "hot-cold(f=.1,r=0.90)"]),
    ("workloads", ["zipf", "zipf:s=0.99", "zipf(s=9.9e-1)"]),
    ("workloads", ["phases:writes=1e5/2e5,of=uniform/zipf",
                   "phases(of=uniform/zipf(s=0.99),writes=100000/200000)"]),
    ("managers", ["hcwf", "hcwf:d=10", "hcwf(detector=oracle,d=1e1)"]),
    ("managers", ["hcwf:detector=bloom", "hcwf:detector=bloom(window=0.25)"]),
    ("victims", ["d-choices", "d-choices:d=10"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "texts"), SAME)
def test_spellings_that_mean_the_same_are_equal(kind: str, texts: list[str]) -> None:
    specs = [Spec.of(kind, text) for text in texts]  # type: ignore[arg-type]
    assert len(set(specs)) == 1
    assert len({spec.canonical for spec in specs}) == 1
    assert [str(spec) for spec in specs] == texts
    assert Spec.of(kind, specs[0].canonical) == specs[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["workloads", "managers", "victims", "wear_levelers", "detectors"])
def test_every_registered_example_parses_to_every_parameter(kind: str) -> None:
    for entry in engine_entries(kind):  # type: ignore[arg-type]
        spec = Spec.of(kind, entry.example)  # type: ignore[arg-type]
        own = [param.name for param in entry.params if not (param.common or param.later)]
        assert list(spec.params) == own


def test_a_spec_is_made_by_keyword_checked_and_prints_as_its_text() -> None:
    spec = wa.workload("mix", sizes=[0.1, 0.9], weights=(0.9, 0.1),
                       of=[wa.workload("hot-cold", f=0.2, r=0.8), "uniform"])  # fmt: skip
    assert str(spec) == "mix:sizes=0.1/0.9,weights=0.9/0.1,of=hot-cold(f=0.2,r=0.8)/uniform"
    assert spec == wa.workload(str(spec))
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(AttributeError):
        spec.name = "zipf"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: wa.workload("zipff"), ["unknown workload 'zipff'", "did you mean 'zipf'"]),
        (lambda: wa.workload("zipf", t=1), ["unknown parameter of workload zipf 't'", "valid: s"]),
        (lambda: wa.workload("hot-cold", f=0.1), ["needs hot_write_fraction="]),
        (lambda: wa.manager("hcwf:d=5", d_swap=9), ["by keyword, not both"]),
        (lambda: wa.victims("d-choices", d=True), ["d of victim policy is True"]),
        (lambda: wa.workload("zipf", s="1,t=2"), ["more than one value"]),
        (lambda: wa.simulate(workload=wa.victims("fifo")), ["fifo", "a workload is wanted"]),
        (lambda: wa.simulate(workload=3), ["workload is 3"]),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_is_no_spec_is_refused_when_made(make: object, words: list[str]) -> None:
    with pytest.raises(wa.WriteampError) as error:
        make()  # type: ignore[operator]
    assert all(word in str(error.value) for word in words), error.value


def test_specs_are_accepted_wherever_their_text_is() -> None:
    case = {"blocks": 64, "pages_per_block": 16, "op": 0.25, "writes": 5_000, "warmup": 1_000}
    by_text = wa.simulate(
        workload="zipf:s=1.2", manager="hcwf:detector=bloom", victims="d-choices:d=5", **case
    )
    by_value = wa.simulate(
        workload=wa.workload("zipf", s=1.2),
        manager=wa.manager("hcwf", detector="bloom"),
        victims=wa.victims("d-choices", d=5),
        **case,
    )
    unlike = ("elapsed_s", "host_pages_per_s")
    first, second = by_text.to_dict(), by_value.to_dict()
    assert {k: v for k, v in first.items() if k not in unlike} == {
        k: v for k, v in second.items() if k not in unlike
    }
    found = wa.compare(
        managers=[wa.manager("single"), "sepgc"], workload="zipf", blocks=64, pages_per_block=16,
        op=0.25, writes=2_000, replicas=1,
    )  # fmt: skip
    assert [row.manager for row in found.rows] == ["single", "sepgc"]


@pytest.mark.parametrize(
    "text", ["hcwf-swap(d=5,d_swap=9),single", "hcwf-swap:d=5,d_swap=9,single"]
)
def test_compare_takes_every_spec_that_simulate_takes(text: str) -> None:
    found = document(
        "compare",
        f"--managers '{text}' --workload hot-cold:f=0.1,r=0.9 --blocks 64 --pages-per-block 16 "
        "--op 0.25 --writes 2000 --replicas 1",
    )
    assert [row["manager"] for row in found["rows"]] == split_specs("managers", text)


@pytest.mark.parametrize(
    "workload", ["hot-cold:f=0.1,r=0.9", "hot-cold:r=0.9,f=0.1", "hot-cold(f=1e-1,r=0.9)"]
)
def test_every_spelling_gets_its_mean_field(workload: str) -> None:
    result = wa.simulate(workload=workload, manager="hcwf(d=5)", blocks=64, pages_per_block=16,
                         op=0.25, writes=2_000, warmup=1_000)  # fmt: skip
    assert "mean field of hcwf(d=5)" in result.theory.model


@pytest.mark.parametrize("workload", ["uniform:trim=0.1", "hot-cold:f=0.1,r=0.9,trim=0.1"])
def test_no_theory_is_claimed_of_a_workload_that_trims(workload: str) -> None:
    case = {"blocks": 64, "pages_per_block": 16, "op": 0.25, "writes": 5_000, "manager": "hcwf"}
    assert "for comparison" in wa.simulate(workload=workload, **case).theory.model
    case["manager"] = "single"
    assert "for comparison" in wa.simulate(workload=workload, **case).theory.model
