"""Check Containerfile: its steps in a chroot, then a virtual drive there without root.

Needs root, debootstrap and the wheel in dist/, and is skipped without them. It interprets only the
instructions that the file has. A container engine is not needed.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIRROR = "http://deb.debian.org/debian"
# Settings of this machine's network, without which its registries are out of reach in the chroot.
# Certificates have a name of their own, as the package ca-certificates replaces the usual file.
NETWORK = {
    "/etc/resolv.conf": "etc/resolv.conf",
    "/etc/pip.conf": "etc/pip.conf",
    "/etc/ssl/certs/ca-certificates.crt": "etc/certificates-of-host.crt",
}
VARIABLES = re.compile(r"(?i)(https?|no)_proxy|PIP_(?!FIND_LINKS|CERT).*")
# A drive that a program of the image writes, and its WA as JSON.
COMMAND = [
    "serve", "--device", "ssd-v", "--size", "64MiB", "--json", "--run",
    "fio --name=w --ioengine=nbd --uri=$uri --rw=randwrite --bs=4k --size=60M --io_size=120M "
    "--norandommap > fio.txt",
]  # fmt: skip


class Image:
    """Chroot in which the steps of a Containerfile run."""

    def __init__(self, folder: Path) -> None:
        """Set the folder of the chroot."""
        self.folder = folder
        self.variables = {name: text for name, text in os.environ.items() if VARIABLES.match(name)}
        self.variables["PIP_CERT"] = f"/{NETWORK['/etc/ssl/certs/ca-certificates.crt']}"
        self.variables["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
        self.user, self.place, self.entry = "root", "/", ["sh", "-c"]

    def run(self, words: list[str], **how: object) -> subprocess.CompletedProcess[str]:
        """Run a command as the image's user, in its folder."""
        inside = ["sh", "-c", f"cd {shlex.quote(self.place)} && exec {shlex.join(words)}"]
        return subprocess.run(
            [shutil.which("chroot"), f"--userspec={self.user}", str(self.folder), *inside],
            env=self.variables | {"HOME": self.place},
            check=True,
            text=True,
            **how,  # type: ignore[call-overload]
        )

    def apply(self, instruction: str, rest: str) -> None:
        """Apply an instruction.

        Raises:
            SystemExit: the instruction is not one of those that are interpreted.
        """
        match instruction:
            case "FROM":
                suite = rest.removeprefix("debian:").removesuffix("-slim")
                subprocess.run(
                    ["debootstrap", "--variant=minbase", suite, str(self.folder), MIRROR],
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
                for name, copy in NETWORK.items():
                    if os.path.exists(name):
                        shutil.copy(name, self.folder / copy)
                subprocess.run(
                    ["mount", "-t", "proc", "proc", str(self.folder / "proc")], check=True
                )
            case "ENV":
                name, _, text = rest.partition("=")
                self.variables[name] = text
            case "RUN":
                self.run(["sh", "-c", rest], stdout=subprocess.DEVNULL)
            case "COPY":
                pattern, target = rest.split()
                (self.folder / target[1:]).mkdir(parents=True, exist_ok=True)
                for name in glob.glob(pattern, root_dir=ROOT):
                    shutil.copy(ROOT / name, self.folder / target[1:])
            case "USER":
                self.user = rest
            case "WORKDIR":
                self.place = rest
            case "ENTRYPOINT":
                self.entry = json.loads(rest)
            case "CMD":
                self.run([*self.entry, *json.loads(rest)], stdout=subprocess.DEVNULL)
            case _:
                raise SystemExit(f"check_container: {instruction} of Containerfile is unknown here")


def missing() -> list[str]:
    """Return what this machine lacks for the check."""
    lacking = [] if os.geteuid() == 0 else ["root"]
    lacking += [name for name in ("debootstrap", "chroot") if shutil.which(name) is None]
    return lacking + (
        [] if glob.glob("dist/writeamp-*.whl", root_dir=ROOT) else ["a wheel in dist/"]
    )


def main() -> int:
    """Apply all instructions, then serve a drive to a program."""
    if lacking := missing():
        print(f"check_container: skipped; needs {', '.join(lacking)}", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="wa-container-") as name:
        Path(name).chmod(0o755)
        image = Image(Path(name))
        try:
            for line in (ROOT / "Containerfile").read_text("utf-8").splitlines():
                if line and not line.startswith("#"):
                    print(line[:100], flush=True)
                    image.apply(*line.split(" ", 1))
            done = image.run([*image.entry, *COMMAND], stdout=subprocess.PIPE)
        finally:
            subprocess.run(["umount", f"{name}/proc"], check=False)
        wa = json.loads(done.stdout)["wa"]
    print(f"as the user {image.user}, `writeamp serve --run` measures WA {wa:.3f}")
    return 0 if 1 < wa < 10 else 1


if __name__ == "__main__":
    sys.exit(main())
