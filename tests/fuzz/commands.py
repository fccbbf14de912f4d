"""Command lines to try. Drives are small or absurd, never large: a valid run takes a moment."""

from __future__ import annotations

import specs
from hypothesis import strategies as st
from specs import EDGES, JUNK, SHARES

COUNTS = st.one_of(st.integers(1, 64).map(str), EDGES)
_FEW = st.one_of(st.integers(1, 4).map(str), st.sampled_from(["0", "-1", "1e18", "x", "2.5"]))
# What outlasts every patience and is nevertheless valid is left out.
_WRITES = st.one_of(st.integers(1, 20_000).map(str), st.sampled_from(["0", "-1", "1.5", "x", ""]))
_OUTPUTS = st.sampled_from(
    ["out.html", "out.svg", "out.toml", "out.gif", "", ".", "no/such/out.svg", "trace", "out"]
)
_FILES = st.sampled_from(["trace", "drive.toml", "run.toml", "no-such", ".", ""])

_DRIVE = {
    "--device": st.one_of(
        st.sampled_from(["generic", "eagletree", "drive.toml", "no-such.toml"]), JUNK
    ),
    "--blocks": COUNTS,
    "--logical-blocks": COUNTS,
    "--logical-pages": st.one_of(st.integers(1, 2000).map(str), EDGES),
    "--pages-per-block": st.one_of(st.integers(1, 32).map(str), EDGES),
    "--page-bytes": st.one_of(st.sampled_from(["512", "4096", "16384", "1"]), EDGES),
    "--op": st.one_of(SHARES, EDGES),
    "--fill": st.one_of(SHARES, EDGES),
    "--spare-factor": st.one_of(SHARES, EDGES),
    "--layout": st.one_of(st.sampled_from(["flat", "striped", "striped-per-lun", "static"]), JUNK),
}
_PRECONDITIONS = ["full", "none", "workload", "random", "random:2", "random:0", "aged:trace"]
_LOAD = {
    "--workload": st.one_of(specs.specs("workloads"), JUNK),
    "--utilization": st.one_of(SHARES, EDGES),
    "--precondition": st.one_of(st.sampled_from(_PRECONDITIONS), JUNK),
    "--seed": COUNTS,
    "--trace": _FILES,
    "--format": st.one_of(
        st.sampled_from(["msr", "spc", "mqsim", "ssdsim", "disksim", "blkparse", "parquet"]), JUNK
    ),
    "--mapping": st.one_of(st.sampled_from(["compact", "as-is"]), JUNK),
    "--repeat": _FEW,
    "--trace-device": JUNK,
    "--action": st.one_of(st.sampled_from(["Q", "D", "C"]), JUNK),
}
_POLICY = {
    "--manager": st.one_of(specs.specs("managers"), JUNK),
    "--victims": st.one_of(specs.specs("victims"), JUNK),
    "--wear-leveling": st.one_of(specs.specs("wear_levelers"), specs.any_spec()),
}
_RATIOS = {key: _DRIVE[key] for key in ("--op", "--fill", "--spare-factor", "--pages-per-block")}
_SHARE_LISTS = st.lists(st.one_of(SHARES, EDGES), max_size=5).map(",".join)

