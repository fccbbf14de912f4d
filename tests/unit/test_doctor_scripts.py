"""Shell scripts as the doctor reads them: variables, documents, and programs beside fio."""

from __future__ import annotations

from pathlib import Path

import pytest

import writeamp as wa
from writeamp.fio.command_line import is_command, read_commands

RANDOM = (
    "--rw=randwrite --norandommap --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --time_based "
    "--runtime=1h"
)
CALL = f"fio --name=a --filename=/dev/nvme0n1 {RANDOM}\n"
JOB = "[a]\nioengine=libaio\ndirect=1\nfilename=%s\nrw=randwrite\nloops=4\n"
LOOPED = JOB % "/dev/nvme0n1"


def examined(folder: Path, text: str) -> wa.DoctorReport:
    path = folder / "script"
    path.write_text(text)
    return wa.doctor(path, simulate=False)


def found(report: wa.DoctorReport) -> dict[str, str]:
    return {one.id: one.evidence for one in report.findings}


# Variables.
@pytest.mark.parametrize(
    "script",
    [
        'dev="$1"; fio --name=a --filename=$dev %s',
        "dev=$1\nfio --name=a --filename=${dev} %s",
        'fio --name=a --filename="$1" %s',
        "fio --name=a --filename=${1:-/dev/nvme0n1} %s",
        "fio --name=a --filename=${DEV:=/dev/nvme0n1} %s",
        "fio --name=a --filename=$(ls /dev/nvme*n1 | head -1) %s",
        "fio --name=a --filename=`ls /dev/nvme*n1` %s",
        "dev=$(lsblk -dn | head -1)\nfio --name=a --filename=$dev %s",
        "for dev in /dev/nvme*n1; do\n  fio --name=a --filename=$dev %s\ndone",
        "for dev in /dev/sdb /dev/sdc; do fio --name=a --filename=$dev %s; done",
        "run() {\n  local dev=$1\n  fio --name=a --filename=$dev %s\n}\nrun /dev/sdb",
        'if [ -z "$DEV" ]; then DEV=/dev/nvme0n1; fi\nfio --name=a --filename=$DEV %s',
        "if [ $1 = x ]; then D=/dev/sdb; else D=/dev/sdc; fi\nfio --name=a --filename=$D %s",
        'DEV=/dev/nvme0n1\n[ -n "$1" ] && DEV=$1\nfio --name=a --filename=$DEV %s',
        'while getopts "d:" o; do\n case $o in\n d) D=$OPTARG ;;\n esac\ndone\n'
        "fio --name=a --filename=$D %s",
        'read -p "device? " dev\nfio --name=a --filename=$dev %s',
        "DEVS=(/dev/sdb)\nfio --name=a --filename=${DEVS[0]} %s",
        "ls /dev/nvme*n1 | xargs -I{} fio --name=a --filename={} %s",
        "parallel fio --name=a --filename={} %s ::: /dev/sdb /dev/sdc",
    ],
)
def test_a_parameter_is_neither_a_device_nor_a_file(script: str, tmp_path: Path) -> None:
    report = examined(tmp_path, (script % RANDOM) + "\n")
    assert found(report) == {}
    assert any("filename=" in note and "is unknown" in note for note in report.notes)
    reasons = {one.id: one.reason for one in report.not_judged}
    assert "is a device or a file" in reasons["stacked-storage"]


