"""The `writeamp` command."""

from writeamp.cli import main

if __name__ == "__main__":
    main()
