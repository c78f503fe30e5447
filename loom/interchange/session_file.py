"""Whose session a file holds: loom's own, or another agent's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from loom.interchange.claude_code import is_claude_code, read_claude_code
from loom.interchange.codex import is_codex, read_codex
from loom.interchange.foreign import loaded, object_of
from loom.interchange.gptsh import is_gptsh, read_gptsh
from loom.interchange.pydantic_deep import is_pydantic_deep, read_pydantic_deep
from loom.interchange.reading import ReadSession, read_document
from loom.interchange.source import ImportFailed, Source, opened

_SIGNS = 20
"""So many lines are looked at: the first one may be of a kind that is not known, or torn."""

_BY_LINE = ((is_codex, read_codex), (is_claude_code, read_claude_code))


def sessions_in(path: Path, *, sub_agents: bool = False) -> Iterator[ReadSession | ImportFailed]:
    """The sessions that a file has, or why one of them cannot be read; with what its sub-agents said, if asked for.
    Each is to be read before the next is asked for."""
    beside: tuple[Path, ...] = ()
    try:
        with opened(path) as source:
            read = read_session(source)
            beside = read.beside if sub_agents else ()
            yield read
    except ImportFailed as error:
        yield error
    for file in beside:
        yield from sessions_in(file)


def read_session(source: Source) -> ReadSession:
    """The session that the file holds. Raises ImportFailed."""
    lines = [object_of(loaded(line)) for line in islice(source.lines(), _SIGNS) if line]
    for is_theirs, read in _BY_LINE:
        if any(map(is_theirs, lines)):
            return read(source)
    if not _is_own(source):
        document = loaded(source.whole())
        if is_gptsh(document):
            return read_gptsh(object_of(document))
        if isinstance(document, list) and is_pydantic_deep(document):
            return read_pydantic_deep(document)
    return read_document(source)


def _is_own(source: Source) -> bool:
    return b'"loom-session"' in source.head(200)