@pytest.mark.parametrize(
    "script",
    [
        "DEV=/dev/nvme0n1; SIZE=5G\nfio --name=a --filename=$DEV --size=${SIZE} %s",
        "DEV=/dev/nvme0n1\nSIZE='5G'\nfio --name=a --filename=${DEV} --size=$SIZE %s",
        'readonly DEV="/dev/nvme0n1"\nSIZE=5G\nfio --name=a --filename="$DEV" --size=$SIZE %s',
        "N=nvme0n1\nDEV=/dev/$N\nfio --name=a --filename=$DEV --size=5G %s",
        "for DEV in /dev/nvme0n1; do fio --name=a --filename=$DEV --size=5G %s; done",
        "if [ $1 ]; then D=/dev/nvme0n1; fio --name=a --filename=$D --size=5G %s; fi",
        'ARGS="--filename=/dev/nvme0n1\n  --size=5G"\nfio --name=a $ARGS %s',
        "echo \"it's fio --name=b --rw=read\"  # don't\n"
        "fio --name=a --filename=/dev/nvme0n1 --size=5G %s",
        "D=/dev/sdb\nD=/dev/nvme0n1\nfio --name=a --filename=$D --size=5G \\\n  %s",
        'A=(--name=a --filename=/dev/nvme0n1)\nA+=(--size=5G)\nfio "${A[@]}" %s',
        "A=(\n  --filename=/dev/nvme0n1 # the drive\n  --size=5G\n)\nfio --name=a ${A[@]} %s",
    ],
)
def test_a_variable_that_the_script_sets_is_replaced(script: str, tmp_path: Path) -> None:
    report = examined(tmp_path, (script % RANDOM) + "\n")
    assert found(report)["small-span"].startswith("size is 5 GiB of /dev/nvme0n1")
    assert report.notes == ()


def test_a_variable_that_counts_up_is_not_known() -> None:
    text = "n=1\nwhile [ $n -lt 9 ]; do fio --name=a --numjobs=$n --rw=read; n=$((n*2)); done\n"
    (job,) = read_commands(text, "").jobs
    assert job.unknown == {"numjobs": "$n"}
    assert job.is_repeated


# Here-documents.
@pytest.mark.parametrize(
    "script",
    [
        f"#!/bin/bash\ncat << EOF > x.fio\n{LOOPED}EOF\nfio x.fio\n",
        f"cat > x.fio <<'EOF'\n{LOOPED}EOF\nsudo fio x.fio --output=o.json\n",
        f'cat <<"END" >x.fio\n{LOOPED}END\nfio x.fio\n',
        "cat > x.fio <<-EOF\n\t" + LOOPED.replace("\n", "\n\t") + "EOF\nfio x.fio\n",
        f"tee x.fio <<EOF\n{LOOPED}EOF\nfio x.fio\n",
        f"sudo tee x.fio > /dev/null <<EOF\n{LOOPED}EOF\nfio x.fio\n",
        f"fio - <<EOF\n{LOOPED}EOF\n",
        f"cat <<EOF | fio -\n{LOOPED}EOF\n",
        f'F=$(mktemp)\ncat > "$F" <<EOF\n{LOOPED}EOF\nfio "$F"\n',
        "cat > x.fio <<EOF\n[global]\nrw=randwrite\nEOF\ncat >> x.fio <<EOF\n[a]\nloops=4\n"
        "direct=1\nioengine=libaio\nfilename=/dev/nvme0n1\nEOF\nfio x.fio\n",
        "D=/dev/nvme0n1\ncat > x.fio <<EOF\n" + JOB % "$D" + "EOF\nfio x.fio\n",
        "export D=/dev/nvme0n1\ncat > x.fio <<'EOF'\n" + JOB % "${D}" + "EOF\nfio x.fio\n",
        "cat > x.fio <<'EOF'\n" + JOB % "${D}" + "EOF\nD=/dev/nvme0n1 fio x.fio\n",
        "cat > x.fio <<EOF\n" + LOOPED.replace("filename=/dev/nvme0n1\n", "")
        + "EOF\nfio --filename=/dev/nvme0n1 x.fio\n",
        f"cat > x.fio <<EOF\n{LOOPED}EOF\n",
        f"cat > x.fio <<EOF\n{LOOPED}",
        f"cat > x.fio <<EOF\n{LOOPED}EOF\ncd /tmp; fio /tmp/x.fio\n",
        "rm -f x.fio\n" + "".join(f'echo "{one}" >> x.fio\n' for one in LOOPED.split())
        + "fio x.fio\n",
        f'echo "{LOOPED}" > x.fio\nfio x.fio\n',
        f"printf '%s' '{LOOPED}' > x.fio\nfio x.fio\n",
        f"printf '{LOOPED!r}' > x.fio\nfio x.fio\n".replace("''", "'"),
    ],
)  # fmt: skip
def test_a_job_file_that_a_script_writes_is_read(script: str, tmp_path: Path) -> None:
    report = examined(tmp_path, script)
    assert [kind for _, kind in report.inputs] == ["command lines of fio"]
    assert "4 passes over the span" in found(report)["looped-permutation"]
    assert "/dev/nvme0n1" in found(report)["fresh-drive"]
    assert "repeated-seed" not in found(report)
    unused = "writes the job file x.fio, but no call of fio uses it"
    assert all(unused in one for one in report.notes)


