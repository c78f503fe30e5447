"""What a search found as a Markdown page: every turn in full, under the name by which it is cited."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from loom.archive.records import SearchHit, TurnKind, TurnStatus
from loom.archive.references import named_references
from loom.interchange.export import write_private
from loom.interchange.markdown import escaped, fenced, quoted
from loom.text import plural, show, show_line
from loom.times import iso_time


def export_hits(folder: Path, query: str, hits: Sequence[SearchHit], when: datetime) -> Path:
    """Write the hits to a file of their own in `folder` (mode 0600), named after the query and the time; where it is.

    Raises ExportError if it cannot be written.
    """
    words = re.sub(r"[^\w]+", "-", query).strip("-").lower()[:40].rstrip("-") or "hits"
    name = f"{words}-{when.astimezone():%Y%m%d-%H%M%S}"
    path = folder / f"{name}.md"
    for number in range(2, 1_000):
        # A link that leads nowhere is something, too; and a folder that may not be looked into is told of by the write.
        if not os.path.lexists(path):
            break
        path = folder / f"{name}-{number}.md"
    return write_private(path, hits_page(query, hits, when), make_folder=True)


def hits_page(query: str, hits: Sequence[SearchHit], when: datetime) -> Iterator[str]:
    """The page in pieces, best hit first. Text from the archive is made safe to show, as in a transcript."""
    count = plural(len(hits), "hit")
    yield f"# {escaped(show_line(query, 200)) or 'Everything'}\n\n{count}, {iso_time(when.isoformat())}.\n"
    for hit in hits:
        ending = "" if hit.status is TurnStatus.COMPLETE else f", {hit.status.value}"
        who = f"tool {hit.tool_name}" if hit.tool_name else "pin" if hit.is_pin else hit.role
        yield f"\n## {hit.session_reference} T{hit.turn_number} {escaped(show_line(who))}{ending}\n\n"
        title = escaped(show_line(hit.session_title, 200)) or "untitled"
        also = f", also in {named_references(hit.also_in)}" if hit.also_in else ""
        meaning = ", near in meaning" if hit.by_meaning else ""
        yield f"{title}, {show_line(iso_time(hit.created_at))}{meaning}{also}\n\n"
        content = show(hit.content)
        plain = hit.kind in (TurnKind.TOOL_CALL, TurnKind.TOOL_RESULT, TurnKind.THINKING)
        yield (fenced(content) if plain else quoted(content)) + "\n"
