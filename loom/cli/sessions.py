"""`loom sessions`: the list that the picker shows, for pipes."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import asdict

from loom.archive import Session
from loom.archive.leases import Holder
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
    # One more tells that there are more; a larger number the database does not take.
    most = min(parsed.limit, sys.maxsize - 1)
    found, holders = asyncio.run(_list(workspace, most + 1, deleted=parsed.deleted))
    sessions = found[:most]
    for index, session in enumerate(sessions):
        holder = holders.get(session.id)
        if parsed.json:
            write_line(_as_json(session, holder))
        else:
            # A place in the list is given to what is in it.
            place = "" if parsed.deleted else f"[{index}] "
            write_line(place + _as_line(session, holder, everywhere=parsed.all))
    if len(found) > len(sessions):
        say(f"loom: there are more than {plural(len(sessions), 'session')}: --limit N lists more")
    where = "" if workspace is None else f" of {show_line(workspace, 200)}"
    if sessions and parsed.deleted and not parsed.json:
        say("loom: `loom cowork --resume REF` brings one back, `loom purge REF` destroys it.")
    elif not sessions and parsed.deleted:
        say(f"loom: there is no deleted session{where}")
    elif not sessions:
        say(f"loom: there is no session{where} yet{'' if parsed.all else '; --all lists those of every workspace'}")
    return 0


async def _list(workspace: str | None, limit: int, *, deleted: bool) -> tuple[list[Session], dict[str, Holder]]:
    """The sessions, or those that were deleted, and who has which of them open."""
    locations = find_locations()
    if not locations.archive.exists():
        return [], {}
    async with opened(locations.archive) as store:
        if deleted:
            every = await store.list_sessions(workspace, limit=-1, include_inactive=True)
            sessions = [session for session in every if not session.is_active][:limit]
        else:
            sessions = await store.list_sessions(workspace, limit=limit)
        return sessions, await store.get_lease_holders()


def _as_line(session: Session, holder: Holder | None, *, everywhere: bool) -> str:
    when = local_time(session.last_active_at)
    title = show_line(session.title or "untitled", 60)
    where = f"  {show_line(session.workspace_path, 80)}" if everywhere else ""
    is_open = f", open in process {holder.pid}" if holder is not None else ""
    about = f"({plural(session.turn_count, 'turn')}, {session.model_name}{is_open})"
    return f"{session.reference}  {when}  {title}  {about}{where}"


def _as_json(session: Session, holder: Holder | None) -> str:
    is_open = asdict(holder) if holder is not None else None
    return json.dumps({**{column: session[column] for column in session}, "open": is_open})
