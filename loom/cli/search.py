"""`loom search`: the archive's search on the command line."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence

from loom.archive import SearchHit
from loom.archive.records import SearchPage
from loom.archive.references import named_references
from loom.cli.output import say, write_line
from loom.cli.reading import opened
from loom.cli.workspace import find_workspace
from loom.errors import LoomError
from loom.locations import Locations, find_locations
from loom.text import plural, show, show_line, storable
from loom.times import local_time

EXIT_NOTHING_FOUND = 1
MAX_LIMIT = 1_000
"""More hits than anybody reads; `loom export` gives whole sessions."""
_NARROWEST = 24
_INDENT = "    "


def run(parsed: argparse.Namespace) -> int:
    """Print what was found, best first; exit code 1 when nothing was. Raises LoomError for a filter that means
    nothing."""
    # Both import all of search.
    from loom.archive.search.faults import check_query
    from loom.archive.search.query import parse

    if not 1 <= parsed.limit <= MAX_LIMIT:
        raise LoomError(f"--limit takes a number from 1 to {MAX_LIMIT:,}.")
    # What the shell hands over need not be text: a byte that is none becomes a lone surrogate.
    query = storable(" ".join(parsed.query))
    if not query.strip():
        raise LoomError("The query is empty.", "Give some words to search for.")
    check_query(query)
    here = str(find_workspace(parsed.workspace))
    is_wide = parsed.all or parsed.session is not None or parse(query).filters.session is not None
    locations = find_locations()
    if not locations.archive.exists():
        say("loom: the archive is empty")
        return EXIT_NOTHING_FOUND
    page, near = asyncio.run(_search(locations, query, parsed, here, None if is_wide else here))
    columns = max(_NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None
    # Nothing but filters matches no word anywhere.
    mark_related = any(hit.highlights for hit in page.hits)
    for hit in page.hits:
        write_line(_as_json(hit) if parsed.json else _as_text(hit, columns, mark_related=mark_related))
    if page.waiting_turns:
        say(
            f"loom: {page.waiting_turns:,} older turns were not searched: they wait for the full-text index. It is made"
            " while loom runs; `loom check --reindex` makes it now."
        )
    for doubt in page.doubts:
        say(f"loom: {show_line(doubt, 300)}")
    if not page.has_words:
        nothing = "nothing has these words" if page.hits else "nothing found"
        say(f"loom: {nothing} in {plural(page.searched_turns, 'turn')}{_hints(page, near, is_wide=is_wide)}")
    return 0 if page.hits else EXIT_NOTHING_FOUND


def _hints(page: SearchPage, near: Sequence[str], *, is_wide: bool) -> str:
    """What kept the query from finding something, words that it may have meant, and how to search wider."""
    hints = [show_line(obstacle, 300) for obstacle in page.obstacles]
    if near:
        hints.append(f"Spelt nearly so, and there: {', '.join(show_line(word, 40) for word in near)}.")
    if not is_wide:
        hints.append("--all searches every workspace.")
    return f". {' '.join(hints)}" if hints else ""


async def _search(
    locations: Locations, query: str, parsed: argparse.Namespace, here: str, workspace: str | None
) -> tuple[SearchPage, Sequence[str]]:
    """The page, and words that are spelt like those of a query which found nothing. Raises LoomError."""
    async with opened(locations.archive) as store:
        session_id = None
        if parsed.session is not None:
            session = await store.resolve_reference(parsed.session, here)
            if not session.is_active:
                raise LoomError(
                    f"{session.reference} was deleted: it is not searched.",
                    f"`loom cowork --resume {session.reference}` brings it back.",
                )
            session_id = session.id
        page = await store.search(query, session_id=session_id, workspace=workspace, limit=parsed.limit)
        if page.has_words or page.obstacles:
            return page, ()
        return page, await store.nearest_words(query, session_id=session_id, workspace=workspace)


def _as_text(hit: SearchHit, columns: int | None, *, mark_related: bool) -> str:
    """A line that says where, and the snippet below it: wrapped where a person looks at it, as it is in a pipe."""
    who = f"tool:{hit.tool_name}" if hit.tool_name else "pin" if hit.is_pin else hit.role
    also = f", also in {named_references(hit.also_in)}" if hit.also_in else ""
    related = ", near in meaning" if hit.by_meaning else ", related" if mark_related and not hit.highlights else ""
    where = f"{hit.session_reference} T{hit.turn_number} {show_line(who, 60)}"
    head = f"{where} {local_time(hit.created_at)}{related}{also}"
    lines = show(hit.snippet).expandtabs(4).splitlines()
    if columns is None:
        return "\n".join([head, *(f"{_INDENT}{line}" for line in lines)])
    room = columns - len(_INDENT)
    return "\n".join(
        [*_wrapped(head, columns), *(f"{_INDENT}{part}" for line in lines for part in _wrapped(line, room))]
    )


def _wrapped(line: str, cells: int) -> Iterator[str]:
    """The line in parts that are so many cells wide at most, cut behind a space where there is one."""
    while line:
        width = end = 0
        for character in line:
            width += _cells(character)
            if width > cells:
                break
            end += 1
        gap = line.rfind(" ", 0, end) + 1
        end = gap if end < len(line) and line[:gap].strip() else max(end, 1)
        yield line[:end].rstrip()
        line = line[end:]


def _cells(character: str) -> int:
    """Columns of a terminal that a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _as_json(hit: SearchHit) -> str:
    return json.dumps({column: hit[column] for column in hit})
