"""A session read again from the JSON that loom wrote of it (`loom.interchange.document`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeVar, get_args
from uuid import UUID

from loom.archive.clock import normalised
from loom.archive.records import NewSession, NewTurn, Role, TurnKind, TurnStatus
from loom.archive.references import is_reference
from loom.errors import LoomError
from loom.interchange.document import FORMAT, VERSION
from loom.text import show_line

_T = TypeVar("_T")


class ImportFailed(LoomError):
    """A file that is no session of loom's, or none that the archive can take."""


@dataclass(frozen=True, slots=True)
class ReadSession:
    """What a file has of a session."""

    session: NewSession
    """Without its instructions: those of a file are not to be followed unseen, and a session without any begins with
    loom's own."""
    turns: tuple[NewTurn, ...]
    """All of them, ascending from turn 1. Each has a key, so that storing one twice stores it once."""
    exchanges: tuple[int, ...]
    """The exchange of each."""
    digests: tuple[str, ...] = ()
    """The digest that each had where it was exported, chained to the one before; none of another agent's."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """What was not taken over, in words, and how often."""

    def behind(self, turn_number: int) -> Iterator[Sequence[NewTurn]]:
        """The turns behind this one, exchange by exchange."""
        left = zip(self.exchanges[turn_number:], self.turns[turn_number:], strict=True)
        for _, exchange in groupby(left, key=lambda pair: pair[0]):
            yield [turn for _, turn in exchange]


def read_document(text: str) -> ReadSession:
    """The session that the document holds. Keys that are not known are skipped. Raises ImportFailed, which names what
    is wrong with it."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ImportFailed("That is no JSON.", "`loom export REF FILE.json` writes what can be read again.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ImportFailed(
            "That is JSON, but no session of loom's.", "`loom export REF FILE.json` writes what can be read again."
        )
    if document.get("version") != VERSION:
        raise ImportFailed("A newer loom wrote that.", "Read it with that one.")
    try:
        head, rows = _Fields(document.get("session")), document["turns"]
        session = _session(head)
        fields = [_Fields(row) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise ImportFailed(f"That is no whole session: {show_line(str(error), 200)}.") from error
    turns = []
    for number, row in enumerate(fields, 1):
        try:
            if row.whole("turn_number") != number:
                raise ValueError("it is missing")
            turns.append(_turn(row, number))
        except (KeyError, TypeError, ValueError) as error:
            raise ImportFailed(f"T{number} cannot be read: {show_line(str(error), 200)}.") from error
    return ReadSession(
        session,
        tuple(turns),
        tuple(row.whole("exchange") for row in fields),
        tuple(row.text("digest") for row in fields),
    )


def _session(head: _Fields) -> NewSession:
    reference = head.text("reference")
    if not is_reference(reference):
        raise ValueError("its reference is none")
    return NewSession(
        id=str(UUID(head.text("id"))),
        reference=reference,
        title=head.text("title"),
        workspace_path=head.text("workspace_path"),
        workspace_commit=head.maybe("workspace_commit", str),
        model_name=head.text("model_name"),
        system_prompt="",
        started_at=normalised(head.text("started_at")),
        parent_id=head.maybe("parent_id", str),
        fork_turn=head.maybe("fork_turn", int),
    )


def _turn(row: _Fields, number: int) -> NewTurn:
    role = row.text("role")
    if role not in get_args(Role):
        raise ValueError(f"there is no role {role}")
    row.whole("exchange")
    row.text("digest")
    usage, calls, cost = row.maybe("usage", dict), row.maybe("tool_calls", list), row.kept.get("cost_usd")
    if calls is not None and not all(isinstance(call, dict) and isinstance(call.get("id"), str) for call in calls):
        raise ValueError("its calls are none")
    return NewTurn(
        role=role,  # type: ignore[arg-type]  # one of them, as was just seen
        content=row.maybe("content", str),
        kind=TurnKind(row.text("kind")),
        status=TurnStatus(row.text("status")),
        tool_calls=calls,
        tool_call_id=row.maybe("tool_call_id", str),
        tool_name=row.maybe("tool_name", str),
        token_count=row.whole("token_count"),
        part_json=row.an_object("part_json"),
        message_meta=row.an_object("message_meta"),
        usage=usage,
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
        append_key=f"import/{number}",
        created_at=normalised(row.text("created_at")),
    )


class _Fields:
    """The fields of one object of the document. Each method raises KeyError, TypeError or ValueError for one that is
    not what it must be."""

    def __init__(self, kept: object) -> None:
        if not isinstance(kept, dict):
            raise TypeError("there are no fields")
        self.kept: dict[str, Any] = kept

    def text(self, name: str) -> str:
        value = self.kept[name]
        if not isinstance(value, str):
            raise TypeError(f"its {name} is no text")
        return value

    def whole(self, name: str) -> int:
        value = self.kept[name]
        if type(value) is not int or not 0 <= value < 2**53:
            raise TypeError(f"its {name} is no whole number")
        return value

    def maybe(self, name: str, kind: type[_T]) -> _T | None:
        value = self.kept.get(name)
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"its {name} is not what it must be")
        return value

    def an_object(self, name: str) -> str | None:
        """Text that is JSON of an object, as others read it."""
        value = self.maybe(name, str)
        if value is not None and not isinstance(json.loads(value), dict):
            raise TypeError(f"its {name} is not what it must be")
        return value
