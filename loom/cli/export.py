"""`loom export`: a session as a file, or on standard output."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from loom.archive import Session, Turn
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
        # Lone surrogates never reach the archive, so what is there can be written.
        sys.stdout.writelines(render(session, turns, parsed.format or "markdown"))
        return 0
    path = export_session(Path(parsed.file), session, turns, form=parsed.format, force=parsed.force)
    print(f"loom: {plural(session.turn_count, 'turn')} written to {path}", file=sys.stderr)
    return 0


async def _read(locations: Locations, parsed: argparse.Namespace) -> tuple[Session, list[Turn]]:
    async with opened(locations.archive) as store:
        found = await store.resolve_reference(parsed.session, str(find_workspace(parsed.workspace)))
        session = await store.get_session(found.id) or found
        return session, await store.get_range(session.id, 1, session.turn_count)
