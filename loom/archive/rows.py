"""Between records and rows: how a turn is written into columns, and what a row of a query becomes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import fields, make_dataclass
from typing import Any, NamedTuple, cast

from loom.archive import clock
from loom.archive.digests import DIGESTED, digest
from loom.archive.errors import ArchiveDamaged
from loom.archive.faults import RECOVER
from loom.archive.records import (
    ExchangeSize,
    Manifest,
    NewTurn,
    RequestLine,
    Row,
    Session,
    SessionDetail,
    Turn,
    TurnKind,
    TurnStatus,
)
from loom.archive.rewound import ranges_in
from loom.text import storable
from loom.turn_numbers import Ranges

Column = str | int | float | None
_Row = Sequence[Any]

TURN_COLUMNS = ", ".join(("session_id", *DIGESTED, "digest"))

SESSION_COLUMNS = (
    "id, reference, title, focus, tags, workspace_path, workspace_commit, model_name, started_at, last_active_at, "
    "turn_count, exchange_count, total_tokens, input_tokens, output_tokens, cache_read_tokens, cost_usd, "
    "parent_id, fork_turn, lease_epoch, is_active"
)

TURN_BYTES = " + ".join(
    # As bytes: SQLite counts the characters of a text up to its first NUL only.
    f"coalesce(length(CAST({column} AS BLOB)), 0)"
    for column in ("content", "tool_calls", "part_json", "message_meta")
)
"""SQL: what the texts of a turn take."""

MANIFEST_COLUMNS = (
    "session_id, request, exchange, created_at, model_name, window_tokens, segments, turns, texts, "
    "estimated_tokens, reported_tokens, cache_read_tokens, recipe"
)

_RECIPE, _TURNS = (f"CASE WHEN json_valid({column}) THEN {column} END" for column in ("recipe", "turns"))
"""No digest is over a manifest: damage may have left anything there."""

REQUEST_LINE_COLUMNS = f"""
request, exchange, created_at, model_name, window_tokens,
json_extract({_RECIPE}, '$.high') AS high_water,
coalesce(json_extract({_RECIPE}, '$.tokens'), estimated_tokens) AS expected_tokens,
estimated_tokens, reported_tokens, cache_read_tokens,
coalesce(json_extract({_RECIPE}, '$.last_turn'), json_extract({_TURNS}, '$[#-1][1]'), 0) AS last_turn,
coalesce(json_extract({_RECIPE}, '$.edges.left_to'), json_extract({_TURNS}, '$[0][0]') - 1, 0) AS left_to,
coalesce(json_extract({_RECIPE}, '$.summary'), 0) AS summary,
json_extract({_RECIPE}, '$.edges.rewound') AS rewound
"""
MAX_COUNT = 2**53
"""No count of tokens reaches it; sums of what is below it fit SQLite's 64 bits and JSON's numbers."""

_ROLES = frozenset(("user", "assistant", "tool", "system"))
_KINDS = {kind.value: kind for kind in TurnKind}
_STATUSES = {status.value: status for status in TurnStatus}
_KIND_NAMES = {name: name for name in _KINDS}
_STATUS_NAMES = {name: name for name in _STATUSES}
"""Plain text, which SQLite takes as it is; a quarter of the time of asking the enumeration."""


class StorableTurn(NamedTuple):
    """A turn whose columns are ready; only its place in the session is open."""

    role: str
    append_key: str | None
    columns: tuple[Column, ...]
    """The DIGESTED columns behind turn_number and exchange."""

    def placed(
        self, session_id: str, turn_number: int, exchange: int, previous_digest: str
    ) -> tuple[tuple[Column, ...], str]:
        """The whole row (session_id, the DIGESTED columns, append_key, digest) and its digest."""
        digested = (turn_number, exchange, *self.columns)
        chained = digest(previous_digest, digested)
        return (session_id, *digested, self.append_key, chained), chained


def storable_turn(turn: NewTurn) -> StorableTurn:
    """The columns of a turn, lone surrogates replaced, moments in the archive's form.

    Raises ValueError (unknown role, kind, status, moment; a token count that is none) or TypeError (what JSON cannot
    hold): mistakes of a caller, found before anything is written.
    """
    if turn.role not in _ROLES:
        raise ValueError(f"unknown role {turn.role!r}")
    cost = None if turn.cost_usd is None or not math.isfinite(turn.cost_usd) else float(turn.cost_usd)
    return StorableTurn(
        role=turn.role,
        append_key=_text(turn.append_key),
        columns=(
            turn.role,
            _KIND_NAMES.get(turn.kind) or TurnKind(turn.kind).value,
            _STATUS_NAMES.get(turn.status) or TurnStatus(turn.status).value,
            _text(turn.content),
            _json(turn.tool_calls),
            _text(turn.tool_call_id),
            _text(turn.tool_name),
            _count(turn.token_count),
            _text(turn.part_json),
            _text(turn.message_meta),
            _usage(turn.usage),
            cost,
            clock.now() if turn.created_at is None else clock.normalised(turn.created_at),
        ),
    )


def _count(tokens: int) -> int:
    # NaN, a fraction or a text would be stored as something else, or fail in SQLite without a word that helps.
    if type(tokens) is not int or not 0 <= tokens < MAX_COUNT:
        raise ValueError(f"token_count must be a whole number from 0 to 2**53 - 1, and not {tokens!r}")
    return tokens


def _text(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _json(value: Any) -> str | None:
    return None if value is None else storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _usage(usage: dict[str, int] | None) -> str | None:
    """The counts that are counts. A provider that reports nonsense must not cost the answer: the rest is left out."""
    if usage is None:
        return None
    return _json({name: n for name, n in usage.items() if type(n) is int and 0 <= n < MAX_COUNT})


def _unfrozen(kind: type[Any]) -> Any:
    """A class with the fields of a record, in their order, that can be set. What it makes becomes a record when `kind`
    is made its class, which Python allows as both have the same slots.

    Calling a frozen class sets each field by way of `object.__setattr__`: 2.4 µs a turn in place of 0.5, and most of
    what reading a window of 200 turns would cost.
    """
    return make_dataclass(f"Unfrozen{kind.__name__}", [f.name for f in fields(kind)], bases=(Row,), slots=True)


_UnfrozenTurn = _unfrozen(Turn)
_UnfrozenSession = _unfrozen(Session)
_DETAIL = tuple(field.name for field in fields(SessionDetail))


def turn_from_row(row: _Row) -> Turn:
    """A turn of a row of TURN_COLUMNS. Raises ArchiveDamaged if a column holds what was never stored."""
    turn = _UnfrozenTurn(*row)
    try:
        turn.kind = _KINDS[turn.kind]
        turn.status = _STATUSES[turn.status]
        if turn.tool_calls is not None:
            turn.tool_calls = json.loads(turn.tool_calls)
        if turn.usage is not None:
            turn.usage = json.loads(turn.usage)
    except (KeyError, ValueError, TypeError) as error:
        raise ArchiveDamaged(f"T{row[1]} of session {row[0]} is damaged and cannot be read.", RECOVER) from error
    turn.__class__ = Turn
    return cast(Turn, turn)


def session_from_row(row: _Row) -> Session:
    """A session of a row of SESSION_COLUMNS."""
    session = _UnfrozenSession(*row)
    session.tags = read_tags(session.tags)
    session.is_active = bool(session.is_active)
    session.__class__ = Session
    return cast(Session, session)


def detail_from_row(row: _Row) -> SessionDetail:
    """A session of a row of SESSION_COLUMNS, system_prompt, session_state."""
    values = dict(zip(_DETAIL, row, strict=True))
    return SessionDetail(**{**values, "tags": read_tags(values["tags"]), "is_active": bool(values["is_active"])})


def read_tags(stored: str) -> tuple[str, ...]:
    """Those that can be read: damage in one row must hide none of the others."""
    if stored == "[]":
        return ()
    try:
        tags = json.loads(stored)
    except ValueError:
        return ()
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def manifest_from_row(row: _Row, texts: dict[str, str]) -> Manifest:
    """A manifest of a row of MANIFEST_COLUMNS; `texts` are its words, references followed. A column that damage made
    unreadable is empty: the conversation goes on without it."""
    return Manifest(
        session_id=row[0],
        request=row[1],
        exchange=row[2],
        created_at=row[3],
        model_name=row[4],
        window_tokens=row[5],
        segments={name: tokens for name, tokens in object_of(row[6]).items() if type(tokens) is int},
        turns=_ranges(row[7]),
        texts=texts,
        estimated_tokens=row[9],
        reported_tokens=row[10],
        cache_read_tokens=row[11],
        recipe=object_of(row[12]),
    )


def object_of(stored: str) -> dict[str, Any]:
    """What a column of JSON has by name; nothing if it is damaged."""
    try:
        said = json.loads(stored)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _ranges(stored: str) -> tuple[tuple[int, int], ...]:
    try:
        return tuple((int(first), int(last)) for first, last in json.loads(stored))
    except (ValueError, TypeError):
        return ()


_REQUEST_LINE = tuple(field.name for field in fields(RequestLine))


def request_line_from_row(row: _Row) -> RequestLine:
    """A line of a row of REQUEST_LINE_COLUMNS."""
    *values, rewound = row
    return RequestLine(**dict(zip(_REQUEST_LINE, (*values, _rewound(rewound)), strict=True)))


def _rewound(stored: object) -> Ranges:
    if stored in (None, "[]"):
        return ()  # as in nearly every request
    try:
        return ranges_in(json.loads(str(stored)))
    except (ValueError, RecursionError):
        return ()


def exchange_size_from_row(row: _Row) -> ExchangeSize:
    """The size of an exchange of a row exchange, first turn, last turn, tokens."""
    return ExchangeSize(exchange=row[0], first_turn=row[1], last_turn=row[2], tokens=row[3])
