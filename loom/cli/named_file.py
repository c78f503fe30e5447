"""The file that a command line names."""

from __future__ import annotations

import os
from pathlib import Path

from loom.errors import LoomError
from loom.locations import expanded
from loom.text import show_line


def named_file(name: str) -> Path:
    """The file, absolute. Raises LoomError for a name that can be none's: `~somebody` who is not there, a folder."""
    if not name or name.endswith(os.sep):
        raise LoomError(f"`{show_line(name, 500)}` names no file.", "Put the name of one behind it.")
    return expanded(name).absolute()
