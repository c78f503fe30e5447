"""`loom backup`: a verified copy of the archive."""

from __future__ import annotations

import argparse

from loom.archive.backups import create_backup
from loom.cli.named_file import place_of_a_copy
from loom.cli.output import write_line
from loom.errors import LoomError
from loom.locations import find_locations
from loom.text import plural


def run(parsed: argparse.Namespace) -> int:
    """Make the copy, and say what is in it."""
    locations = find_locations()
    archive = locations.archive
    if not archive.exists():
        raise LoomError(f"There is no archive at {archive} yet: nothing to back up.")
    target = None if parsed.file is None else place_of_a_copy(parsed.file, locations)
    backup = create_backup(archive, target)
    size = f"{backup.size / 1_000_000:.1f} MB"
    held = f"{plural(backup.sessions, 'session')}, {plural(backup.turns, 'turn')}, {size}"
    write_line(f"{backup.path}: {held}, opened again and compared")
    return 0
