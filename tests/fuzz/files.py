"""Files to try: traces of every format, devices and experiments, whole and damaged."""

from __future__ import annotations

import gzip
import io
import struct
from typing import Any

import polars as pl
from hypothesis import strategies as st
from specs import EDGES, JUNK
from writeamp import traces
from writeamp.settings.experiment import Experiment

_ROWS = {
    "msr": b"128166372003061629,hm,0,Write,4096,8192,2833\n",
    "spc": b"0,8,8192,W,0.5\n",
    "mqsim": b"1000 0 8 16 0\n",
    "ssdsim": b"1000 0 8 16 0\n",
    "disksim": b"0.001 0 8 16 0\n",
    "blkparse": b"8,0 0 1 0.5 5 Q W 8 + 16 [x]\n",
    "alibaba": b"0,W,4096,8192,1577808144360767\n",
    "tencent": b"1538323200,8,16,1,0\n",
    "iolog": b"5 /dev/sda write 4096 8192\n",
    "systor": b"1456095145.133076000,0.000806000,W,0,4096,8192\n",
    "fiu": b"89968195792462 20782 gzip 8 16 W 6 0 56f11b711d91a065a2b6458eca924523\n",
    "libcachesim": b"1,0.5,2a,8192,8\n",
    "ftrace": b"x-5 [000] .... 0.5: block_rq_complete: 8,0 W () 8 + 16 [0]\n",
    "biosnoop": b"0.5 x 5 sda W 8 8192 0.7\n",
    "xperf": b"DiskWrite, 5, x (5), 7, 0x1, 0x1000, 0x2000, 9, 0, 0x6, 9\n",
}
_BINARY = {
    "vscsi": struct.pack("<IIIHHQQ", 1, 4096, 1, 0x2A, 0x100, 8, 1000) * 3,
    "blktrace": struct.pack(
        "<IIQQIIIIIHH", 0x65617407, 1, 1000, 8, 4096, 0x20001, 7, 0x800010, 0, 0, 0
    )
    * 3,
}
_FIRST_LINES = {
    "libcachesim": b"version,time,op,size,lbn\n",
    "iolog": b"fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n",
}
_PIECES = st.one_of(
    EDGES.map(str.encode),
    st.binary(max_size=6),
    st.sampled_from([b"\n", b",", b" ", b"\0", b"\r", b"\xff", b"W", b"-", b"\x1b[2J", b"PAR1"]),
)
_EXPERIMENTS = {
    verb: Experiment.of(verb, blocks=64, pages_per_block=16, op=0.3, **more).to_toml()
    for verb, more in {
        "simulate": {"writes": 3000},
        "compare": {"managers": ["single", "sepgc"], "writes": 3000, "replicas": 1},
        "endurance": {"w_max": 5, "replicas": 1},
    }.items()
}
_DEVICE = """[geometry]
channels = 1
blocks_per_plane = 64
pages_per_block = 16
[management]
op = 0.3
layout = "flat"
"""


@st.composite
def text_traces(draw: st.DrawFn) -> bytes:
    """Lines of a format; some have a field that is something else, some are not whole."""
    format_name = draw(st.sampled_from(sorted(_ROWS)))
    separator = b"," if b"," in _ROWS[format_name][:12] and format_name != "blkparse" else b" "
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        fields = _ROWS[format_name].rstrip().split(separator)
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(fields) - 1))
            fields[at] = draw(_PIECES)
        lines.append(separator.join(fields) + b"\n")
    text = _FIRST_LINES.get(format_name, b"") + b"".join(lines)
    return draw(_packed(draw(damaged(text)) if draw(st.booleans()) else text))


def _packed(text: bytes) -> st.SearchStrategy[bytes]:
    packed = gzip.compress(text, mtime=0)
    return st.one_of(st.just(text), st.just(text), st.just(packed), damaged(packed))