def test_several_job_files_of_a_script_run_in_the_order_of_its_calls(tmp_path: Path) -> None:
    fill = "[f]\nioengine=libaio\ndirect=1\nfilename=/dev/nvme0n1\nrw=write\nbs=1M\n"
    script = (
        f"cat > b.fio <<EOF\n{LOOPED}EOF\ncat > a.fio <<EOF\n{fill}EOF\nfio a.fio && fio b.fio\n"
    )
    assert found(examined(tmp_path, script)).keys() == {"looped-permutation"}


def test_a_parameter_in_a_job_file_of_a_script_is_not_known(tmp_path: Path) -> None:
    report = examined(tmp_path, "cat > x.fio <<EOF\n" + JOB % "$1" + "EOF\nfio x.fio\n")
    assert found(report).keys() == {"looped-permutation"}
    assert "filename=$1 is unknown (a parameter of the script)" in report.notes[0]


def test_a_job_file_with_a_call_of_fio_in_a_comment_is_one(tmp_path: Path) -> None:
    report = examined(tmp_path, f"; fio --filename=/dev/sdb x.fio\n{LOOPED}")
    assert [kind for _, kind in report.inputs] == ["a fio job file"]


def test_a_long_text_is_not_read_as_a_script() -> None:
    assert is_command("fio x.fio\n" + "# more\n" * 100)
    # Looking for commands in it would take minutes.
    assert not is_command("fio x.fio\n" + "8,0 W 1 + 8 [fio] it's \n" * 400_000)


# Times that doubled with each level, or grew with the square of the length: minutes to ages.
@pytest.mark.parametrize(
    "text",
    [
        f"fio --name=a {'$(a ' * 40}{')' * 40}\n",
        f"#!/bin/sh\nfio {'$(' * 200_000}\n",
        f"fio --name=a $({'x' * 200_000}\n",
        f"fio --name=a ` {'x' * 200_000}\n",
        f"fio {'a' * 1_000_000}\n",
        " \n" * 20_000 + "x\nfio --name=a\n",
        JOB % ("${" * 100_000),
        f"{LOOPED}random_distribution=zipf:{'9' * 200_000}x\n",
    ],
    ids=["nested", "open", "word", "backtick", "shlex", "blank", "variable", "zipf"],
)
def test_a_text_that_never_closes_what_it_opens_is_read_in_seconds(
    tmp_path: Path, text: str
) -> None:
    kinds = [kind for _, kind in examined(tmp_path, text).inputs]
    assert kinds == ["a fio job file" if text.startswith("[") else "command lines of fio"]


def test_a_script_in_eight_scripts_is_read_and_no_deeper_one(tmp_path: Path) -> None:
    call = f"fio --name=a --filename=/dev/nvme0n1 {RANDOM} --loops=4\n"
    assert found(examined(tmp_path, "eval " * 8 + call)).keys() == {"fresh-drive"}
    assert not found(examined(tmp_path, "fio --version\n" + "eval " * 9 + call))


