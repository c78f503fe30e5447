"""A session read again from the JSON that loom wrote of it (`loom.interchange.document`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, get_args
from uuid import UUID

from loom.archive.clock import normalised
from loom.archive.records import NewSession, NewTurn, Role, TurnKind, TurnStatus
from loom.archive.references import is_reference
from loom.interchange.document import FORMAT, VERSION
from loom.interchange.source import ImportFailed, Source
from loom.text import show_line, storable

HOW = "`loom export REF FILE.json` writes what can be read again."

BATCH_TURNS = 250
BATCH_CHARACTERS = 4_000_000
"""A batch of one exchange ends at either limit, before a turn that is not the person's."""

_FIRST_LINE = f'{{"format": "{FORMAT}", "version": {VERSION},'
_SESSION, _TURNS = '"session": ', '"turns": ['

_MOST_OPENED = 5_000_000

_T = TypeVar("_T")


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


def read_document(source: Source) -> ReadSession:
    """The session that the document holds. Keys that are not known are skipped. Raises ImportFailed, which names what
    is wrong with it."""
    walk = _by_lines if _goes_by_lines(source) else _at_once
    head, rows = walk(source)
    try:
        session = _session(_Fields(head))
    except (KeyError, TypeError, ValueError) as error:
        raise ImportFailed(f"That is no whole session: {show_line(str(error), 200)}.") from error
    count = sum(1 for _ in _turns(rows))
    return ReadSession(session, count, lambda: _turns(walk(source)[1]), is_own=True)


def _goes_by_lines(source: Source) -> bool:
    """Whether it is as loom wrote it, a turn a line."""
    lines = islice(source.lines(), 2)
    first, second = next(lines, None), next(lines, None)
    return (first or "").rstrip() == _FIRST_LINE and (second or "").startswith(_SESSION)


def _by_lines(source: Source) -> tuple[object, Iterator[object]]:
    lines = source.lines()
    next(lines)
    head = _loaded((next(lines) or "").strip().removeprefix(_SESSION).removesuffix(","))
    return head, _rows(lines)


def _rows(lines: Iterator[str | None]) -> Iterator[object]:
    if (next(lines, None) or "").strip() != _TURNS:
        raise ImportFailed("That is no whole session: it has no turns.")
    for line in lines:
        if line is None:
            raise ImportFailed("That is no session that can be read: one of its lines is too long.")
        if line.strip() == "]}":
            return
        yield _loaded(line.strip().removesuffix(","))
    raise ImportFailed("That is no whole session: its end is missing.")


def _at_once(source: Source) -> tuple[object, Iterator[object]]:
    made = _loaded(source.whole())
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        raise ImportFailed("That is JSON, but no session that loom knows.", HOW)
    if made.get("version") != VERSION:
        raise ImportFailed("A newer loom wrote that.", "Read it with that one.")
    rows = made.get("turns")
    if not isinstance(rows, list):
        raise ImportFailed("That is no whole session: it has no turns.")
    return made.get("session"), iter(rows)


def _loaded(text: str) -> object:
    try:
        made: object = None if is_swollen(text) else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ImportFailed("That is no JSON.", HOW) from error
    return made


def _turns(rows: Iterator[object]) -> Iterator[ReadTurn]:
    for number, kept in enumerate(rows, 1):
        try:
            row = _Fields(kept)
            if row.whole("turn_number") != number:
                raise ValueError("it is missing")
            read = ReadTurn(_turn(row, number), row.whole("exchange"), row.text("digest"))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ImportFailed(f"T{number} cannot be read: {show_line(str(error), 200)}.") from error
        yield read


def _session(head: _Fields) -> NewSession:
    reference = head.text("reference")
    if not is_reference(reference):
        raise ValueError("its reference is none")
    return NewSession(
        id=str(UUID(head.text("id"))),
        reference=reference,
        title=head.text("title"),
        workspace_path=head.text("workspace_path"),
        workspace_commit=head.storable("workspace_commit"),
        model_name=head.text("model_name"),
        system_prompt="",
        started_at=normalised(head.text("started_at")),
        parent_id=head.storable("parent_id"),
        fork_turn=None if head.kept.get("fork_turn") is None else head.whole("fork_turn"),
    )


def _turn(row: _Fields, number: int) -> NewTurn:
    role = row.text("role")
    if role not in get_args(Role):
        raise ValueError(f"there is no role {role}")
    row.whole("exchange")
    row.text("digest")
    usage, calls, cost = row.maybe("usage", dict), row.maybe("tool_calls", list), row.kept.get("cost_usd")
    if calls is not None and not all(map(_is_call, calls)):
        raise ValueError("its calls are none")
    if is_deep(calls) or is_deep(usage):
        raise ValueError("it is nested too deep")
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
        cost_usd=float(cost) if isinstance(cost, int | float) and 0 <= cost < 10**12 else None,
        append_key=f"import/{number}",
        created_at=normalised(row.text("created_at")),
    )


def _is_call(call: object) -> bool:
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict | str):
        return False
    return isinstance(call.get("id"), str) and isinstance(call.get("name"), str)


def is_deep(value: object, most: int = 100) -> bool:
    """Whether lists and objects are nested in it deeper than anybody nests them: they could be read, and not be
    written."""
    level = [value]
    while level:
        if most < 0:
            return True
        most -= 1
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    return False


def is_swollen(text: str) -> bool:
    """Whether a JSON text opens more lists and objects than anybody writes: `[],` is 3 bytes, and 50 in memory."""
    return len(text) > _MOST_OPENED and text.count("[") + text.count("{") > _MOST_OPENED


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

    def storable(self, name: str) -> str | None:
        """Text or none, as the archive can take it."""
        value = self.maybe(name, str)
        return None if value is None else storable(value)

    def an_object(self, name: str) -> str | None:
        """Text that is JSON of an object, as others read it."""
        value = self.maybe(name, str)
        if value is not None and not isinstance(json.loads(value), dict):
            raise TypeError(f"its {name} is not what it must be")
        return value
