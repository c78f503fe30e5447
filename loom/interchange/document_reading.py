"""A session read again from the JSON that loom wrote of it (`loom.interchange.document`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar, get_args
from uuid import UUID

from loom.archive.clock import normalised
from loom.archive.records import NewSession, NewTurn, Role, TurnKind, TurnStatus
from loom.archive.references import is_reference
from loom.interchange.document import FORMAT, VERSION
from loom.interchange.json_bounds import is_deep, is_swollen
from loom.interchange.reading import ReadSession, ReadTurn
from loom.interchange.source import ImportFailed, Source
from loom.text import show_line, storable

HOW = "`loom export REF FILE.json` writes what can be read again."

_FIRST_LINE = f'{{"format": "{FORMAT}", "version": {VERSION},'
_SESSION, _TURNS = '"session": ', '"turns": ['

_T = TypeVar("_T")


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