def damaged(content: bytes) -> st.SearchStrategy[bytes]:
    """Contents with pieces left out, put in, doubled, or bytes changed."""
    places = st.integers(0, len(content))

    def cut(parts: tuple[int, int, bytes]) -> bytes:
        low, high = sorted(parts[:2])
        return content[:low] + parts[2] + content[high:]

    def flip(parts: list[tuple[int, int]]) -> bytes:
        changed = bytearray(content)
        for at, value in parts:
            if at < len(changed):
                changed[at] = value
        return bytes(changed)

    return st.one_of(
        st.tuples(places, places, _PIECES).map(cut),
        places.map(lambda at: content[:at]),
        st.lists(st.tuples(places, st.integers(0, 255)), min_size=1, max_size=4).map(flip),
        st.just(content * 2),
    )


@st.composite
def parquet_traces(draw: st.DrawFn) -> bytes:
    """Parquet files of our schema or nearly so, with metadata that others wrote."""
    rows = draw(st.integers(0, 5))

    def column(usual: list[Any], kinds: list[Any]) -> pl.Series:
        values = [draw(st.sampled_from(usual)) for _ in range(rows)]
        kind = draw(st.sampled_from(kinds))
        return pl.Series(values, strict=False).cast(kind, strict=False)

    whole = [pl.Int64, pl.Int64, pl.UInt32, pl.UInt64, pl.Float64, pl.String, pl.Int8]
    usual = [0, 1, 4096, 2**31, 2**62, -1, None]
    frame = pl.DataFrame(
        {
            "timestamp_ns": column([0, 1, 10**9, -(2**62)], whole),
            "device": column([0, 0, 1, 2**31], whole),
            "op": column(["read", "write", "trim", "flush", "Write"], [pl.String, pl.Categorical]),
            "offset": column(usual, whole),
            "length": column([512, 4096, 2**31, 0], whole),
        }
    )
    if draw(st.integers(0, 5)) == 0:
        frame = frame.drop(draw(st.sampled_from(frame.columns)))
    names = st.sampled_from(
        ['["a"]', '["a","b\\u001b[31m"]', "[", "[" * 100_000, "9" * 5000, '["\\udcff","b"]', "{}"]
    )
    metadata = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "writeamp.devices": names,
                "writeamp.trace_schema": st.sampled_from(["1", "2", "9" * 5000, "\x1b"]),
            },
        )
    )
    out = io.BytesIO()
    frame.write_parquet(out, metadata=metadata)
    return draw(damaged(out.getvalue())) if draw(st.integers(0, 3)) == 0 else out.getvalue()


def any_trace() -> st.SearchStrategy[bytes]:
    """Traces of every format."""
    binary = st.sampled_from(sorted(_BINARY)).flatmap(lambda name: damaged(_BINARY[name]))
    return st.one_of(text_traces(), text_traces(), binary, parquet_traces())


def _toml(text: str) -> st.SearchStrategy[bytes]:
    """The text, with values that are something else."""
    lines = text.splitlines()
    valued = [at for at, line in enumerate(lines) if " = " in line]
    odd = st.one_of(
        EDGES,
        JUNK.map(lambda word: '"' + word.replace("\\", "").replace('"', "") + '"'),
        st.sampled_from(["true", "[]", "[[1]]", "{}", "{a=1}", "1979-05-27", "[" * 5000, '"""']),
    )

    def with_values(changes: list[tuple[int, str]]) -> bytes:
        changed = list(lines)
        for at, value in changes:
            changed[at] = f"{changed[at].partition(' = ')[0]} = {value}"
        return "\n".join(changed).encode("utf-8", "replace")

    changes = st.lists(st.tuples(st.sampled_from(valued), odd), max_size=3).map(with_values)
    return st.one_of(changes, changes, damaged(text.encode()))


def devices() -> st.SearchStrategy[bytes]:
    """Device files."""
    return _toml(_DEVICE)


def experiments() -> st.SearchStrategy[bytes]:
    """Experiment files of every verb."""
    return st.sampled_from(sorted(_EXPERIMENTS)).flatmap(lambda verb: _toml(_EXPERIMENTS[verb]))


assert set(_ROWS) | set(_BINARY) | {"parquet"} == set(traces.FORMATS), "a format is not tried"
