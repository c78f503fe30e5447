"""Writes salvaged turns into a new archive: at their old numbers, with a word where one is missing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loom.archive import clock
from loom.archive.chains import REPORT_EVERY, Progress, holds
from loom.archive.database import connect
from loom.archive.digests import DIGESTED, GENESIS, digest
from loom.archive.references import free_reference, is_unfinished
from loom.archive.rows import MANIFEST_COLUMNS, SESSION_COLUMNS
from loom.archive.shapes import Salvage
from loom.archive.transactions import transaction
from loom.text import storable
from loom.turn_numbers import named_turns

_FURTHEST = 1_000
"""A number this far beyond everything else that is known of its session is damage, not a turn."""

_INSERT = (
    f"INSERT INTO conversation_turns (session_id, {', '.join(DIGESTED)}, append_key, digest)"  # noqa: S608
    f" VALUES (?, {', '.join('?' * len(DIGESTED))}, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Loss:
    """What could not be saved of one session."""

    reference: str
    lost: tuple[int, ...]
    """Turns that were not found; a note stands at their numbers."""
    altered: tuple[int, ...]
    """Turns whose text is there, but is not what was stored."""
    unproven: tuple[int, ...]
    """Turns whose text is there and may be another: what would tell, the digest of the turn before, is lost."""

    @property
    def told(self) -> list[tuple[tuple[int, ...], str]]:
        """The turns of each kind that there are, with what happened to them."""
        kinds = (
            (self.lost, "lost"),
            (self.altered, "changed by the damage"),
            (self.unproven, "perhaps changed: the turn before, by which that would be seen, is lost"),
        )
        return [(numbers, what) for numbers, what in kinds if numbers]


def restore(target: Path, found: Salvage, source: str, progress: Progress) -> tuple[Loss, ...]:
    """Fill the new, empty archive at `target`; gives the sessions that are not whole. `source` is named in the notes.
    Raises sqlite3.Error; nothing is in the archive then."""
    losses: list[Loss] = []
    with closing(connect(target)) as connection, transaction(connection):
        written = 0
        for session in sorted(found.sessions.keys() | found.turns.keys(), key=lambda s: _started(found, s)):
            reference = _add_session(connection, found, session)
            loss = _add_turns(connection, found, session, reference, source)
            if loss.told:
                losses.append(loss)
            _finish(connection, found, session)
            before, written = written, written + len(found.turns.get(session, ()))
            if before // REPORT_EVERY != written // REPORT_EVERY:
                progress("writing turns", written, found.turn_count)
        _link(connection, found)
    return tuple(losses)


def _started(found: Salvage, session: str) -> tuple[str, str]:
    if session in found.sessions:
        return found.sessions[session][8], session
    return min(turn[14] for turn in found.turns[session].values()), session


def _add_session(connection: sqlite3.Connection, found: Salvage, session: str) -> str:
    record = found.sessions.get(session)
    taken = record is not None and (
        is_unfinished(record[1])
        or connection.execute("SELECT 1 FROM cowork_sessions WHERE reference = ?", (record[1],)).fetchone()
    )
    reference = free_reference(connection) if record is None or taken else str(record[1])
    started, _ = _started(found, session)
    connection.execute(
        "INSERT INTO cowork_sessions (id, reference, workspace_path, model_name, started_at, last_active_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (session, reference, "" if record is None else storable(record[5]), "unknown", started, started),
    )
    return reference


def _add_turns(connection: sqlite3.Connection, found: Salvage, session: str, reference: str, source: str) -> Loss:
    turns = found.turns.get(session, {})
    said = int(found.sessions[session][10]) if session in found.sessions else 0
    furthest = max(said, len(turns)) + _FURTHEST
    for number in [n for n in turns if n > furthest]:
        del turns[number]
    lost: list[int] = []
    altered: list[int] = []
    unproven: list[int] = []
    keys: set[str | None] = set()
    # The chain as it was stored, to judge each text by; and the one of the new archive, which goes over the gaps.
    stored: str | None = GENESIS
    chained, exchange, moment = GENESIS, 0, clock.now()
    for number in range(1, max([said, *turns]) + 1 if said or turns else 1):
        turn = turns.get(number)
        if turn is None:
            lost.append(number)
            columns: tuple[Any, ...] = _note(
                number, exchange, moment, f"T{number} could not be recovered from {source}."
            )
            key, stored = None, None
        else:
            columns, key = tuple(_whole(value) for value in turn[:-2]), turn[-2]
            if stored is None:
                unproven.append(number)
            elif not holds(stored, turn[-1], turn[:-2]):
                altered.append(number)
            stored, exchange, moment = turn[-1], turn[1], turn[14]
        chained = digest(chained, columns)
        key = None if key in keys else key
        keys.add(key)
        connection.execute(_INSERT, (session, *columns, key, chained))
    loss = Loss(reference, tuple(lost), tuple(altered), tuple(unproven))
    if told := [f"{named_turns(numbers)} {what}" for numbers, what in loss.told]:
        number = (max([said, *turns])) + 1
        columns = _note(number, exchange, moment, f"Recovered from {source}: {'; '.join(told)}.")
        connection.execute(_INSERT, (session, *columns, None, digest(chained, columns)))
    return loss


def _note(number: int, exchange: int, moment: str, words: str) -> tuple[Any, ...]:
    """The DIGESTED columns of loom's own word to the person."""
    text = storable(words)
    return (number, exchange, "system", "note", "failed", text, *(None,) * 3, 0, *(None,) * 4, moment)


def _whole(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def _finish(connection: sqlite3.Connection, found: Salvage, session: str) -> None:
    """The session's own columns: what its turns gave it is right already; what only it knew comes now."""
    record = found.sessions.get(session)
    if record is not None:
        kept = dict(zip(SESSION_COLUMNS.split(", "), record, strict=True))
        own = ("title", "focus", "tags", "workspace_commit", "model_name", "last_active_at", "fork_turn", "lease_epoch")
        names = (*own, "is_active")
        connection.execute(
            f"UPDATE cowork_sessions SET {', '.join(f'{name} = ?' for name in names)} WHERE id = ?",  # noqa: S608
            (*(_whole(kept[name]) for name in own), kept["is_active"] or is_unfinished(record[1]), session),
        )
    if session in found.texts:
        prompt, state = found.texts[session]
        connection.execute(
            "UPDATE session_texts SET system_prompt = ?, session_state = ? WHERE session_id = ?",
            (storable(prompt), storable(state), session),
        )
    if session in found.drafts:
        values = (_whole(value) for value in found.drafts[session])
        connection.execute(
            "INSERT INTO drafts (session_id, exchange, turns, updated_at) VALUES (?, ?, ?, ?)", tuple(values)
        )
    for columns in _manifests(found, session):
        marks = ", ".join("?" * len(columns))
        connection.execute(
            f"INSERT INTO manifests ({MANIFEST_COLUMNS}) VALUES ({marks})",  # noqa: S608
            tuple(_whole(value) for value in columns),
        )


def _manifests(found: Salvage, session: str) -> Iterator[tuple[Any, ...]]:
    for key in sorted(key for key in found.manifests if key[0] == session):
        yield found.manifests[key]


def _link(connection: sqlite3.Connection, found: Salvage) -> None:
    """Forks are told where they come from, now that all sessions are there."""
    for session, record in found.sessions.items():
        connection.execute(
            "UPDATE cowork_sessions SET parent_id = (SELECT id FROM cowork_sessions WHERE id = ?) WHERE id = ?",
            (record[17], session),
        )
