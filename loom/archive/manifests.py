"""What each request to the model was made of, for whoever wants to know afterwards.

Texts (state, instructions, tool schemas) mostly stay the same from request to request. A text that is the same as in
the request before is kept as the number of the request that has the words, so that a long session's manifests do not
grow with what they repeat.
"""

from __future__ import annotations

import json
import sqlite3

from loom.archive import clock
from loom.archive.records import Manifest, RequestLine
from loom.archive.rows import (
    MANIFEST_COLUMNS,
    REQUEST_LINE_COLUMNS,
    manifest_from_row,
    object_of,
    request_line_from_row,
)
from loom.archive.sessions import require
from loom.text import storable

_UPDATED = ", ".join(
    f"{name} = excluded.{name}" for name in MANIFEST_COLUMNS.split(", ") if name not in ("session_id", "request")
)
_INSERT = (
    f"INSERT INTO manifests ({MANIFEST_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
    f" ON CONFLICT (session_id, request) DO UPDATE SET {_UPDATED}"
)


def add_manifest(connection: sqlite3.Connection, manifest: Manifest) -> None:
    """Keep the manifest; one of the same request is replaced (it was made again). Raises UnknownSession."""
    require(connection, manifest.session_id)
    connection.execute(
        _INSERT,
        (
            manifest.session_id,
            manifest.request,
            manifest.exchange,
            manifest.created_at or clock.now(),
            storable(manifest.model_name),
            manifest.window_tokens,
            _json(manifest.segments),
            _json(manifest.turns),
            _json(_shared(connection, manifest)),
            manifest.estimated_tokens,
            manifest.reported_tokens,
            manifest.cache_read_tokens,
            _json(manifest.recipe),
        ),
    )


def _shared(connection: sqlite3.Connection, manifest: Manifest) -> dict[str, str | int]:
    """The texts, each that the request before has already as the number of the request that has its words."""
    before = manifest.request - 1
    kept = _kept(connection, manifest.session_id, before)
    words = _words(connection, manifest.session_id, kept)
    texts: dict[str, str | int] = {}
    for name, text in manifest.texts.items():
        known = kept.get(name, before)
        texts[name] = (known if isinstance(known, int) else before) if words.get(name) == storable(text) else text
    return texts


def _kept(connection: sqlite3.Connection, session_id: str, request: int) -> dict[str, str | int]:
    """The texts of a request as they are on disk; none of an unknown request."""
    row = connection.execute(
        "SELECT texts FROM manifests WHERE session_id = ? AND request = ?", (session_id, request)
    ).fetchone()
    return {} if row is None else _texts(row[0])


def _texts(stored: str) -> dict[str, str | int]:
    return {name: text for name, text in object_of(stored).items() if isinstance(text, str | int)}


def _words(connection: sqlite3.Connection, session_id: str, kept: dict[str, str | int]) -> dict[str, str]:
    """The texts, references followed. One whose words are gone is left out."""
    sources = {place: _kept(connection, session_id, place) for place in {*kept.values()} if isinstance(place, int)}
    found = {name: sources[at].get(name) if isinstance(at, int) else at for name, at in kept.items()}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def set_reported(
    connection: sqlite3.Connection, session_id: str, request: int, tokens: int, cache_read_tokens: int | None
) -> None:
    """Note the input tokens that the provider reported for a request, and how many came from its cache; of an unknown
    request, nothing."""
    connection.execute(
        "UPDATE manifests SET reported_tokens = ?, cache_read_tokens = ? WHERE session_id = ? AND request = ?",
        (tokens, cache_read_tokens, session_id, request),
    )


def list_requests(connection: sqlite3.Connection, session_id: str) -> list[RequestLine]:
    """The requests of a session, oldest first, without their texts."""
    rows = connection.execute(
        f"SELECT {REQUEST_LINE_COLUMNS} FROM manifests WHERE session_id = ? ORDER BY request",  # noqa: S608
        (session_id,),
    )
    return [request_line_from_row(row) for row in rows]


def request_count(connection: sqlite3.Connection, session_id: str) -> int:
    """The number of the session's last request; 0 before the first."""
    row = connection.execute("SELECT max(request) FROM manifests WHERE session_id = ?", (session_id,)).fetchone()
    return row[0] or 0


def get_manifest(connection: sqlite3.Connection, session_id: str, request: int) -> Manifest | None:
    """The manifest of one request; None if there is none."""
    row = connection.execute(
        f"SELECT {MANIFEST_COLUMNS} FROM manifests WHERE session_id = ? AND request = ?",  # noqa: S608
        (session_id, request),
    ).fetchone()
    return None if row is None else manifest_from_row(row, _words(connection, session_id, _texts(row[8])))


def newest_report(connection: sqlite3.Connection, model_name: str) -> tuple[int, int] | None:
    """Our own count of the newest request that this model answered with a count, and that count; None without one."""
    row = connection.execute(
        "SELECT estimated_tokens, reported_tokens FROM manifests WHERE model_name = ? AND reported_tokens IS NOT NULL"
        " ORDER BY id DESC LIMIT 1",
        (storable(model_name),),
    ).fetchone()
    return None if row is None else (row[0], row[1])


def _json(value: object) -> str:
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
