"""Short names of sessions: what a person types to mean one."""

from __future__ import annotations

import secrets
import sqlite3
import string
from collections.abc import Sequence

_UNFINISHED = "FORK "
FINISHED = f"reference NOT GLOB '{_UNFINISHED}*'"
UNFINISHED = f"reference GLOB '{_UNFINISHED}*'"
"""What holds in SQL for a session that is a fork still being made, or one whose making was cut off."""

_ALPHABET = string.digits + string.ascii_lowercase
_SHORTEST = 4


def free_reference(connection: sqlite3.Connection) -> str:
    """A reference that no session has: as short as it finds in a few tries, at least one of its characters a letter
    (all digits mean a place in the list). Unique for as long as the caller holds the write lock."""
    length = _SHORTEST
    while True:
        for _ in range(8):
            reference = _random(length)
            if not connection.execute("SELECT 1 FROM cowork_sessions WHERE reference = ?", (reference,)).fetchone():
                return reference
        length += 1


def unfinished_reference(session_id: str) -> str:
    """Of a fork until it is whole: nobody can type it, as what is typed is looked for in small letters."""
    return _UNFINISHED + session_id


def is_unfinished(reference: str) -> bool:
    """Whether a reference is that of a fork which is not whole."""
    return reference.startswith(_UNFINISHED)


def _random(length: int) -> str:
    while True:
        reference = "".join(secrets.choice(_ALPHABET) for _ in range(length))
        if not reference.isdigit():
            return reference


def named_references(references: Sequence[str], most: int = 3) -> str:
    """`k3f9, m2p4`; of many the first ones, and how many more."""
    more = f" and {len(references) - most:,} more" if len(references) > most else ""
    return f"{', '.join(references[:most])}{more}"