# Programs beside fio.
EMPTYING = [
    "blkdiscard /dev/nvme0n1",
    "sudo blkdiscard -f /dev/nvme0n1",
    "nvme format /dev/nvme0n1 --ses=1",
    "nvme format -f /dev/nvme0",
    "sudo nvme sanitize /dev/nvme0 -a 2",
    "nvme delete-ns /dev/nvme0 -n 1; nvme create-ns /dev/nvme0 -s 9 -c 9",
    "sg_write_same --unmap --lba=0 --num=0 /dev/nvme0n1",
    "sg_unmap --lba=0 --num=0x1000 /dev/sg1",
    "hdparm --user-master u --security-erase p /dev/nvme0n1",
    "mkfs.ext4 -F /dev/nvme0n1",
    "mkfs -t xfs /dev/nvme0n1",
    "D=/dev/nvme0n1; blkdiscard $D",
    "dd if=/dev/urandom of=/dev/nvme0n1 bs=1M\nblkdiscard /dev/nvme0n1",
    "fio --name=f --rw=write --filename=/dev/nvme0n1\nnvme format /dev/nvme0n1",
]
FILLING = [
    "dd if=/dev/urandom of=/dev/nvme0n1 bs=1M oflag=direct",
    "openssl enc -aes-256-ctr -nosalt | dd of=/dev/nvme0n1 bs=1M",
    "shred -n 1 /dev/nvme0n1",
    "cat /dev/urandom > /dev/nvme0n1",
    "blkdiscard /dev/nvme0n1; dd if=/dev/urandom of=/dev/nvme0n1 bs=1M",
    "blkdiscard /dev/nvme0n1\nfio --name=f --filename=/dev/nvme0n1 --rw=write --direct=1",
]
OF_ZEROS = [
    "dd if=/dev/zero of=/dev/nvme0n1 bs=1M",
    "sudo dd of=/dev/nvme0n1 if=/dev/zero bs=1M status=progress",
    "cat /dev/zero > /dev/nvme0n1",
    "cat /dev/zero >/dev/nvme0n1",
    "badblocks -wsv /dev/nvme0n1",
    "shred -n 0 -z /dev/nvme0n1",
    "blkdiscard -z /dev/nvme0n1",
]
WITHOUT_EFFECT = [
    "dd if=/dev/zero of=/dev/nvme1n1 bs=1M",
    "dd if=/dev/zero of=/dev/nvme0n1 bs=1M count=1000",
    "dd if=/dev/nvme0n1 of=/dev/null bs=1M",
    "blkdiscard /dev/nvme1n1",
    "echo blkdiscard /dev/nvme0n1",
    "mkfs.xfs -K /dev/nvme0n1",
    "badblocks -sv /dev/nvme0n1",
    "fallocate -l 10G /dev/nvme0n1",
    "nvme list",
]


def severities(report: wa.DoctorReport) -> dict[str, str]:
    return {one.id: one.severity for one in report.findings}


@pytest.mark.parametrize("command", EMPTYING)
def test_what_empties_a_drive_is_seen(command: str, tmp_path: Path) -> None:
    assert severities(examined(tmp_path, f"{command}\n{CALL}"))["fresh-drive"] == "warning"


@pytest.mark.parametrize("command", FILLING)
def test_what_fills_a_drive_is_seen(command: str, tmp_path: Path) -> None:
    assert "fresh-drive" not in found(examined(tmp_path, f"{command}\n{CALL}"))


@pytest.mark.parametrize("command", OF_ZEROS)
def test_a_fill_of_zeros_is_reported_as_one(command: str, tmp_path: Path) -> None:
    report = examined(tmp_path, f"{command}\n{CALL}")
    assert severities(report) == {"compressible-data": "note"}
    assert "unmaps zeros" in report.findings[0].message


@pytest.mark.parametrize("command", WITHOUT_EFFECT)
def test_what_neither_fills_nor_empties_a_drive_changes_nothing(
    command: str, tmp_path: Path
) -> None:
    found = severities(examined(tmp_path, f"{command}\n{CALL}"))
    assert found.pop("fresh-drive") == "note"
    assert found.keys() <= {"compressible-data"}


