"""`loom recover`: the turns of a damaged file, in a new archive."""

from __future__ import annotations

import argparse
from pathlib import Path

from loom.archive.restoring import Loss
from loom.archive.salvage import recover
from loom.cli.progress import shown_progress
from loom.text import plural, show_line

_SHOWN = 20


def run(parsed: argparse.Namespace) -> int:
    """Save what can be saved, and say what could not; 1 when a session is not whole."""
    damaged = Path(parsed.file).expanduser().absolute()
    target = damaged.with_name(f"{damaged.stem}-recovered.db")
    if parsed.output is not None:
        target = Path(parsed.output).expanduser().absolute()
    with shown_progress() as progress:
        recovered = recover(damaged, target, progress)
    by_pages = recovered.turns - recovered.read_by_database
    how = f" ({by_pages:,} of them from pages that the database could not read)" if by_pages else ""
    print(
        f"{recovered.path}: {plural(recovered.turns, 'turn')} of {plural(recovered.sessions, 'session')} recovered{how}"
    )
    for loss in recovered.losses:
        print(show_line(f"session {loss.reference}: {_told(loss)}", 500))
    print(f"{damaged} was not touched. To go on with what was recovered, put it in the archive's place.")
    return 0 if recovered.whole else 1


def _told(loss: Loss) -> str:
    parts = []
    for numbers, what in ((loss.lost, "lost"), (loss.altered, "changed by the damage")):
        if numbers:
            more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
            parts.append(f"{', '.join(f'T{n}' for n in numbers[:_SHOWN])}{more} {what}")
    return "; ".join(parts)
