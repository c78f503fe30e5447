"""The file that a command line names."""

from __future__ import annotations

import os
from pathlib import Path

from loom.errors import LoomError
from loom.locations import Locations, expanded
from loom.text import show_line


def named_file(name: str) -> Path:
    """The file, absolute. Raises LoomError for a name that can be none's: `~somebody` who is not there, a folder."""
    if not name or name.endswith(os.sep):
        raise LoomError(f"`{show_line(name, 500)}` names no file.", "Put the name of one behind it.")
    return expanded(name).absolute()


def place_of_a_copy(name: str, locations: Locations) -> Path:
    """The file, absolute, that an archive is to be written to. Raises LoomError as well for a name that loom would take
    for one of its own files."""
    file = named_file(name)
    if locations.uses(file):
        raise LoomError(
            f"{show_line(str(file), 500)} is a name that loom's own files have: nothing was written.",
            f"Name a file in {locations.backups}, or outside of {locations.home}.",
        )
    return file