@pytest.mark.parametrize(
    ("prerun", "phase", "expected"),
    [
        ("blkdiscard /dev/nvme0n1", "", {"fresh-drive": "warning"}),
        ("nvme format /dev/nvme0n1", "stonewall\n", {"fresh-drive": "warning"}),
        ("dd if=/dev/zero of=/dev/nvme0n1 bs=1M", "", {"compressible-data": "note"}),
        ("dd if=/dev/urandom of=/dev/nvme0n1 bs=1M", "", {}),
    ],
)
def test_exec_prerun_runs_before_its_job(
    prerun: str, phase: str, expected: dict[str, str], tmp_path: Path
) -> None:
    drive = "filename=/dev/nvme0n1\nioengine=libaio\ndirect=1\n"
    before = f"[fill]\n{drive}rw=write\n" if phase else ""
    text = (
        f"{before}[a]\n{drive}{phase}exec_prerun={prerun}\nrw=randwrite\nnorandommap\ntime_based\n"
        "runtime=1h\n"
    )
    assert severities(examined(tmp_path, text)) == expected


@pytest.mark.parametrize("program", ["fallocate -l 10G", "truncate -s 10G"])
def test_space_that_is_reserved_is_not_written(program: str, tmp_path: Path) -> None:
    script = f"{program} /mnt/t\nfio --name=a --filename=/mnt/t --size=10G {RANDOM}\n"
    assert f"{program} /mnt/t writes no data" in found(examined(tmp_path, script))["fresh-drive"]


def test_a_command_under_a_condition_is_reported_as_one(tmp_path: Path) -> None:
    report = examined(tmp_path, f"if [ $1 ]; then blkdiscard /dev/nvme0n1; fi\n{CALL}")
    assert "blkdiscard /dev/nvme0n1 (if it is run)" in found(report)["fresh-drive"]
    assert severities(report)["fresh-drive"] == "note"


def test_a_part_of_zeros_is_no_fill_of_zeros(tmp_path: Path) -> None:
    report = examined(tmp_path, f"dd if=/dev/zero of=/dev/nvme0n1 bs=1M count=1024\n{CALL}")
    assert found(report).keys() == {"fresh-drive"}
    assert "writes 1 GiB of it" in found(report)["fresh-drive"]


@pytest.mark.parametrize(
    "fill",
    [
        "dd if=part.bin of=/dev/nvme0n1 bs=1M oflag=direct",
        "for i in 1 2; do dd if=/dev/urandom of=/dev/nvme0n1 bs=1M seek=$((i * 1000)); done",
    ],
)
def test_how_much_a_file_fills_is_not_judged(fill: str, tmp_path: Path) -> None:
    report = examined(tmp_path, f"{fill}\n{CALL}")
    assert "fresh-drive" not in found(report)
    reasons = {one.id: one.reason for one in report.not_judged}
    assert reasons["fresh-drive"] == "the job's amount of writes is unknown"


# Ways to call fio.
OPTIONS = "--name=a --filename=/dev/nvme0n1 --rw=randwrite --direct=1 --loops=4"


