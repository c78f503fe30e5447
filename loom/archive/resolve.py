"""What session a person means by what they typed."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from loom.archive.errors import AmbiguousReference, UnknownReference
from loom.archive.records import Session
from loom.archive.references import HALF_PURGED, SHORTEST, WHOLE, half_purged_reference, known_reference
from loom.archive.rows import SESSION_COLUMNS, session_from_row
from loom.archive.sessions import list_sessions
from loom.archive.workspaces import Workspace
from loom.text import show_line, storable

_SHOWN_CHOICES = 8


def resolve(connection: sqlite3.Connection, wanted: str, workspace: Workspace | None) -> Session:
    """The session that `wanted` means: its place in the list (0 is the newest), its reference, its id, or the
    beginning of either that only one session has.

    Digits are a place, and from SHORTEST on the beginning of a reference, too.
    Places and beginnings are looked up among the sessions of the workspace first. A hidden session is found by its
    whole reference or id only. Raises UnknownReference or AmbiguousReference.
    """
    name = storable(wanted).strip().lower()
    if not name:
        raise UnknownReference("No reference was given.", "`loom sessions` lists them.")
    if name.isascii() and name.isdigit():
        # Beyond any list, the digits can still be the beginning of a reference.
        place = int(name) if len(name) < 9 else 2**31
        if listed := list_sessions(connection, workspace, limit=1, offset=place):
            return listed[0]
        if len(name) < SHORTEST:
            # Else whoever wants the newest one here would get one of another workspace, whose id begins so.
            raise _no_place(place)
    if exact := _select(connection, f"(reference = ? OR id = ?) AND {WHOLE}", name, name):
        return exact[0]
    found = _starting_with(connection, name)
    if workspace is not None and len(found) > 1:
        here = [s for s in found if workspace.has(s.workspace_path, s.workspace_commit)]
        found = here or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnknownReference(f"No session goes by `{show_line(wanted, 60)}`.", "`loom sessions` lists what there is.")
    choices = tuple(s.reference for s in found)
    words = "; ".join(f"{s.reference} ({show_line(s.title, 40) or 'no title'})" for s in found[:_SHOWN_CHOICES])
    more = f"; and {len(found) - _SHOWN_CHOICES} more" if len(found) > _SHOWN_CHOICES else ""
    raise AmbiguousReference(
        f"`{show_line(wanted, 60)}` can mean {len(found)} sessions: {words}{more}.", "Type more of it.", choices
    )


def _no_place(place: int) -> UnknownReference:
    what = f"There is no place {place} in the list of sessions." if place else "There is no session here yet."
    return UnknownReference(what, "`loom sessions` lists what there is.")


def find_half_purged(connection: sqlite3.Connection, wanted: str) -> Session | None:
    """The session that had this reference, or has this id, and whose purge is under way or was cut off, under the
    reference that it had; None if there is no such session."""
    name = storable(wanted).strip().lower()
    known = half_purged_reference(name)
    found = _select(connection, f"(reference = ? OR id = ?) AND {HALF_PURGED}", known, name)
    return replace(found[0], reference=known_reference(found[0].reference)) if found else None


def _starting_with(connection: sqlite3.Connection, name: str) -> list[Session]:
    end = name + "\U0010ffff"
    return _select(
        connection,
        "is_active = 1 AND ((reference >= ? AND reference < ?) OR (id >= ? AND id < ?))",
        name,
        end,
        name,
        end,
    )


def _select(connection: sqlite3.Connection, condition: str, *values: str) -> list[Session]:
    rows = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM cowork_sessions WHERE {condition} ORDER BY last_active_at DESC",  # noqa: S608
        values,
    )
    return [session_from_row(row) for row in rows]
