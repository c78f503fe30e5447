"""A session read from a text, its turns taken together."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

from loom.archive.records import NewSession, NewTurn
from loom.interchange.document_reading import read_document as read_own
from loom.interchange.reading import ReadSession
from loom.interchange.session_file import read_session as read_source
from loom.interchange.source import Source


@dataclass(frozen=True)
class Whole:
    """All that a file has of a session."""

    session: NewSession
    turns: tuple[NewTurn, ...]
    exchanges: tuple[int, ...]
    digests: tuple[str, ...]
    skipped: Mapping[str, int]
    batches: list[int]
    """How many turns each has."""


def source_of(text: str | bytes) -> Source:
    """The text as a file."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return Source(io.BytesIO(data), len(data))


def whole(read: ReadSession) -> Whole:
    """The session with its turns."""
    turns = list(read.walk())
    assert len(turns) == read.turn_count
    return Whole(
        read.session,
        tuple(each.turn for each in turns),
        tuple(each.exchange for each in turns),
        tuple(each.digest for each in turns),
        read.skipped,
        [len(batch) for batch in read.batches()],
    )


def read_session(text: str | bytes) -> Whole:
    """The session that a text holds. Raises ImportFailed."""
    return whole(read_source(source_of(text)))


def read_document(text: str | bytes) -> Whole:
    """The session of loom's own that a text holds. Raises ImportFailed."""
    return whole(read_own(source_of(text)))