@pytest.mark.parametrize(
    "script",
    [
        f"fio {OPTIONS.replace('--', '-')}",
        f"fio {OPTIONS.replace('=', ' ')}",
        f"fio {OPTIONS} &> /dev/null",
        f"fio {OPTIONS} --minimal &>> log",
        f"sudo $fio {OPTIONS}",
        f"command fio {OPTIONS}",
        f"${{FIO_BIN:-fio}} {OPTIONS}",
        f"$HOME/fio/fio {OPTIONS}",
        f"OUT=$(fio {OPTIONS} | jq .jobs[0])",
        f'echo "$(sudo fio {OPTIONS})"',
        f"OUT=`fio {OPTIONS}`",
        f"bash -c 'fio {OPTIONS}'",
        f'sudo sh -c "fio {OPTIONS} > log"',
        f'CMD="fio {OPTIONS}"\neval "$CMD"',
        f"CMD='fio {OPTIONS}'\n$CMD",
        f'ssh root@host "fio {OPTIONS}"',
        f"if [ \"$1\" = fio ]; then\n  OUT=$(fio {OPTIONS})\nfi",
        f"docker run --name fio --rm -v /dev:/dev somebody/fio {OPTIONS}",
        f"docker run somebody/fio fio {OPTIONS}",
        f"kubectl exec -it fio -- fio {OPTIONS}",
        f"kubectl exec fio -- sh -c 'fio {OPTIONS}'",
        # Makefile.
        f"D := /dev/nvme0n1\nall: fio\n\t@sudo fio {OPTIONS.replace('/dev/nvme0n1', '$(D)')}",
        # Batch file.
        "@echo off\nset FIO=\"C:\\Program Files\\fio\\fio.exe\"\nset D=/dev/nvme0n1\n"
        f"%FIO% ^\r\n {OPTIONS.replace('/dev/nvme0n1', '%D%')} --size=100%%",
        # Kubernetes and Ansible.
        "kind: Pod\nspec:\n  containers:\n  - command: [fio]\n    args:\n"
        + "".join(f'    - "{one}"\n' for one in OPTIONS.split()),
        "kind: Pod\nspec:\n  containers:\n  - command:\n    - /usr/bin/fio\n    args: ["
        + ",\n      ".join(f'"{one}"' for one in OPTIONS.split()) + "]",
        'kind: Pod\nspec:\n  containers:\n  - command: ["sh", "-c"]\n    args:\n    - |\n'
        f"      echo begin\n      fio {OPTIONS}",
        "kind: ConfigMap\ndata:\n  x.fio: |-\n    [a]\n"
        + "".join(f"    {one[2:]}\n" for one in OPTIONS.split()[1:])
        + '---\nkind: Pod\nspec:\n  command: ["fio", "/etc/x.fio"]',
        f"- hosts: all\n  tasks:\n  - shell: >\n      fio\n      {OPTIONS}\n    register: out",
        f"- hosts: all\n  tasks:\n  - name: run\n    command: fio {OPTIONS}",
    ],
)  # fmt: skip
def test_a_call_of_fio_is_found_in_whatever_runs_it(script: str, tmp_path: Path) -> None:
    report = examined(tmp_path, script + "\n")
    assert found(report).keys() == {"looped-permutation", "fresh-drive"}
    assert "4 passes over the span" in found(report)["looped-permutation"]
    assert "/dev/nvme0n1" in found(report)["fresh-drive"]
    assert report.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nfilename={{ device }}\nbs={{ bs }}\nruntime={{ t | default('60') }}\n%s",
        "{%% if x %%}\n[a]\n{%% endif %%}\nfilename=<%%= @device %%>\nbs={{bs}}\n%s",
    ],
)
def test_what_a_template_fills_in_is_not_known(text: str, tmp_path: Path) -> None:
    report = examined(tmp_path, text % "rw=randwrite\nioengine=libaio\ndirect=1\nnorandommap\n")
    assert found(report).keys() <= {"too-few-writes"}
    assert any("(filled in by a template)" in one for one in report.notes)


def test_calls_in_the_background_run_at_the_same_time(tmp_path: Path) -> None:
    one = "fio --name=%s --filename=/dev/nvme0n1 --rw=write --direct=1"
    both = f"{one % 'a'} &\n{one % 'b'} &\nwait\n"
    assert "a and b write /dev/nvme0n1" in found(examined(tmp_path, both))["overlapping-jobs"]
    assert found(examined(tmp_path, f"{one % 'a'} &\nwait\n{one % 'b'}\n")) == {}


@pytest.mark.parametrize(
    "text",
    ["#!/bin/sh\nwhich fio || command -v fio || apt-get install -y fio\nfio --version\n"],
)
def test_a_script_without_a_job_is_not_said_to_be_right(text: str, tmp_path: Path) -> None:
    assert "no call of fio with a job was recognized" in examined(tmp_path, text).notes[0]


@pytest.mark.parametrize("text", ["---\nkind: X\n[a]\nrw=read\n", "import os\n[a]\nrw=read\n"])
def test_what_is_no_job_file_is_not_refused_as_one(text: str, tmp_path: Path) -> None:
    with pytest.raises(wa.WriteampError, match="not a supported input"):
        examined(tmp_path, text)
