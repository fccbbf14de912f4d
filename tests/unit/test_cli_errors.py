"""Bad input is one sentence on stderr, status 2, no traceback, and no file left behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import in_process
import pytest
from places import ROOT

ROW = "128166385295514663,hm,0,Write,4096,4096,2833\n"

DRIVE = "simulate --blocks 64 --pages-per-block 16"
TRACE = "simulate --op 0.1 --pages-per-block 4 --trace"
LIFE = "endurance --blocks 64 --pages-per-block 16 --w-max 10"

SWEEP = f"sweep {ROOT}/examples/op_by_manager.toml --out {{folder}}/results"
ALLOCATE = "allocate --sizes"

# Command line, and words that the sentence must hold: what was wrong, and what would be right.
CASES: list[tuple[str, list[str]]] = [
    ("reproduce park2017 --resume kept", ["park2017", "--resume", "huang2011"]),
    ("reproduce huang2011 --traces nowhere", ["nowhere", "traces"]),
    # The drive.
    (f"{DRIVE} --op 0", ["op", "above 0"]),
    (f"{DRIVE} --op -0.1", ["op", "above 0"]),
    (f"{DRIVE} --op nan", ["op", "finite"]),
    (f"{DRIVE} --op inf", ["op", "finite"]),
    (f"{DRIVE} --op much", ["--op", "much"]),
    (f"{DRIVE} --fill 1", ["fill", "between 0 and 1"]),
    (f"{DRIVE} --fill 1.5", ["fill", "between 0 and 1"]),
    (f"{DRIVE} --fill 0", ["fill", "between 0 and 1"]),
    (f"{DRIVE} --spare-factor 1", ["spare_factor", "between 0 and 1"]),
    (f"{DRIVE} --op 0.1 --fill 0.9", ["op", "fill", "only one"]),
    (f"{DRIVE} --op 0.1 --spare-factor 0.1", ["op", "spare_factor", "only one"]),
    ("simulate --blocks 64 --logical-blocks 50", ["blocks", "logical_blocks", "only one"]),
    ("simulate --blocks 1 --op 0.1", ["single", "1 block", "at least 2"]),
    ("simulate --blocks 1 --fill 0.5", ["single", "1 block", "at least 2"]),
    (
        "simulate --blocks 1 --pages-per-block 16 --fill 0.5 --manager sepgc",
        ["sepgc", "at least 3"],
    ),
    ("simulate --blocks 9 --op 0.01 --manager sepgc", ["sepgc", "too small"]),
    ("simulate --blocks 0", ["blocks", "from 1"]),
    ("simulate --blocks -5", ["blocks", "from 1"]),
    ("simulate --blocks ten", ["--blocks", "ten", "whole number"]),
    ("simulate --blocks 1.5", ["--blocks", "1.5", "whole number"]),
    ("simulate --blocks 64 --pages-per-block 1", ["pages_per_block", "at least 2"]),
    ("simulate --blocks 64 --pages-per-block 0", ["pages_per_block", "from 1"]),
    ("simulate --blocks 4e9 --pages-per-block 1024", ["physical pages", "32-bit"]),
    ("simulate --logical-blocks 4e9 --pages-per-block 64", ["logical_pages", "4294967295"]),
    ("simulate --blocks 33000000 --pages-per-block 128", ["GiB", "available"]),
    (f"{DRIVE} --op 1e9", ["logical page"]),
    (f"{DRIVE} --page-bytes 0 --op 0.1", ["page_bytes", "from 1"]),
    (f"{DRIVE} --layout tower", ["layout", "flat", "striped"]),
    ("simulate --device samsun", ["device", "samsun", "generic", "eagletree"]),
    ("simulate --device no-such-file.toml", ["no-such-file.toml", "No such file"]),
    ("simulate --device eagletree --blocks 100", ["multiple", "8"]),
    ("simulate --device {bad_key}", ["colour", "channels"]),
    ("simulate --device {bad_toml}", ["TOML"]),
    ("simulate --logical-blocks 100 --op 1e308", ["op", "1e+308"]),
    # Virtual drives.
    ("serve --manager wolf", ["wolf", "hints", "single", "wolf-interval"]),
    ("serve --device raid0:x25-m,x25-m", ["raid0", "one flash drive"]),
    ("serve --precondition workload", ["precondition workload", "full or none"]),
    ("serve --device ssd-v --timed --backing drive.wa", ["timed", "--backing"]),
    ("serve --time-scale 0", ["time_scale", "from 1e-6 to 1e9"]),
    ("serve --max-wa 0.99", ["--max-wa", "at least 1"]),
    ("serve --fs fat", ["fs", "ext4, xfs, btrfs"]),
    # Policies and workloads.
    (f"{DRIVE} --manager hcwf:d=0", ["d=0", "from 1"]),
    (f"{DRIVE} --manager hcwf:d=2147483648", ["d=2147483648", "from 1 to 65536"]),
    (f"{DRIVE} --manager hcwf-swap:d_swap=1e9", ["d_swap=1e9", "from 1 to 65536"]),
    (f"{DRIVE} --victims d-choices:d=4e9", ["d=4e9", "from 1 to 65536"]),
    (f"{DRIVE} --manager hcwf-swap:d_swap=0", ["d_swap=0", "from 1"]),
    (f"{DRIVE} --manager hcwf:d=3 --victims greedy", ["hcwf", "one of the two"]),
    (f"{DRIVE} --manager hcwf:detector=blom", ["detector 'blom'", "did you mean 'bloom'"]),
    (f"{DRIVE} --manager hcwf:detector=bloom(window=0)", ["window=0", "above 0"]),
    (f"{DRIVE} --device eagletree --manager hcwf --layout striped", ["hcwf", "striped-per-lun"]),
    (f"{DRIVE} --workload hot-cold:f=1,r=0.5", ["f=1", "below 1"]),
    ("simulate --blocks 2 --pages-per-block 4 --fill 0.5 --manager hcwf", ["hcwf", "2 block(s)"]),
    (f"{DRIVE} --wear-leveling dual", ["wear leveller", "did you mean 'dual-pool'"]),
    (f"{DRIVE} --wear-leveling static:threshold=0", ["threshold=0", "from 1"]),
    (f"{DRIVE} --wear-leveling youngest-free:reserve=1e6", ["too small", "single"]),
    (f"{DRIVE} --victims greddy", ["victim policy", "greddy", "did you mean 'greedy'"]),
    (f"{DRIVE} --victims d-choices:d=0", ["d=0", "from 1"]),
    (f"{DRIVE} --victims d-choices:d=2.5", ["d=2.5", "whole number"]),
    (f"{DRIVE} --victims d-choices:e=3", ["parameter", "'e'", "valid: d"]),
    (f"{DRIVE} --victims d-choices:", ["d-choices:", "key=value"]),
    (f"{DRIVE} --victims greedy:d=3", ["parameter", "'d'", "valid: none"]),
    (f"{DRIVE} --manager wolff", ["block manager", "wolff", "single"]),
    (f"{DRIVE} --workload unifrom", ["workload", "did you mean 'uniform'"]),
    (f"{DRIVE} --workload hot-cold", ["hot-cold", "f="]),
    (f"{DRIVE} --workload hot-cold:f=1,r=0.9", ["f=1", "below 1"]),
    (f"{DRIVE} --workload hot-cold:f=0.1,r=2", ["r=2", "from 0 to 1"]),
    (f"{DRIVE} --workload hot-cold:f=0.00001,r=0.9", ["f=", "at least one hot"]),
    (f"{DRIVE} --workload zipf:s=-1", ["s=-1", "above 0"]),
    (f"{DRIVE} --workload uniform:trim=0.9999999999999999", ["trim=", "from 0 to 0.99"]),
    (f"{DRIVE} --workload mix:sizes=1/1,weights=1", ["2 sizes", "1 weights"]),
    (f"{DRIVE} --workload mix:sizes=(1,weights=1", ["parenthes"]),
    (f"{DRIVE} --workload phases:writes=0,of=uniform", ["writes", "above 0"]),
    (f"{DRIVE} --workload groups:sizes=1/1,freq=1/x", ["freq=x", "list of numbers"]),
    (f"{DRIVE} --workload groups:sizes=1/1,freq=1", ["2 sizes", "1 frequencies"]),
    (f"{DRIVE} --workload groups:sizes=1/1,freq=0/0", ["freq=0/0", "above 0"]),
    (f"{DRIVE} --workload groups:sizes=1/1,freq=1/9,swap_at=0", ["swap_at=0", "above 0"]),
    (f"{DRIVE} --workload groups:sizes=1/1,freq=1/9,swap_at=1,swap=0/2", ["swap=0/2", "to 1"]),
    (f"{DRIVE} --workload groups:sizes=1/1,freq=1/9,swap=0/1", ["swap=", "needs swap_at="]),
    (f"{DRIVE} --workload drift:f=0.1,r=0.9,period=0", ["period=0", "from 1"]),
    (f"{DRIVE} --workload drift:f=0.1,r=0.9,period=9,steps=10", ["steps=10", "from 1 to 9"]),
    (f"{DRIVE} --workload database:sizes=1/1", ["2 sizes", "give four"]),
    (f"{DRIVE} --workload database:updates=oltp", ["workload 'oltp'", "uniform"]),
    (f"{DRIVE} --workload tpcc:clusters=0.9/0.9", ["add up to 1.802", "at most 1"]),
    (f"{DRIVE} --workload tpcc:clusters=0/0,tail_share=0", ["tpcc", "none that is ever updated"]),
    # The run.
    (f"{DRIVE} --writes 0", ["writes", "from 1 to"]),
    (f"{DRIVE} --writes -1", ["writes", "from 1 to"]),
    (f"{DRIVE} --writes 100 --warmup 100", ["warmup", "100"]),
    (f"{DRIVE} --writes 100 --warmup soon", ["warmup", "soon", "auto"]),
    (f"{DRIVE} --writes 100 --warmup -1", ["warmup", "from 0 to"]),
    (f"{DRIVE} --warmup 5", ["warmup", "writes"]),
    (f"{DRIVE} --seed -1", ["seed", "from 0 to"]),
    (f"{DRIVE} --precision 0", ["precision", "between 0 and 1"]),
    (f"{DRIVE} --precondition half", ["precondition", "full", "none"]),
    (f"{DRIVE} --repeat 2", ["repeat", "trace"]),
    (f"{DRIVE} --plot wa.gif", ["gif", "png", "svg"]),
    (f"{DRIVE} --plot no-such-folder/wa.png", ["no-such-folder", "No such file"]),
    (f"{DRIVE} --plot {{readonly}}/wa.png", ["wa.png"]),
    (f"{DRIVE} --series", ["--series", "--json"]),
    (f"{DRIVE} --colour red", ["--colour"]),
    ("simulat", ["simulat"]),
    (f"{DRIVE} --mapping as-is", ["mapping", "no trace"]),
    (f"{DRIVE} --format msr", ["--format", "no --trace"]),
    (f"{DRIVE} --utilization 0", ["utilization", "above 0"]),
    (f"{DRIVE} --workload mix:sizes=1/1,weights=1e308/1e308", ["mix", "finite"]),
    # Traces.
    (f"{TRACE} no-such.csv", ["no-such.csv", "No such file"]),
    (f"{TRACE} {{folder}}", ["folder"]),
    (f"{TRACE} {{empty}}", ["empty"]),
    (f"{TRACE} {{garbage}}", ["garbage"]),
    (f"{TRACE} {{short_row}} --format msr", ["short_row:2"]),
    (f"{TRACE} {{negative}} --format msr", ["negative:2", "-4096"]),
    (f"{TRACE} {{cut}} --format msr", ["cut:2"]),
    (f"{TRACE} {{only_reads}} --format msr", ["no request writes"]),
    (f"{TRACE} {{good}} --format mrs", ["mrs", "msr"]),
    (f"{TRACE} {{five_columns}}", ["mqsim", "ssdsim", "--format"]),
    (f"{TRACE} {{good}} --format spc", ["good:1"]),
    (f"{TRACE} {{good}} --repeat 0", ["repeat", "from 1 to"]),
    (f"{TRACE} {{many}} --format msr --writes 1e6", ["repeat="]),
    (f"{TRACE} {{good}} --workload uniform", ["workload", "trace", "only one"]),
    (f"{TRACE} {{good}} --mapping flat", ["mapping", "compact"]),
    (f"{TRACE} {{good}} --trace-device sda", ["sda", "hm"]),
    (f"{TRACE} {{far}} --format msr --blocks 20 --mapping as-is", ["far", "73"]),
    (f"{TRACE} {{many}} --format msr --blocks 2", ["many", "50 distinct pages", "7 pages"]),
    ("trace info {garbage} --json", ["garbage"]),
    ("trace convert {good} {readonly}/out.parquet", ["out.parquet"]),
    ("trace convert {good} out.xyz", ["xyz"]),
    ("trace convert {good} out.csv.gz --to msr", ["uncompressed"]),
    (
        "simulate --op 0.1 --trace {good} --pages-per-block 4096",
        ["only 1 distinct", "pages_per_block"],
    ),
    # Endurance.
    ("endurance --blocks 64", ["--w-max"]),
    ("endurance --blocks 64 --w-max 0", ["w_max", "from 1 to"]),
    ("endurance --blocks 64 --w-max many", ["--w-max", "many", "whole number"]),
    (f"{LIFE} --replicas 0", ["replicas", "from 1 to"]),
    (f"{LIFE} --threads 0", ["threads", "from 1 to"]),
    (f"{LIFE} --seed -1", ["seed", "from 0 to"]),
    (f"{LIFE} --spare-share 1", ["spare_share", "below 1"]),
    (f"{LIFE} --spare-share some", ["--spare-share", "some"]),
    (f"{LIFE} --spare-share 0.5", ["not spare", "fewer spare blocks", "larger op"]),
    (f"{LIFE} --op 0.1 --spare-share 0.08 --manager sepgc", ["sepgc", "too small"]),
    (f"{LIFE} --daily-writes 100", ["--daily-writes", "GB", "GiB"]),
    (f"{LIFE} --daily-writes 100Gb", ["--daily-writes", "GB", "GiB"]),
    (f"{LIFE} --daily-writes 0GB", ["--daily-writes", "above 0"]),
    (f"{LIFE} --curve", ["--curve", "--json"]),
    (f"{LIFE} --plot life.gif", ["gif", "png"]),
    (f"{LIFE} --plot-erases no-such-folder/life.png", ["no-such-folder"]),
    (f"{LIFE} --victims greddy", ["victim policy", "did you mean 'greedy'"]),
    (f"{LIFE} --workload unifrom", ["workload", "did you mean 'uniform'"]),
    (f"{LIFE} --layout tower", ["layout", "flat"]),
    (f"{LIFE} --precondition half", ["precondition", "full"]),
    (f"{LIFE} --utilization 2", ["utilization", "at most 1"]),
    (f"{LIFE} --mapping as-is", ["mapping", "no trace"]),
    (f"{LIFE} --format msr", ["--format", "no --trace"]),
    (f"{LIFE} --trace {{good}} --workload uniform", ["workload", "trace", "only one"]),
    (f"{LIFE} --trace no-such.csv", ["no-such.csv", "No such file"]),
    ("endurance --blocks 33000000 --w-max 10", ["drive(s) at a time", "GiB", "available"]),
    ("endurance --blocks 64 --w-max 4e9 --replicas 50", ["records of 50", "GiB"]),
    # Predictions and lists.
    ("predict", ["op", "fill", "spare_factor"]),
    ("predict --op 0", ["op", "above 0"]),
    ("predict --op 0.1 --fill 0.5", ["op", "fill", "only one"]),
    ("predict --op 0.1 --pages-per-block 0", ["pages_per_block"]),
    ("predict --op 0.1 --model markow", ["markow", "markov"]),
    ("list polices", ["polices", "victims"]),
    # Allocations.
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.5,0.5", ["op", "fill", "spare_factor"]),
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.5,0.5 --op 0.1 --fill 0.9", ["op", "fill", "only one"]),
    (f"{ALLOCATE} 0.5,0.4 --frequencies 0.5,0.5 --op 0.1", ["sizes", "0.9", "must be 1"]),
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.5,0.25 --op 0.1", ["frequencies", "0.75", "must be 1"]),
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.2,0.3,0.5 --op 0.1", ["2 sizes", "3 frequencies"]),
    (f"{ALLOCATE} 0,1 --frequencies 0.5,0.5 --op 0.1", ["sizes[0]", "greater than 0"]),
    (f"{ALLOCATE} 0.5,0.5 --frequencies -0.5,1.5 --op 0.1", ["frequencies[0]", "from 0 to 1"]),
    (f"{ALLOCATE} 0.5,half --frequencies 0.5,0.5 --op 0.1", ["sizes", "half", "numbers"]),
    (f"{ALLOCATE} 0.5,,0.5 --frequencies 0.5,0.5 --op 0.1", ["sizes", "numbers"]),
    (f"{ALLOCATE} 0.5,nan --frequencies 0.5,0.5 --op 0.1", ["sizes[1]", "nan"]),
    (f"{ALLOCATE} 0.5,0.5 --op 0.1", ["frequencies", "missing"]),
    ("allocate --op 0.1", ["sizes", "missing", "explore"]),
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.5,0.5 --op 1e6", ["op", "to 100"]),
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.1,0.9 --op 0.1 --coldest-op 0", ["coldest op", "above"]),
    (f"{ALLOCATE} 0.9,0.1 --frequencies 0.1,0.9 --op 0.1 --coldest-op 1", ["coldest", "below 1"]),
    (
        f"{ALLOCATE} 0.5,0.5 --frequencies 0.1,0.9 --op 0.1 --coldest-below 0.05",
        ["coldest_below", "coldest_op"],
    ),
    (
        f"{ALLOCATE} 0.5,0.5 --frequencies 0.1,0.9 --op 0.1 --coldest-op 0.05 --coldest-below 2",
        ["coldest below", "at most"],
    ),
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.5,0.5 --op 0.1 --plot wa.gif", ["gif", "png"]),
    ("allocate --explore 1 --fill 0.7", ["1 chunks", "2 to 24"]),
    ("allocate --explore 25 --fill 0.7", ["25 chunks", "2 to 24"]),
    ("allocate --explore ten --fill 0.7", ["--explore", "ten"]),
    ("sweep no-such.toml --out results", ["no-such.toml", "no such file"]),
    ("sweep {bad_toml} --out results", ["bad_toml.toml", "not valid TOML"]),
    ("sweep show {folder}", ["folder", "no results"]),
    (f"{SWEEP} --workers 0", ["--workers", "equal to 1"]),
    (f"{SWEEP} --workers 2 --scheduler tcp://127.0.0.1:9", ["one or the other"]),
    (f"{SWEEP} --scheduler no://where", ["no://where", "tcp://HOST:PORT"]),
    (f"{SWEEP} --scheduler tcp://127.0.0.1:9", ["tcp://127.0.0.1:9", "connection refused"]),
    ('compare --managers single --scheduler ""', ["scheduler", "tcp://HOST:PORT"]),
    (f"{SWEEP} --tls-cert cert.pem --scheduler tls://127.0.0.1:9", ["--tls-key", "all three"]),
    (f"{SWEEP} --tls-ca-file a --tls-cert b --tls-key c", ["TLS", "address"]),
    ("allocate --explore 10 --sizes 0.5,0.5 --fill 0.7", ["explore", "sizes", "neither"]),
]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return files that are wrong, each in one way, by the name that the cases use."""
    folder = tmp_path_factory.mktemp("inputs")
    contents = {
        "empty": b"",
        "garbage": bytes(range(256)) * 64,
        "good": (ROW * 20).encode(),
        "short_row": (ROW + "128166385295514663,hm,0,Write,4096\n" + ROW).encode(),
        "negative": (ROW + ROW.replace("Write,4096,4096", "Write,0,-4096")).encode(),
        "cut": (ROW + ROW[:30]).encode(),
        "far": (ROW * 20).replace("4096,4096", "9056014336,4096").encode(),
        "many": "".join(ROW.replace("4096,", f"{i * 4096},", 1) for i in range(50)).encode(),
        "only_reads": ROW.replace("Write", "Read").encode(),
        "five_columns": b"0 0 303567 7 0\n1000 1 55590 6 0\n",
        "bad_key.toml": b'[geometry]\ncolour = "red"\n',
        "bad_toml.toml": b"[geometry\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    found = {name.removesuffix(".toml"): folder / name for name in contents}
    (folder / "folder").mkdir()
    # Nobody, not even root, can create a file in /proc.
    return found | {"folder": folder / "folder", "readonly": Path("/proc")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, on a terminal wide enough for any sentence."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.mark.parametrize(("line", "words"), CASES, ids=[line for line, _ in CASES])
def test_bad_input_is_one_sentence_and_status_2(
    line: str,
    words: list[str],
    inputs: dict[str, Path],
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    verb, _, arguments = line.format(**inputs).partition(" ")
    status, out, err = in_process.run(verb, arguments)
    assert status == 2, err
    check_sentence(out, err, words)
    assert list(folder.iterdir()) == []
    assert capfd.readouterr() == ("", ""), "the engine printed something of its own"


# The same through a real process, one case of each kind of error: usage, the engine's, a file's.
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "case", [f"{DRIVE} --op much", f"{DRIVE} --victims greddy", f"{TRACE} no-such.csv"]
)
def test_a_process_ends_with_the_same_sentence_and_status(case: str) -> None:
    command = [in_process.WRITEAMP, *case.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    check_sentence(done.stdout, done.stderr, dict(CASES)[case])


def check_sentence(out: str, err: str, words: list[str]) -> None:
    sentences = [line for line in err.splitlines() if "warning:" not in line]
    assert len(sentences) == 1, err
    assert out == ""
    assert "Traceback" not in err
    for word in words:
        assert word.lower() in sentences[0].lower()


def test_there_are_at_least_forty_cases() -> None:
    assert len({line for line, _ in CASES}) >= 40
