"""What each request to the model was made of, for whoever wants to know afterwards."""

from __future__ import annotations

import json
import sqlite3

from loom.archive import clock
from loom.archive.records import Manifest
from loom.archive.rows import MANIFEST_COLUMNS, manifest_from_row
from loom.archive.sessions import require
from loom.text import storable

_SELECT = f"SELECT {MANIFEST_COLUMNS} FROM manifests WHERE session_id = ?"  # noqa: S608 - constant names


def add_manifest(connection: sqlite3.Connection, manifest: Manifest) -> None:
    """Keep the manifest; one of the same request is replaced (it was made again). Raises UnknownSession."""
    require(connection, manifest.session_id)
    connection.execute(
        f"INSERT INTO manifests ({MANIFEST_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
        " ON CONFLICT (session_id, request) DO UPDATE SET exchange = excluded.exchange,"
        " created_at = excluded.created_at, model_name = excluded.model_name,"
        " window_tokens = excluded.window_tokens, segments = excluded.segments, turns = excluded.turns,"
        " texts = excluded.texts, estimated_tokens = excluded.estimated_tokens,"
        " reported_tokens = excluded.reported_tokens",
        (
            manifest.session_id,
            manifest.request,
            manifest.exchange,
            manifest.created_at or clock.now(),
            storable(manifest.model_name),
            manifest.window_tokens,
            _json(manifest.segments),
            _json(manifest.turns),
            _json(manifest.texts),
            manifest.estimated_tokens,
            manifest.reported_tokens,
        ),
    )


def set_reported(connection: sqlite3.Connection, session_id: str, request: int, tokens: int) -> None:
    """Note the input tokens that the provider reported for a request; of an unknown request, nothing."""
    connection.execute(
        "UPDATE manifests SET reported_tokens = ? WHERE session_id = ? AND request = ?",
        (tokens, session_id, request),
    )


def list_manifests(connection: sqlite3.Connection, session_id: str) -> list[Manifest]:
    """The manifests of a session, in the order of its requests."""
    return [manifest_from_row(row) for row in connection.execute(f"{_SELECT} ORDER BY request", (session_id,))]


def request_count(connection: sqlite3.Connection, session_id: str) -> int:
    """The number of the session's last request; 0 before the first."""
    row = connection.execute("SELECT max(request) FROM manifests WHERE session_id = ?", (session_id,)).fetchone()
    return row[0] or 0


def get_manifest(connection: sqlite3.Connection, session_id: str, request: int) -> Manifest | None:
    """The manifest of one request; None if there is none."""
    row = connection.execute(f"{_SELECT} AND request = ?", (session_id, request)).fetchone()
    return None if row is None else manifest_from_row(row)


def _json(value: object) -> str:
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
