"""Speed of the readers of captures: edges a second of processor time, folding included.

Run `python benches/captures.py`; it writes captures to a temporary folder.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from writeamp._engine import read_capture

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import synthetic_captures as synthetic

REPEATS = 5
# Operations in a thousand, and what writes them: a format of samples is as long as its time.
MIX = (("read", 200, 50, 3), ("program", 400, 300, 40), ("program", 400, 1500, 150))
CASES = {
    "rb.vcd": (synthetic.write_vcd, 500),
    "rb-saleae.csv": (synthetic.write_saleae_csv, 500),
    "rb-saleae": (synthetic.write_saleae_binary, 500),
    "rb.sr": (synthetic.write_sr, 20),
    "rb-sigrok.csv": (synthetic.write_sigrok_csv, 2),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, (write, thousands) in CASES.items():
            path = Path(folder) / name
            kinds = [
                synthetic.Kind(of_class, count * thousands, mean_us, sd_us)
                for of_class, count, mean_us, sd_us in MIX
            ]
            found = synthetic.pins(kinds, ("rb0", "rb1", "rb2", "rb3"), seed=1)
            write(path, found)
            seconds = []
            for _ in range(REPEATS):
                start = time.process_time()
                capture = read_capture(str(path), inverted=False)
                seconds.append(time.process_time() - start)
            edges = 2 * sum(pin["pulses"] for pin in capture["pins"])
            files = path.iterdir() if path.is_dir() else [path]
            size_mb = sum(file.stat().st_size for file in files) / 1e6
            print(
                f"{capture['format']:16} {size_mb:7.1f} MB  {edges / min(seconds) / 1e6:6.2f} M "
                f"edges/s  {size_mb / min(seconds):7.0f} MB/s"
            )


if __name__ == "__main__":
    main()
