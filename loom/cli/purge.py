"""`loom purge`: a session, out of every file."""

from __future__ import annotations

import argparse
import asyncio
import sys

from loom.archive import ConversationStore, Session
from loom.archive.purge import Purged, purge
from loom.cli.output import say, write_line
from loom.cli.progress import shown_progress
from loom.cli.workspace import find_workspace
from loom.errors import LoomError
from loom.locations import Locations, find_locations
from loom.text import plural, show_line
from loom.turn_numbers import named_turns


def run(parsed: argparse.Namespace) -> int:
    """Ask, purge, and say what could not be reached; 1 when something is or may be left, or the answer was no. A purge
    that was cut off goes on without a question."""
    locations = find_locations()
    if not locations.archive.exists():
        raise LoomError("The archive is empty: there is nothing to purge.")
    session, begun = asyncio.run(_find(locations, parsed))
    if begun:
        say(f"The purge of {session.reference} was cut off. It goes on.")
    elif not parsed.yes and not _agreed(session):
        say("Nothing was purged.")
        return 1
    try:
        with shown_progress() as progress:
            purged = purge(locations.archive, session.id, locations.home, progress)
    except KeyboardInterrupt:
        say(f"The purge of {session.reference} was cut off. `loom purge {session.reference}` goes on.")
        raise
    write_line(_told(session, purged))
    return 1 if purged.left or purged.damaged or purged.went_before is not None else 0


async def _find(locations: Locations, parsed: argparse.Namespace) -> tuple[Session, bool]:
    """The session that is meant, and whether its purge has begun already."""
    store = await ConversationStore.open(locations.archive)
    try:
        half = await store.find_half_purged(parsed.session)
        if half is not None:
            return half, True
        return await store.resolve_reference(parsed.session, str(find_workspace(parsed.workspace))), False
    finally:
        await store.close()


def _agreed(session: Session) -> bool:
    if not sys.stdin.isatty():
        raise LoomError("A purge cannot be undone, and there is no terminal to ask on.", "Say --yes.")
    title = show_line(session.title or "untitled", 60)
    place = show_line(session.workspace_path, 80)
    write_line(f"{session.reference}  {title}  ({plural(session.turn_count, 'turn')}, {place})")
    write_line("Every turn of it will be gone, from the archive and from its backups, and cannot be brought back.")
    # The reference and not a y: a purge is not confirmed by habit.
    try:
        return input(f"Type {session.reference} to purge it: ").strip().lower() == session.reference
    except EOFError:
        return False


def _told(session: Session, purged: Purged) -> str:
    where = f" and from {len(purged.backups)} backups" if purged.backups else ""
    lines = [f"{session.reference}: {plural(purged.turns, 'turn')} purged from the archive{where}."]
    if purged.damaged:
        lines.append(
            f"damaged: {named_turns(purged.damaged)} held something else than what was stored. They are gone too, but"
            " no file was searched for what they had said before: look for it where you may have copied it."
        )
    if purged.went_before is not None:
        gone = f"The turns behind T{purged.went_before}" if purged.went_before else "All of its turns"
        lines.append(
            f"cut off: {gone} had gone before. The archive, its log and the backups hold nothing of them unless it is"
            " said below; no other file was searched for what they had said: look into exports, into /memory, and where"
            " you may have copied it."
        )
    if purged.indexed_anew:
        lines.append("The full-text index is made anew while loom runs; `loom check --reindex` makes it now.")
    if purged.left:
        lines += [f"still there: {left.path}: {left.why}" for left in purged.left]
    else:
        lines.append(
            f"{plural(purged.files, 'file')} searched for {plural(purged.samples, 'piece')} of the text: "
            "nothing is left of it."
        )
    return "\n".join(lines)
