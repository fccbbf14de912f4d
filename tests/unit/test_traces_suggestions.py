"""Texts of no known format are refused with a spec that content and trial support, or none."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path

import pytest

from in_process import document
from refusals import refusal
from trace_files import CASES, read_as, written
from writeamp import traces


def spec_in(sentence: str) -> str:
    """Return the spec that a refusal ends with; empty if it has none."""
    found = re.search(r" reads it: --format (.*)$", sentence)
    return shlex.split(found[1])[0] if found else ""


@pytest.mark.parametrize(
    ("name", "spec", "figures"),
    [
        (
            "t14-time-op.csv",
            "columns:time=1:s,offset=3:bytes,length=4:bytes,op=2:R=read/W=write",
            {"writes": 3, "pages_written": 2, "writes_per_page": 1.5, "duration_s": 3},
        ),
        (
            "t14-time-lba.csv",
            "columns:offset=2:sectors,length=3:sectors,op=4:W=write/R=read",
            {"writes": 3, "pages_written": 2, "writes_per_page": 1.5, "duration_s": None},
        ),
        (
            "t09-iotracer-ds.csv",
            "columns:offset=sector:sectors,length=size:bytes,"
            "op=operation:write=write/read=read/flush=flush",
            {"writes": 1, "flushes": 1, "bytes_written": 8192, "duration_s": None},
        ),
        (
            "t02-leveldb-parsed.csv",
            "columns:offset=BLOCK:sectors,length=NUM:sectors,op=RD:WS=write",
            {"writes": 59, "bytes_written": 59 * 512, "duration_s": None},
        ),
        (
            "t05-diskmon.txt",
            "columns:offset=6:sectors,length=7:sectors,op=5:Read=read/Write=write,separator=tab",
            {"requests": 1500},
        ),
        ("t11-fio-lat.log", "", {}),
        ("t12-biotracer.txt", "", {}),
        ("t13-blkparse-f.txt", "", {}),
    ],
)
def test_public_tables_get_the_spec_that_reads_them(
    name: str, spec: str, figures: dict[str, object]
) -> None:
    path = CASES / name
    assert spec_in(refusal(traces.read, path)) == spec
    if spec:
        found = document("trace info", f"'{path}' --format '{spec}'")
        assert {key: found[key] for key in figures} == figures
        assert len(found["devices"]) == 1


# Text of a table; the spec that the refusal prints, and what it tells the user to check.
SUGGESTIONS = {
    # Names do not decide where values do, and units are told if nothing proves them.
    "timestamp,op,offset,size\n0.5,W,4096,4096\n0.6,R,8192,4096\n": (
        "columns:time=timestamp:s,offset=offset:bytes,length=size:bytes,op=op:W=write/R=read",
        "if offset and size count bytes, timestamp counts seconds and all rows are of one",
    ),
    "ts_us;rw;lba;sectors\n10;W;8;8\n20;R;16;8\n": (
        "columns:time=ts_us:us,offset=lba:sectors,length=sectors:sectors,"
        "op=rw:W=write/R=read,separator=semicolon",
        "if all rows are of one device, this",
    ),
    "Time_us,disk,rw,LBA,bytes\n10,0,W,8,4096\n20,0,R,16,512\n": (
        "columns:time=Time_us:us,device=disk,offset=LBA:sectors,length=bytes:bytes,"
        "op=rw:W=write/R=read",
        "",
    ),
    "op;offset;size\nwrite;4096;512\n": (
        "columns:offset=offset:bytes,length=size:bytes,op=op:write=write,separator=semicolon",
        "",
    ),
    "ts lba nblks type\n1 8 8 0\n2 8 8 1\n": (
        "columns:time=ts:s,offset=lba:sectors,length=nblks:sectors,op=type:0=read/1=write,"
        "separator=space",
        "",
    ),
    # A header over rows that look like alibaba.
    "timestamp,op,offset,size,lat\n1577808000,R,8192,4096,15\n1577808001,W,12288,4096,1\n": (
        "columns:time=timestamp:s,offset=offset:bytes,length=size:bytes,op=op:R=read/W=write",
        "if offset and size count bytes and all",
    ),
    # `lba` in bytes: every request would begin at a multiple of 2 MiB.
    "lba,size,op\n40960,4096,W\n8192,4096,W\n4096,4096,W\n122880,4096,R\n": (
        "columns:offset=lba:bytes,length=size:bytes,op=op:W=write/R=read",
        "lba and size count bytes",
    ),
    # A size in sectors whatever it is called, and one in bytes.
    "op,offset,bytes\nW,8,8\nW,16,8\n": (
        "columns:offset=offset:sectors,length=bytes:sectors,op=op:W=write",
        "bytes counts sectors",
    ),
    # Requests of files have any size: sectors are not proven.
    "time,op,offset,size\n5,write,1234,100\n6,write,5678,33\n": (
        "columns:time=time:s,offset=offset:sectors,length=size:sectors,op=op:write=write",
        "if offset and size count sectors",
    ),
    "time_ms,lun,op,offset_kb,size_kb\n1,0,W,4,4\n2,0,W,8,4\n3,1,R,400,16\n": (
        "columns:time=time_ms:ms,device=lun,offset=offset_kb:1KiB,length=size_kb:1KiB,"
        "op=op:W=write/R=read",
        "; this reads it",
    ),
    # Times that contradict their unit, run backwards, or are dates are left out.
    "time_ms,op,lba,size\n1577808000,W,8,4096\n1577808001,W,16,4096\n": (
        "columns:offset=lba:sectors,length=size:bytes,op=op:W=write",
        "the times in time_ms do not matter",
    ),
    "time,op,lba,size\n4,W,8,4096\n3,W,16,4096\n2,W,24,4096\n1,W,8,4096\n": (
        "columns:offset=lba:sectors,length=size:bytes,op=op:W=write",
        "the times in time do not matter",
    ),
    # Names that a spec cannot spell, a nameless index, comments, lines before the table.
    "t(us),dev,R/W,lba,n\n1,sda,W,8,8\n2,sdb,R,16,8\n": (
        "columns:time=t(us):us,device=dev,offset=lba:sectors,length=n:sectors,op=3:W=write/R=read",
        "",
    ),
    ",op,lba,size\n0,W,8,4096\n1,W,16,4096\n2,W,24,512\n": (
        "columns:offset=lba:sectors,length=size:bytes,op=op:W=write",
        "",
    ),
    "# by hand\n# time_s op lba n\n1 W 8 8\n2 W 16 8\n3 R 24 8\n": (
        "columns:time=1:s,offset=3:sectors,length=4:sectors,op=2:W=write/R=read,"
        "separator=space,comment=#",
        "",
    ),
    # Requests that follow each other tell a length from another number of that size.
    "W,100,64,8\nW,108,8,16\nR,124,32,8\nW,132,8,32\n": (
        "columns:offset=2:sectors,length=4:sectors,op=1:W=write/R=read",
        "",
    ),
    # Sizes in bytes and in sectors prove each other.
    "op,sector,size,nr_sectors\nW,800,8192,16\nR,4000,4096,8\n": (
        "columns:offset=sector:sectors,length=size:bytes,op=op:W=write/R=read",
        "if the times do not matter",
    ),
    "op,lba (hex),len\nW,0x1000,0x8\nR,0x1008,0x10\n": (
        "columns:offset=lba (hex):sectors,length=len:sectors,op=op:W=write/R=read",
        "",
    ),
    "op,lba,len\nW,1a0,8\nR,1a8,8\nR,1b8,8\n": (
        "columns:offset=lba:hex-sectors,length=len:sectors,op=op:W=write/R=read",
        "if len is decimal",
    ),
    # Each request stands twice, as issued and as completed.
    "9 D read 299008 512\n0 C read 299008 512\n9 D write 8192 512\n0 C write 8192 512\n": (
        "columns:offset=4:bytes,length=5:bytes,op=3:read=read/write=write,only=2:C,separator=space",
        "the rows with C in column 2 are all requests",
    ),
    "stage,op,lba,bytes\nissue,W,8,4096\ncomplete,W,8,4096\nissue,R,16,512\n": (
        "columns:offset=lba:sectors,length=bytes:bytes,op=op:W=write,only=stage:complete",
        "",
    ),
    "recorded\n\n1577808000123|nvme0n1|WS|123456|8\n1577808000124|nvme0n1|RA|123464|8\n": (
        "columns:time=1:ms,device=2,offset=4:sectors,length=5:sectors,op=3:WS=write/RA=read,"
        "separator=pipe,skip=2",
        "; this reads it",
    ),
    # Pages and blocks of 4 KiB by name; only a number in the name proves their size.
    "op,page,npages\nW,256,1\nR,300,2\nW,270,4\n": (
        "columns:offset=page:4KiB,length=npages:4KiB,op=op:W=write/R=read",
        "if page and npages count 4KiB",
    ),
    "op,lba_4k,len_4k\nW,256,1\nR,300,2\nW,270,4\n": (
        "columns:offset=lba_4k:4KiB,length=len_4k:4KiB,op=op:W=write/R=read",
        "; if the times do not",
    ),
    "op,lpn,size[KiB]\nW,256,4\nR,300,8\nW,270,16\n": (
        "columns:offset=lpn:4KiB,length=size[KiB]:1KiB,op=op:W=write/R=read",
        "if lpn counts 4KiB",
    ),
    # Whole pages that would begin within pages: drives of larger sectors have such addresses.
    "op,lba,size\nW,257,4096\nR,301,8192\nW,270,16384\n": (
        "columns:offset=lba:sectors,length=size:bytes,op=op:W=write/R=read",
        "lba counts sectors of 512 bytes and not larger sectors",
    ),
    # Floats, as pandas writes columns with gaps.
    ",ts,op,offset,length\n0,0.5,W,1048576.0,4096.0\n1,0.75,R,1060864.0,8192.0\n": (
        "columns:time=ts:s,offset=offset:bytes,length=length:bytes,op=op:W=write/R=read",
        "if offset and length count bytes",
    ),
    # Flags that their name explains.
    "is_write,lba,size\n1,8,4096\n0,16,4096\n1,24,4096\n": (
        "columns:offset=lba:sectors,length=size:bytes,op=is_write:0=read/1=write",
        "if size counts bytes, the times do not",
    ),
    "lba,nblk,is_read\n8,8,False\n16,8,True\n24,8,False\n": (
        "columns:offset=lba:sectors,length=nblk:sectors,op=is_read:False=write/True=read",
        "",
    ),
    # What a name says to be something else is no offset; a flush has no place.
    (
        "COMM PID TYPE DEV BLOCK BYTES LATms\n"
        "db 11563 WS 8,0 975467552 8192 0.5\n"
        "db 11563 FF 8,0 18446744073709551615 0 7.9\n"
        "db 11563 WS 8,0 1816451512 4096 0.3\n"
    ): (
        "columns:device=DEV,offset=BLOCK:sectors,length=BYTES:bytes,op=TYPE:WS=write/FF=flush,"
        "separator=space",
        "",
    ),
    # Names of files with spaces, at the end.
    (
        "UID PID D BLOCK SIZE COMM PATHNAME\n"
        "501 157 W 2048 4096 mds ??/My File\n"
        "501 157 R 4096 8192 Google Chrome ??/Users/My File\n"
        "501 157 W 9216 4096 mds ??/My File\n"
    ): ("columns:offset=BLOCK:sectors,length=SIZE:bytes,op=D:W=write/R=read,separator=space", ""),
    # A date that does not change is none of requests; dates with times can be added.
    (
        "c_time,start_ns,op,offset,size\n1700000000,1705290000000000000,W,0,4096\n"
        "1700000000,1705290000010000000,R,8192,4096\n"
    ): ("columns:time=start_ns:ns,offset=offset:bytes,length=size:bytes,op=op:W=write/R=read", ""),
    "time,op,lba,size\n2024-03-05 10:00:00.5,W,8,4096\n2024-03-05 10:00:01,R,16,4096\n": (
        "columns:offset=lba:sectors,length=size:bytes,op=op:W=write/R=read",
        "the times in time do not matter (time=time:datetime adds them)",
    ),
    # A number of a device that, added to a length, is another length.
    "".join(f"8,0,D,{row % 7 * 4000 + 8 * row},{(8, 16, 32)[row % 3]},W\n" for row in range(90)): (
        "columns:offset=4:sectors,length=5:sectors,op=6:W=write",
        "",
    ),
    # An index without a name, and offsets that rise as times do.
    "\top\tlba\tsize\n0\tW\t8\t4096\n1\tW\t16\t4096\n2\tW\t24\t512\n": (
        "columns:offset=lba:sectors,length=size:bytes,op=op:W=write,separator=tab",
        "",
    ),
    "W,1000,8\nW,1008,8\nR,1200,16\nW,1216,8\n": (
        "columns:offset=2:sectors,length=3:sectors,op=1:W=write/R=read",
        "if column 2 is an offset and not a time",
    ),
    # Volumes without a name.
    "".join(f"{row % 3} W {4096 * row} 4096\n" for row in (3, 2, 7, 1, 8, 4, 6, 5) * 4): (
        "columns:offset=3:bytes,length=4:bytes,op=2:W=write,separator=space",
        "all rows are of one device (else add device=1)",
    ),
    # Dates in s, where alibaba has microseconds.
    "".join(f"0,W,{row % 5 * 8192},4096,{1577808000 + row}\n" for row in range(9)): (
        "columns:time=5:s,offset=3:bytes,length=4:bytes,op=2:W=write",
        "as 1577808000, a date in s or ms since 1970",
    ),
}


@pytest.mark.parametrize(("text", "found"), SUGGESTIONS.items())
def test_a_spec_is_derived_from_content_and_says_what_to_check(
    tmp_path: Path, text: str, found: tuple[str, str]
) -> None:
    spec, checks = found
    sentence = refusal(read_as, tmp_path, text)
    assert spec_in(sentence) == spec
    assert checks in sentence
    trace = read_as(tmp_path, text, spec)
    assert trace.doubts == []
    assert trace.requests.height > 0


@pytest.mark.parametrize(
    "text",
    [
        "name,age,op\na,1,2\n",
        "Name,Age,Role\nW,30,1\nR,40,2\nW,50,3\n",
        "op,lpn\nW,1\nW,2\n",
        "W,4096,4096\n",  # one row proves nothing
        "17,8,8,1\n18,16,8,0\n19,24,8,1\n",  # 0 and 1 without a name
        "read,write,4096,512\nwrite,read,8192,512\n",  # two columns of operations
        "5,R,30\n6,W,31\n7,R,32\n",
        "W,5,8\nW,6\nW,7,8,9\n",
        "op,offset,size\n",
        # Read so, each request would be of a device of its own.
        "disk,op,lba,size\n" + "".join(f"{at}0,W,{at * 16},4096\n" for at in range(9)),
        "UID PID D BYTES FILE\n100 902 R 4096 a\n100 903 W 8192 a\n100 902 R 4096 b\n",
        "op,start,end\nW,8192,12288\nR,40960,49152\nW,4096,8192\n",
        "op,offset,size\n" + "W,0,4096\nW,0,8192\n" * 8,  # one place
        "op,offset,size\nW,1.05e6,4096\nR,1.06e6,8192\n",  # digits may be lost
        # Depths of a queue, some of which are sums of others and a length.
        "".join(
            f"{row * 8 % 33},{row * 7919 % 2000000},{(16, 128, 8)[row % 3]},W\n"
            for row in range(60)
        ),
    ],
)
def test_no_spec_is_printed_where_the_columns_are_not_clear(tmp_path: Path, text: str) -> None:
    assert spec_in(refusal(read_as, tmp_path, text)) == ""


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("time,offset,size\n1,4096,4096\n2,8192,4096\n", "no column clearly holds operations (op="),
        ("op,offset,size\nW,4096,4096\nW,,4096\n", "offset has values other than whole numbers"),
        (
            "D BLOCK SIZE\n" + "W 8 4096\nR 16 4096\n" * 9 + "Ending tracing...\n",
            "op=D:W=write/R=read,separator=space fits, except for line 20: the row has 2 columns",
        ),
        (
            "disk,op,lba,size\n" + "".join(f"{at}0,W,{at * 16},4096\n" for at in range(9)),
            "with --format columns:device=disk,offset=lba:sectors,length=size:bytes,op=op:W=write, "
            "there would be 9 devices for 9 requests",
        ),
        ("op,lpn,x\nW,1,a\nW,2,b\n", "no two columns are clearly the offsets and lengths"),
        ('"op","lba","size"\n"W","8","4096"\n"R","16","4096"\n', "its fields are in quotes"),
    ],
)
def test_a_refused_table_is_told_what_it_lacks(tmp_path: Path, text: str, gap: str) -> None:
    sentence = refusal(read_as, tmp_path, text)
    assert gap in sentence
    assert "disksim" not in sentence


def test_the_spec_for_a_long_file_has_the_operation_that_comes_later(tmp_path: Path) -> None:
    writes = "".join(f"write,{row * 4096},4096\n" for row in range(5000))
    path = written(tmp_path, f"op,offset,size\n{writes}read,0,4096\n")
    trace = traces.read(path, spec_in(refusal(traces.read, path)))
    assert traces.info(trace)["reads"] == 1


UNITS = {"bytes": 1, "sectors": 512}
CLOCKS = {"time_s": 1e0, "ts_ms": 1e3, "ts_us": 1e6, "timestamp_ns": 1e9}
WORDS = [("R", "W"), ("r", "w"), ("Read", "Write"), ("RA", "WS"), ("28", "2a")]


@pytest.mark.parametrize("seed", range(40))
def test_a_table_in_any_order_names_and_units_is_never_read_wrongly(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    count = draw.choice([8, 30, 200])
    unit, clock, words = draw.choice([*UNITS]), draw.choice([*CLOCKS]), draw.choice(WORDS)
    epoch_s, at_s, end = draw.choice([0, 1_577_808_000]), 0.0, 0
    requests, rows = [], []
    for _ in range(count):
        at_s += draw.expovariate(1000)
        is_write, size = draw.random() < 0.7, draw.choice([4096, 8192, 65536])
        offset = end if draw.random() < 0.3 else draw.randrange(0, 2**38, 4096)
        end = offset + size
        requests.append(("write" if is_write else "read", offset, size))
        rows.append({
            clock: str(int((epoch_s + at_s) * CLOCKS[clock])),
            "op": words[is_write],
            draw.choice(["offset"]) + f"_{unit}": str(offset // UNITS[unit]),
            "size": str(size // UNITS[unit]),
            "latency": str(draw.randrange(20, 900)),
        })  # fmt: skip
    order, separator = draw.sample([*rows[0]], 5), draw.choice([",", "\t", ";"])
    has_header = draw.random() < 0.5
    lines = [order] * has_header + [[row[name] for name in order] for row in rows]
    path = written(tmp_path, "".join(separator.join(line) + "\n" for line in lines))
    spec = spec_in(refusal(traces.read, path))
    assert spec or not has_header
    if spec:
        trace = traces.read(path, spec)
        assert trace.requests.select("op", "offset", "length").rows() == requests
        duration_s = traces.info(trace)["duration_s"]
        assert duration_s is None or duration_s == pytest.approx(at_s, abs=1.1 + at_s / 50)
