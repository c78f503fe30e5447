"""Whose session a file or a folder holds: loom's own, or another agent's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from loom.archive.foreign_databases import is_database
from loom.interchange.aider import is_aider, read_aider
from loom.interchange.claude_code import is_claude_code, read_claude_code
from loom.interchange.codex import is_codex, read_codex
from loom.interchange.crush import CRUSH
from loom.interchange.databases import DatabaseAgent, sessions_of
from loom.interchange.document_reading import read_document
from loom.interchange.foreign import loaded, object_of
from loom.interchange.gemini import is_gemini, is_gemini_document, read_gemini, read_gemini_document
from loom.interchange.goose import GOOSE
from loom.interchange.gptsh import is_gptsh, read_gptsh
from loom.interchange.kimi import is_kimi, read_kimi
from loom.interchange.opencode import OPENCODE, is_opencode, read_opencode
from loom.interchange.pydantic_deep import is_pydantic_deep, read_pydantic_deep
from loom.interchange.reading import ReadSession
from loom.interchange.source import ImportFailed, Source, is_file, opened
from loom.interchange.vibe import is_vibe, read_vibe

DATABASES: tuple[DatabaseAgent, ...] = (OPENCODE, CRUSH, GOOSE)

_SIGNS = 20
"""So many lines are looked at: the first one may be of a kind that is not known, or torn."""

_BY_LINE = ((is_codex, read_codex), (is_claude_code, read_claude_code), (is_gemini, read_gemini))

_FOLDERS: tuple[tuple[Callable[[Path], bool], Callable[[Path, ExitStack], ReadSession]], ...] = (
    (is_vibe, read_vibe),
    (is_kimi, read_kimi),
)
_FILES_OF_FOLDERS = ("messages.jsonl", "meta.json", "wire.jsonl", "context.jsonl")


def sessions_in(path: Path, *, only: str = "", sub_agents: bool = False) -> Iterator[ReadSession | ImportFailed]:
    """The sessions that a file or a folder has, or why one of them cannot be read; of several the one called `only`, if
    that is given, and with what its sub-agents said, if that is asked for. Each is to be read before the next is asked
    for."""
    beside: tuple[Path, ...] = ()
    folder = path.parent if path.name in _FILES_OF_FOLDERS else path
    try:
        reader = reader_of_folder(folder)
        if reader is not None:
            with ExitStack() as stack:
                yield reader(folder, stack)
        elif inner := next(filter(is_file, (path / "crush.db", path / ".crush" / "crush.db")), None):
            yield from sessions_of(DATABASES, inner, only, sub_agents=sub_agents)
        else:
            with opened(path) as source:
                if is_database(source.head(16)):
                    yield from sessions_of(DATABASES, path, only, sub_agents=sub_agents)
                elif any(is_aider(line or "") for line in islice(source.lines(), _SIGNS)):
                    yield from read_aider(source, only=only)
                else:
                    read = read_session(source)
                    beside = read.beside if sub_agents else ()
                    yield read
    except ImportFailed as error:
        yield error
    for file in beside:
        yield from sessions_in(file)


def reader_of_folder(folder: Path) -> Callable[[Path, ExitStack], ReadSession] | None:
    """What reads the session that a folder is; None if it is none."""
    return next((read for is_theirs, read in _FOLDERS if is_theirs(folder)), None)


def read_session(source: Source) -> ReadSession:
    """The session that the file holds. Raises ImportFailed."""
    if source.path is not None and is_opencode(source.path):
        return read_opencode(source, source.path)
    lines = [object_of(loaded(line)) for line in islice(source.lines(), _SIGNS) if line]
    for is_theirs, read in _BY_LINE:
        if any(is_theirs(line) and "messages" not in line for line in lines):
            return read(source)
    if not _is_own(source):
        document = loaded(source.whole())
        if is_gptsh(document):
            return read_gptsh(object_of(document))
        if isinstance(document, list) and is_pydantic_deep(document):
            return read_pydantic_deep(document)
        if is_gemini_document(document):
            return read_gemini_document(object_of(document), source.path)
    return read_document(source)


def _is_own(source: Source) -> bool:
    return b'"loom-session"' in source.head(200)
