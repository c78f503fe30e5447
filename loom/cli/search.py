"""`loom search`: the archive's search on the command line."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from loom.archive import SearchHit
from loom.archive.records import SearchPage
from loom.cli.reading import opened
from loom.cli.workspace import find_workspace
from loom.errors import LoomError
from loom.locations import Locations, find_locations
from loom.text import show, show_line

EXIT_NOTHING_FOUND = 1


def run(parsed: argparse.Namespace) -> int:
    """Print what was found, best first; exit code 1 when nothing was."""
    if parsed.limit < 1:
        raise LoomError("--limit takes a number from 1 up.")
    if not parsed.query.strip():
        raise LoomError("The query is empty.", "Give some words to search for.")
    workspace = None if parsed.all or parsed.session else str(find_workspace(parsed.workspace))
    locations = find_locations()
    if not locations.archive.exists():
        print("loom: the archive is empty", file=sys.stderr)
        return EXIT_NOTHING_FOUND
    page = asyncio.run(_search(locations, parsed, workspace))
    for hit in page.hits:
        print(_as_json(hit) if parsed.json else _as_text(hit))
    if not page.hits:
        print(f"loom: nothing found in {page.searched_turns:,} turns", file=sys.stderr)
        return EXIT_NOTHING_FOUND
    return 0


async def _search(locations: Locations, parsed: argparse.Namespace, workspace: str | None) -> SearchPage:
    async with opened(locations.archive) as store:
        session_id = None
        if parsed.session:
            here = str(find_workspace(parsed.workspace))
            session_id = (await store.resolve_reference(parsed.session, here)).id
        return await store.search(parsed.query, session_id=session_id, workspace=workspace, limit=parsed.limit)


def _as_text(hit: SearchHit) -> str:
    who = f"tool:{hit.tool_name}" if hit.tool_name else hit.role
    head = f"{hit.session_reference} T{hit.turn_number} {show_line(who, 60)} {hit.created_at[:16]}"
    body = "\n".join(f"    {line}" for line in show(hit.snippet).splitlines())
    return f"{head}\n{body}"


def _as_json(hit: SearchHit) -> str:
    return json.dumps({column: hit[column] for column in hit})
