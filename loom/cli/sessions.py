"""`loom sessions`: the list that the picker shows, for pipes."""

from __future__ import annotations

import argparse
import asyncio
import json

from loom.archive import Session
from loom.cli.output import say, write_line
from loom.cli.reading import opened
from loom.cli.workspace import find_workspace
from loom.errors import LoomError
from loom.locations import find_locations
from loom.text import plural, show_line
from loom.times import local_time


def run(parsed: argparse.Namespace) -> int:
    """Print the sessions of the workspace, newest first; where there are none, a line on stderr says so."""
    if parsed.limit < 1:
        raise LoomError("--limit takes a number from 1 up.")
    workspace = None if parsed.all else str(find_workspace(parsed.workspace))
    sessions = asyncio.run(_list(workspace, parsed.limit))
    for index, session in enumerate(sessions):
        write_line(_as_json(session) if parsed.json else _as_line(index, session, everywhere=parsed.all))
    if not sessions:
        where = "" if workspace is None else f" of {show_line(workspace, 200)}"
        say(f"loom: there is no session{where} yet{'' if parsed.all else '; --all lists those of every workspace'}")
    return 0


async def _list(workspace: str | None, limit: int) -> list[Session]:
    locations = find_locations()
    if not locations.archive.exists():
        return []
    async with opened(locations.archive) as store:
        return await store.list_sessions(workspace, limit=limit)


def _as_line(index: int, session: Session, *, everywhere: bool) -> str:
    when = local_time(session.last_active_at)
    title = show_line(session.title or "untitled", 60)
    where = f"  {show_line(session.workspace_path, 80)}" if everywhere else ""
    about = f"({plural(session.turn_count, 'turn')}, {session.model_name})"
    return f"[{index}] {session.reference}  {when}  {title}  {about}{where}"


def _as_json(session: Session) -> str:
    return json.dumps({column: session[column] for column in session})
