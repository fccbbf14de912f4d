"""Bad input is one sentence on stderr, status 2, no traceback, and no file left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

import in_process
from places import ROOT

pytestmark = pytest.mark.usefixtures("plain_messages")

ROW = "128166385295514663,hm,0,Write,4096,4096,2833\n"

DRIVE = "simulate --blocks 64 --pages-per-block 16"
TRACE = "simulate --op 0.1 --pages-per-block 4 --trace"
TIMED = "simulate --blocks 64 --pages-per-block 32"
LIFE = "endurance --blocks 64 --pages-per-block 16 --w-max 10"

SWAPS = (
    "meanfield --mode hcwf-swap --pages-per-block 32 --spare-factor 0.12 --d 9 --d-swap 8 "
    "--hot-fraction 0.2 --hot-write-fraction 0.77"
)
COLLECT = "blackbox collect --target"
SWEEP = f"sweep {ROOT}/examples/op_by_manager.toml --out {{folder}}/results"
ALLOCATE = "allocate --sizes"

# Command line, and words that the sentence must hold: what was wrong, and what would be right. Each
# kind of option once; `test_refusals.py` has what the library refuses of their values.
CASES: list[tuple[str, list[str]]] = [
    ("twin measure --out {folder}/t.parquet", ["--target", "--windows", "either"]),
    ("twin measure --target nosuch --out {folder}/t.parquet", ["nosuch", "not a device profile"]),
    ("twin measure --windows w.csv --op 0.1 --out {folder}/t.parquet", ["--op", "simulated"]),
    ("twin plan --out {folder}/p.toml", ["--capacity", "--target"]),
    ("twin plan --capacity 1TB --phases 9 --out {folder}/p.toml", ["--phases", "from 1 to 6"]),
    ("twin fit --out {folder}/m.toml", ["WINDOWS", "--wa"]),
    ("twin fit --wa 0.5 --out {folder}/m.toml", ["--wa", "at least 1"]),
    ("twin fit nosuch.parquet --out {folder}/m.toml", ["nosuch.parquet", "cannot read"]),
    ("twin fit t.parquet --out {folder}/m.json", ["m.json", ".toml"]),
    # Verbs and options.
    ("simulat", ["simulat"]),
    (f"{DRIVE} --colour red", ["--colour", "simulate --help"]),
    (f"{LIFE} --pe-cycles 3000", ["--pe-cycles", "did you mean --w-max?"]),
    (f"{DRIVE} --blcoks 3", ["did you mean --blocks?"]),
    (f"{DRIVE} --over-provisioning 0.1", ["did you mean --op?"]),
    ("endurance --blocks 64", ["--w-max"]),
    (f"{DRIVE} --op 0.1 --fill 0.9", ["op", "fill", "only one"]),
    (f"{DRIVE} --series", ["--series", "--json"]),
    (f"{LIFE} --curve", ["--curve", "--json"]),
    (f"{DRIVE} --report out.pdf", ["--report", "out.pdf", ".html"]),
    ("report {folder}/missing.html", ["cannot read", "missing.html"]),
    ("answer --blocks 64 --mount /mnt/x", ["--mount", "--run"]),
    ("answer --blocks 64 --time 3s", ["--time", "answer --help"]),
    ("answer --blocks 8 --pages-per-block 8 --op 0.1 --manager wolf", ["too small", "larger op"]),
    (f"{LIFE} --warranty-years 5e-324", ["--warranty-years is 5e-324", "1e-60"]),
    ("simulate --device spinpoint-m7 --target-wa 9", ["spinpoint-m7 is a disk", "flash"]),
    ("simulate --device raid0:generic,generic --sweep op=0.2:0.3:2", ["is a raid0", "flash"]),
    ("twin plan --target spinpoint-m7 --out plan.toml", ["spinpoint-m7 is a disk", "flash"]),
    ("blame {good} --by color", ["by 'color'", "directory"]),
    ("answer --device spinpoint-m7", ["spinpoint-m7", "disk", "flash"]),
    ("answer --blocks 64 --counters a --counters b --counters c", ["--counters", "3 snapshots"]),
    ("simulate --device ''", ["unknown device ''", "generic"]),
    ("top --once ''", ["'.' is not a socket", "`serve`"]),
    ("measure counters a ''", ["the name is empty", "SNAP"]),
    ("serve --size 16MiB --counters '' --run true", ["--counters is empty", "DIR"]),
    # Files of another kind.
    ("simulate {job}", ["job.fio", "experiment", ".toml", "`writeamp doctor", "fio jobs"]),
    ("compare {good}", ["good", "experiment", ".toml"]),
    (
        "volumes info {job}",
        ["job.fio", "is a file, and a fleet is a folder", "`writeamp volumes split`"],
    ),
    ("diff {job} b.json", ["job.fio", "not a JSON result of writeamp, as printed by --json"]),
    ("diff {empty} b.json", ["empty is not a JSON result of writeamp", "the file is empty"]),
    ("report {picture}", ["picture", "not a page written by --report", "it is not UTF-8 text"]),
    # Numbers: ratios, counts, either of two, bytes.
    (f"{DRIVE} --op much", ["--op", "much"]),
    (f"{DRIVE} --op 0", ["--op is", "above 0"]),
    ("simulate --blocks ten", ["--blocks", "ten", "whole number"]),
    ("simulate --blocks 1.5", ["--blocks", "1.5", "whole number"]),
    ("simulate --blocks 0", ["blocks", "from 1"]),
    (f"{LIFE} --spare-share some", ["--spare-share", "some"]),
    (f"{DRIVE} --writes 100 --warmup soon", ["warmup", "soon", "auto"]),
    (f"{DRIVE} --page-bytes 0 --op 0.1", ["--page-bytes", "from 1"]),
    (f"{LIFE} --daily-writes 1.5", ["--daily-writes", "whole bytes", "GiB"]),
    (f"{LIFE} --daily-writes 100Gb", ["--daily-writes", "GB", "GiB"]),
    (f"{LIFE} --daily-writes 0GB", ["--daily-writes", "above 0"]),
    (
        "lifetime --workload uniform --device tlc-datacenter --daily-writes 200",
        ["--daily-writes", "200GB"],
    ),
    # Words: choices, specs, profiles.
    (f"{DRIVE} --layout tower", ["layout", "flat", "striped"]),
    (f"{DRIVE} --victims greddy", ["victim policy", "greddy", "did you mean 'greedy'"]),
    ("simulate --device samsun", ["device", "samsun", "generic", "eagletree"]),
    ("simulate --device no-such-file.toml", ["no-such-file.toml", "No such file"]),
    ("simulate --device {bad_key}", ["colour", "channels"]),
    ("simulate --device {bad_toml}", ["TOML"]),
    # Files that are written.
    (f"{DRIVE} --plot wa.gif", ["gif", "png", "svg"]),
    (f"{DRIVE} --plot no-such-folder/wa.png", ["no-such-folder", "No such file"]),
    (f"{DRIVE} --plot {{readonly}}/wa.png", ["wa.png"]),
    (f"{LIFE} --plot life.gif", ["gif", "png"]),
    (f"{LIFE} --plot-erases no-such-folder/life.png", ["no-such-folder"]),
    ("trace convert {good} {readonly}/out.parquet", ["out.parquet"]),
    ("explore --managers single --out {readonly}/page.html", ["page.html"]),
    ("explore --managers single,sepgc,wolf --out page.html", ["3 drives", "at most two managers"]),
    ("explore --managers single --op 0 --out page.html", ["op", "above 0"]),
    ("explore --managers single --blocks 65 --out page.html", ["blocks", "from 8 to 64"]),
    (
        "explore --managers dac --blocks 24 --pages-per-block 16 --out page.html",
        ["too small for dac"],
    ),
    ("explore --managers single --workload io:write=0 --out page.html", ["only reads"]),
    ("explore --managers single --out page.pdf", ["page.pdf", ".html"]),
    ("trace convert {good} out.xyz", ["xyz"]),
    ("trace fetch alibaba-2020", ["by hand", "https://github.com/alibaba/block-traces"]),
    ("trace fetch umass-financal1", ["umass-financal1", "did you mean 'umass-financial1'"]),
    ("trace convert {good} out.csv.gz --to msr", ["uncompressed"]),
    # Traces.
    (f"{TRACE} no-such.csv", ["no-such.csv", "No such file"]),
    (f"{TRACE} {{folder}}", ["folder"]),
    (f"{TRACE} {{empty}}", ["empty"]),
    (f"{TRACE} {{garbage}}", ["garbage"]),
    ("trace info {garbage} --json", ["garbage"]),
    (f"{TRACE} {{short_row}} --format msr", ["short_row:2"]),
    (f"{TRACE} {{cut}} --format msr", ["cut:2"]),
    (f"{TRACE} {{good}} --format mrs", ["mrs", "msr"]),
    (f"{TRACE} {{good}} --format spc", ["good:1"]),
    (f"{TRACE} {{five_columns}}", ["mqsim", "ssdsim", "--format"]),
    (f"{TRACE} {{good}} --trace-device sda", ["sda", "hm"]),
    (f"{DRIVE} --format msr", ["--format", "need a trace"]),
    # Timed runs.
    (f"{TIMED} --time 0", ["time is '0'; it must be above 0"]),
    (f"{TIMED} --time=-5s", ["time is '-5s'; it must be above 0"]),
    (f"{TIMED} --time '10 parsecs'", ["such as 10s, 500ms, 2min or 1.5h"]),
    (f"{TIMED} --time nan", ["time is 'nan'"]),
    (f"{TIMED} --time 1e30", ["time is '1e30'"]),
    (f"{TIMED} --time 1s --host-bytes 1MiB --writes 3", ["--host-bytes and --writes"]),
    (f"{TIMED} --time 1s --time-scale 0", ["--time-scale is 0"]),
    (f"{TIMED} --time-scale 2 --writes 100", ["--time-scale is for timed runs"]),
    (f"{TIMED} --time 1s --precision 0.1", ["precision ends untimed runs only"]),
    (f"{TIMED} --time 1s --replicas 7", ["replicas are for untimed runs"]),
    (f"{TIMED} --time 1s --warmup 7", ["it must be auto"]),
    (f"{TIMED} --host-bytes 100", ["a multiple of the page size, 4096 bytes"]),
    (f"{TIMED} --rb-rate 10MHz", ["need --rb-capture"]),
    (f"{TIMED} --rb-capture a.vcd --rb-jitter 5ns", ["need --rb-rate"]),
    (f"{TIMED} --rb-capture a.vcd --rb-rate 10furlongs", ["such as 10MHz"]),
    (f"{TIMED} --rb-capture a.vcd --rb-rate 1MHz --rb-missed 1", ["--rb-missed is 1"]),
    (f"{TIMED} --rb-capture .", ["is a directory"]),
    (f"{TIMED} --rb-capture a.png --plot a.png --time 1s", ["are the same file"]),
    (f"{TIMED} --timed --workload io:write=0,qd=2 --host-bytes 1MiB", ["never writes"]),
    (f"{TIMED} --timed --set timing.read_us=-3", ["read_us"]),
    (f"{TIMED} --timed --set timing.reed_us=3", ["reed_us"]),
    (f"{TIMED} --timed --set collection.paced=true", ["scheduling.copies_yield = true"]),
    (f"{TIMED} --timed --set scheduling.most_wait_us=5", ["scheduling.reads_first = true"]),
    ("simulate --device spinpoint-m7 --time 1s --rb-capture a.vcd", ["no Ready/Busy pins"]),
    (
        "simulate --device spinpoint-m7 --workload uniform --writes 10",
        ["use it in timed runs only"],
    ),
    (
        "simulate --device raid0:x25-m,x25-m --size 1GiB --time 1s --precondition random",
        ["needs a single flash drive"],
    ),
    (f"{LIFE} --time 1s", ["No such option"]),
    ("compare --managers single --time 1s", ["No such option"]),
    # Specs in the wrong place.
    ("compare --managers single sepgc", ["separate them by commas: --managers single,sepgc"]),
    ("explore --victims greedy fifo:x=1", ["--victims greedy,fifo:x=1"]),
    ("simulate --manager greedy", ["greedy is a victim policy", "--victims"]),
    ("simulate --victims sepbit", ["sepbit is a block manager", "--manager"]),
    ("simulate --victims greedy:d=10", ["no parameters", "did you mean d-choices:d=10?"]),
    ("simulate --manager bloom", ["bloom is a detector", "wolf:detector=bloom"]),
    ("predict --op 0.1 --model greedy", ["victim policy", "the model markov or d-choices"]),
    # Mean fields.
    (f"{SWAPS.replace('hcwf-swap', 'hcwf-swop')}", ["mode", "hcwf-swop", "did you mean"]),
    (f"{SWAPS.replace('--d-swap 8', '')}", ["needs --d-swap", "from 1"]),
    (f"{SWAPS.replace('hcwf-swap', 'hcwf')}", ["--d-swap", "leave it out"]),
    (f"{SWAPS.replace('--d 9', '--d 1.5')}", ["--d", "1.5", "whole number"]),
    (f"{SWAPS.replace('0.12', 'some')}", ["--spare-factor", "some", "number"]),
    (f"{SWAPS} --op 0.1", ["--op", "--spare-factor", "only one"]),
    (f"{SWAPS} --plot blocks.xyz", ["blocks.xyz", "png"]),
    # Black-box measurements.
    (f"{COLLECT} x25m --out m.parquet", ["x25m", "--size", "x25-m"]),
    (f"{COLLECT} new.img --size 1MiB --out m.parquet", ["at least"]),
    (
        "blackbox collect --target new.img --size 16MiB --runtime 0 --out m.parquet",
        ["--runtime is '0'"],
    ),
    (
        "blackbox collect --target new.img --size 16MiB --precondition some --out m.parquet",
        ["precondition"],
    ),
    (
        "blackbox collect --target new.img --size 16MiB --precision 0.1 --out m.parquet",
        ["--precision", "new"],
    ),
    (f"{COLLECT} x25-m --runtime 1s --out m.parquet", ["--runtime", "real targets"]),
    (f"{COLLECT} x25-m --yes-destroy-data x25-m --out m.parquet", ["simulated"]),
    (f"{COLLECT} x25-m --design gird --out m.parquet", ["grid"]),
    (f"{COLLECT} x25-m --points 0 --out m.parquet", ["points is 0"]),
    (
        "blackbox collect --target x25-m --design grid --points 99999 --out m.parquet",
        ["points is 99999", "36740"],
    ),
    (f"{COLLECT} same.img --size 16MiB --out same.img", ["the same file"]),
    (f"{COLLECT} x25-m --out no/such/folder/m.parquet", ["No such file"]),
    # Of other verbs.
    ("predict --op 0.1 --model markow", ["markow", "markov"]),
    ("list polices", ["polices", "victims"]),
    ("reproduce park2017 --traces nowhere", ["park2017", "--traces", "huang2011"]),
    ("reproduce huang2011 --traces nowhere", ["nowhere", "traces"]),
    ("serve --manager wolf", ["wolf", "hints", "single", "wolf-interval"]),
    ("serve --max-wa 0.99", ["--max-wa", "at least 1"]),
    ("serve --fs fat", ["fs", "ext4, xfs, btrfs"]),
    ("doctor", ["no input"]),
    ("doctor no-such.fio", ["no-such.fio", "No such file"]),
    ("doctor {garbage}", ["garbage", "not a supported input"]),
    ("doctor {good} --format mrs", ["mrs", "msr"]),
    ("doctor {good} --fail-on fatal", ["--fail-on", "fatal", "error, warning"]),
    ("doctor {good} --capacity big", ["capacity", "big"]),
    ("doctor {good} --size 1", ["size"]),
    # Allocations.
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.5,0.5", ["--op, --fill, --spare-factor"]),
    (f"{ALLOCATE} 0.5,half --frequencies 0.5,0.5 --op 0.1", ["sizes", "half", "numbers"]),
    (f"{ALLOCATE} 0.5,,0.5 --frequencies 0.5,0.5 --op 0.1", ["sizes", "numbers"]),
    (f"{ALLOCATE} 0.5,0.5 --op 0.1", ["frequencies", "missing"]),
    ("allocate --op 0.1", ["sizes", "missing", "explore"]),
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.1,0.9 --op 0.1 --coldest-op 0", ["coldest op", "above"]),
    (
        f"{ALLOCATE} 0.5,0.5 --frequencies 0.1,0.9 --op 0.1 --coldest-below 0.05",
        ["--coldest-below", "--coldest-op"],
    ),
    (f"{ALLOCATE} 0.5,0.5 --frequencies 0.5,0.5 --op 0.1 --plot wa.gif", ["gif", "png"]),
    ("allocate --explore 25 --fill 0.7", ["25 chunks", "2 to 24"]),
    ("allocate --explore ten --fill 0.7", ["--explore", "ten"]),
    ("allocate --explore 10 --sizes 0.5,0.5 --fill 0.7", ["explore", "sizes", "leave out"]),
    # Fleets.
    ("volumes make --volumes 0 --out fleet.csv", ["volumes", "from 1"]),
    ("volumes make --skew-low 2 --out fleet.csv", ["--skew-low", "above --skew-high"]),
    ("volumes make --out fleet.csv.xz", ["can be read but not written", ".zst"]),
    ("volumes make --out no-such-folder/fleet.csv", ["no-such-folder"]),
    ("volumes make --format msr --out fleet.csv", ["msr", "alibaba"]),
    (f"sweep {ROOT}/examples/op_by_manager.toml --out a.svg --plot a.svg", ["the same file"]),
    ("volumes split no-such.csv --out fleet", ["no-such.csv", "No such file"]),
    ("volumes split {garbage} --out fleet", ["garbage", "--format"]),
    ("volumes split {good} --format blkparse --action x+ --out fleet", ["unknown action", "Q, D"]),
    ("volumes split {short_row} --format msr --out fleet", ["short_row:2"]),
    ("volumes info no-such-folder", ["no-such-folder", "no fleet"]),
    ("volumes info {folder} --preset sepbt", ["preset", "did you mean 'sepbit'"]),
    ("volumes run {folder} --managers single", ["no fleet"]),
    ("volumes need {folder} --target-wa 1", ["--target-wa", "above 1"]),
    ("volumes need {folder}", ["--target-wa"]),
    ("volumes run {folder}", ["--managers"]),
    ("volumes run {folder} --managers sngle", ["sngle", "did you mean 'single'"]),
    ("volumes run {folder} --managers single --resamples 3", ["resamples", "from 100"]),
    ("volumes run {folder} --managers single --plot fleet.gif", ["gif", "png"]),
    # Real drives.
    ("measure save /dev/no-such --out snap.json", ["/dev/no-such", "ls /dev"]),
    ("measure save /dev/null", ["--out"]),
    ("measure run /dev/no-such -- true", ["/dev/no-such"]),
    ("measure run /dev/null", ["CMD"]),
    ("measure run {folder} --settle soon -- true", ["--settle", "soon"]),
    ("measure calibrate {folder}", ["exists", "--in"]),
    ("measure calibrate {folder} --write much", ["--write", "much"]),
    ("measure counters {garbage}", ["garbage", "not a snapshot"]),
    # Sweeps, and who runs them.
    ("sweep no-such.toml --out results", ["no-such.toml", "no such file"]),
    ("sweep {bad_toml} --out results", ["bad_toml.toml", "not valid TOML"]),
    ("sweep show {folder}", ["folder", "no results"]),
    (f"{SWEEP} --workers 0", ["workers", "from 1"]),
    (f"{SWEEP} --workers 2 --scheduler tcp://127.0.0.1:9", ["give only one of them"]),
    (f"{SWEEP} --scheduler no://where", ["no://where", "tcp://HOST:PORT"]),
    ('compare --managers single --scheduler ""', ["scheduler", "tcp://HOST:PORT"]),
    (f"{SWEEP} --tls-cert cert.pem --scheduler tls://127.0.0.1:9", ["--tls-key", "all three"]),
    (f"{SWEEP} --tls-ca-file a --tls-cert b --tls-key c", ["TLS", "address"]),
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
        "cut": (ROW + ROW[:30]).encode(),
        "five_columns": b"0 0 303567 7 0\n1000 1 55590 6 0\n",
        "bad_key.toml": b'[geometry]\ncolour = "red"\n',
        "bad_toml.toml": b"[geometry\n",
        "job.fio": b"[global]\nrw=randwrite\n[job]\nbs=4k\n",
        "picture": b"\x89PNG\r\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    found = {name.partition(".")[0]: folder / name for name in contents}
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


def test_a_scheduler_that_never_listens_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("writeamp.runners.dask.connection.LISTENS_S", 0)
    verb, _, arguments = f"{SWEEP} --scheduler tcp://127.0.0.1:9".partition(" ")
    status, out, err = in_process.run(verb, arguments)
    assert status == 2, err
    check_sentence(out, err, ["tcp://127.0.0.1:9", "connection refused"])


def check_sentence(out: str, err: str, words: list[str]) -> None:
    sentences = [one for one in err.splitlines() if not {"warning:", "note:"} & {*one.split()}]
    assert len(sentences) == 1, err
    assert out == ""
    assert "Traceback" not in err
    for word in words:
        assert word.lower() in sentences[0].lower()
