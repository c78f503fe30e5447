"""`python -m loom` is the `loom` command."""

import sys

from loom.cli import main

if __name__ == "__main__":
    sys.exit(main())
