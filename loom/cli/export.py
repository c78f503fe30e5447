"""`loom export`: a session as a file, or on standard output."""

from __future__ import annotations

import argparse
import asyncio
import sys
from io import TextIOWrapper
from pathlib import Path

from loom.archive import Session, Turn
from loom.cli.output import say, write_out
from loom.cli.reading import opened
from loom.cli.workspace import find_workspace
from loom.errors import LoomError
from loom.interchange.export import export_session, render
from loom.locations import Locations, find_locations
from loom.text import plural


def run(parsed: argparse.Namespace) -> int:
    """Write the session; where it went is the one line on standard error."""
    locations = find_locations()
    if not locations.archive.exists():
        raise LoomError("The archive is empty: there is nothing to export yet.")
    session, turns = asyncio.run(_read(locations, parsed))
    if parsed.file is None:
        if isinstance(sys.stdout, TextIOWrapper) and not sys.stdout.isatty():
            # A file is the same wherever it is made. Lone surrogates never reach the archive: all of it can be written.
            sys.stdout.reconfigure(encoding="utf-8")
        write_out(render(session, turns, parsed.format or "markdown"))
        return 0
    path = export_session(
        Path(parsed.file), session, turns, locations=locations, form=parsed.format, force=parsed.force
    )
    say(f"loom: {plural(session.turn_count, 'turn')} written to {path}")
    return 0


async def _read(locations: Locations, parsed: argparse.Namespace) -> tuple[Session, list[Turn]]:
    async with opened(locations.archive) as store:
        found = await store.resolve_reference(parsed.session, str(find_workspace(parsed.workspace)))
        session = await store.get_session(found.id) or found
        return session, await store.get_range(session.id, 1, session.turn_count)
