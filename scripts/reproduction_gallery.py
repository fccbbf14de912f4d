"""Write index.html, the gallery of what `make reproduce` leaves of the papers.

The folder holds PAPER.json, as `writeamp reproduce PAPER --json` prints it, and the figures that
`--plots` drew in PAPER/. A paper that is missing there is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

from writeamp.reproduce.gallery import write_gallery


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) == 2 else Path("build/reproduce")
    print(f"the gallery is {write_gallery(folder)}")


if __name__ == "__main__":
    main()
