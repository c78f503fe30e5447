"""What every reader of a session's file gives: the session, and its turns as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from loom.archive.records import NewSession, NewTurn

BATCH_TURNS = 250
BATCH_CHARACTERS = 4_000_000
"""A batch of one exchange ends at either limit, before a turn that is not the person's."""


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """A turn as it stands in a file."""

    turn: NewTurn
    """It has a key, so that storing it twice stores it once."""
    exchange: int
    digest: str = ""
    """What it had where it was exported, chained to the one before; none of another agent's."""


@dataclass(frozen=True, slots=True)
class ReadSession:
    """What a file has of a session. Its turns are read when they are asked for: no file is too long."""

    session: NewSession
    """Without its instructions: those of a file are not to be followed unseen, and a session without any begins with
    loom's own."""
    turn_count: int
    walk: Callable[[], Iterator[ReadTurn]]
    """All turns, ascending from turn 1, read anew by each call. Raises ImportFailed."""
    is_own: bool = False
    """Whether loom wrote it, which gave each turn a digest."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """What was not taken over, in words, and how often."""
    remark: str = ""
    """What is to be known of all of it."""
    beside: tuple[Path, ...] = ()
    """Files of what its sub-agents said, which are sessions by themselves."""

    def batches(self, behind: int = 0) -> Iterator[Sequence[ReadTurn]]:
        """The turns behind turn `behind`, to be stored one batch after the other: an exchange each, a long one in
        parts. Raises ImportFailed."""
        batch: list[ReadTurn] = []
        size = 0
        for read in islice(self.walk(), behind, None):
            is_full = len(batch) >= BATCH_TURNS or size >= BATCH_CHARACTERS
            # What begins with a person's turn is an exchange by itself for the archive.
            if batch and (read.exchange != batch[-1].exchange or (is_full and read.turn.role != "user")):
                yield batch
                batch, size = [], 0
            batch.append(read)
            size += len(read.turn.content or "")
        if batch:
            yield batch