OPTIONS: dict[str, dict[str, st.SearchStrategy[str]]] = {
    "simulate": {
        **_DRIVE,
        **_LOAD,
        **_POLICY,
        "--writes": _WRITES,
        "--warmup": st.one_of(_WRITES, st.just("auto")),
        "--precision": st.one_of(st.sampled_from(["0.1", "0.01"]), EDGES),
        "--plot": _OUTPUTS,
        "--save-config": _OUTPUTS,
    },
    "compare": {
        **_DRIVE,
        **_LOAD,
        "--managers": st.lists(specs.specs("managers"), min_size=1, max_size=3).map(",".join),
        "--victims": st.lists(specs.specs("victims"), min_size=1, max_size=3).map(",".join),
        "--wear-leveling": _POLICY["--wear-leveling"],
        "--writes": _WRITES,
        "--replicas": _FEW,
        "--threads": _FEW,
    },
    "endurance": {
        **_DRIVE,
        **_LOAD,
        **_POLICY,
        "--w-max": _FEW,
        "--replicas": _FEW,
        "--threads": _FEW,
        "--spare-share": st.one_of(SHARES, EDGES),
        "--capacity": st.one_of(st.sampled_from(["1GB", "100TB", "1e-9B"]), JUNK),
        "--daily-writes": st.one_of(st.sampled_from(["1GB", "1e300TB", "1"]), JUNK),
    },
    "predict": {
        **_RATIOS,
        "--target-wa": st.one_of(st.floats(1, 100).map(repr), EDGES),
        "--utilization": st.one_of(SHARES, EDGES),
        "--hot-ratio": st.one_of(SHARES, EDGES),
        "--model": st.one_of(st.sampled_from(["d-choices", "markov", "fifo"]), JUNK),
        "--d": COUNTS,
        "--window": COUNTS,
        "--reserve": COUNTS,
        "--logical-blocks": COUNTS,
        "--sweep": st.one_of(
            st.tuples(
                st.sampled_from(
                    ["op", "fill", "spare_factor", "pages_per_block", "target_wa", "x"]
                ),
                st.one_of(SHARES, EDGES),
                st.one_of(SHARES, EDGES),
                _FEW,
            ).map(lambda parts: "{}={}:{}:{}".format(*parts)),
            JUNK,
        ),
        "--plot": _OUTPUTS,
    },
    "allocate": {
        **{key: value for key, value in _RATIOS.items() if key != "--pages-per-block"},
        "--sizes": _SHARE_LISTS,
        "--frequencies": _SHARE_LISTS,
        "--coldest-op": st.one_of(SHARES, EDGES),
        "--coldest-below": st.one_of(SHARES, EDGES),
        "--plot": _OUTPUTS,
    },
    "meanfield": {
        **_RATIOS,
        "--mode": st.one_of(st.sampled_from(["hcwf", "hcwf-swap"]), JUNK),
        "--d": COUNTS,
        "--d-swap": COUNTS,
        "--hot-fraction": st.one_of(SHARES, EDGES),
        "--hot-write-fraction": st.one_of(SHARES, EDGES),
        "--plot": _OUTPUTS,
    },
    "trace info": {"--format": _LOAD["--format"], "--action": _LOAD["--action"]},
    "trace convert": {
        "--from": _LOAD["--format"],
        "--to": _LOAD["--format"],
        "--action": _LOAD["--action"],
    },
    "reproduce": {"--full": st.just("x"), "--plots": st.just("trace")},
    "list": {},
}
# Without these most command lines end at the first thing that is missing.
_SMALL = "--blocks 64 --pages-per-block 16 --op 0.3 --writes 3000"
_USUAL = {
    "simulate": _SMALL,
    "compare": _SMALL,
    "endurance": "--blocks 48 --pages-per-block 8 --op 0.3 --w-max 5",
    "predict": "--op 0.2 --pages-per-block 16",
    "allocate": "--sizes 0.5,0.5 --frequencies 0.9,0.1 --op 0.2",
    "meanfield": "--mode hcwf --d 10 --pages-per-block 16 --op 0.2 --hot-fraction 0.2 "
    "--hot-write-fraction 0.8",
}
_OPERANDS = {
    "simulate": st.lists(st.just("run.toml"), max_size=1),
    "compare": st.lists(st.just("run.toml"), max_size=1),
    "endurance": st.lists(st.just("run.toml"), max_size=1),
    "trace info": st.lists(_FILES, min_size=1, max_size=1),
    "trace convert": st.tuples(_FILES, st.sampled_from(["out.csv", "out.parquet", "trace", "out"])),
    "reproduce": st.lists(JUNK.filter(lambda text: "20" not in text), min_size=1, max_size=1),
    "list": st.lists(
        st.one_of(st.sampled_from(["managers", "models", "formats"]), JUNK), max_size=2
    ),
}


@st.composite
def command_lines(draw: st.DrawFn, verbs: tuple[str, ...] = tuple(OPTIONS)) -> list[str]:
    """Command lines without the name of the command."""
    verb = draw(st.sampled_from(verbs))
    options = OPTIONS[verb]
    given: dict[str, str] = {}
    if draw(st.integers(0, 9)):
        usual = _USUAL.get(verb, "").split()
        given = dict(zip(usual[::2], usual[1::2], strict=True))
    for flag in draw(st.lists(st.sampled_from(sorted(options)), max_size=4)) if options else []:
        if flag in ("--fill", "--spare-factor", "--target-wa") or flag.startswith("--logical"):
            given.pop("--op" if not flag.startswith("--logical") else "--blocks", None)
        if flag == "--trace":
            given.pop("--workload", None)
        given[flag] = draw(options[flag])
    operands = list(draw(_OPERANDS.get(verb, st.just([]))))
    flags = [word for pair in given.items() for word in pair]
    more = draw(
        st.lists(
            st.sampled_from(["--json", "--json", "--series", "--curve", "--force"]), max_size=1
        )
    )
    if draw(st.integers(0, 30)) == 0:
        more.append(draw(JUNK))
    return [word.replace("\0", "") for word in (*verb.split(), *operands, *flags, *more)]
