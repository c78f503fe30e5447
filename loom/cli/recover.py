"""`loom recover`: the turns of a damaged file, in a new archive."""

from __future__ import annotations

import argparse

from loom.archive.restoring import Loss
from loom.archive.salvage import recover
from loom.cli.named_file import named_file, place_of_a_copy
from loom.cli.output import write_line
from loom.cli.progress import shown_progress
from loom.locations import find_locations
from loom.text import plural, show_line
from loom.turn_numbers import named_turns


def run(parsed: argparse.Namespace) -> int:
    """Save what can be saved, and say what could not; 1 when a session is not whole."""
    damaged = named_file(parsed.file)
    target = damaged.with_name(f"{damaged.stem}-recovered.db")
    if parsed.output is not None:
        target = place_of_a_copy(parsed.output, find_locations())
    with shown_progress() as progress:
        recovered = recover(damaged, target, progress)
    by_pages = recovered.turns - recovered.read_by_database
    how = f" ({by_pages:,} of them from pages that the database could not read)" if by_pages else ""
    held = f"{plural(recovered.turns, 'turn')} of {plural(recovered.sessions, 'session')}"
    write_line(f"{recovered.path}: {held} recovered{how}")
    for loss in recovered.losses:
        write_line(show_line(f"session {loss.reference}: {_told(loss)}", 500))
    write_line(f"{damaged} was not touched. To go on with what was recovered, put it in the archive's place.")
    return 0 if recovered.whole else 1


def _told(loss: Loss) -> str:
    return "; ".join(f"{named_turns(numbers)} {what}" for numbers, what in loss.told)
