"""Short names of sessions: what a person types to mean one."""

from __future__ import annotations

import secrets
import sqlite3
import string
from collections.abc import Sequence

_UNFINISHED = "FORK "
_HALF_PURGED = "PURGE "
UNFINISHED = f"reference GLOB '{_UNFINISHED}*'"
"""What holds in SQL for a session that is a fork still being made, or one whose making was cut off."""
HALF_PURGED = f"reference GLOB '{_HALF_PURGED}*'"
"""For one that is being purged, or whose purge was cut off."""
WHOLE = f"reference NOT GLOB '{_UNFINISHED}*' AND reference NOT GLOB '{_HALF_PURGED}*'"
"""For every other: nobody is to see a half."""

_ALPHABET = string.digits + string.ascii_lowercase
SHORTEST, _LONGEST = 4, 12
"""Characters."""


def is_reference(text: str) -> bool:
    """Whether it is one that a person can type."""
    return SHORTEST <= len(text) <= _LONGEST and set(text) <= set(_ALPHABET) and not text.isdigit()


def free_reference(connection: sqlite3.Connection) -> str:
    """A reference that no session has: as short as it finds in a few tries, at least one of its characters a letter
    (all digits mean a place in the list). Unique for as long as the caller holds the write lock."""
    length = SHORTEST
    while True:
        for _ in range(8):
            reference = _random(length)
            if not is_taken(connection, reference):
                return reference
        length += 1


def first_choice(connection: sqlite3.Connection, reference: str) -> str:
    """This reference, or another one if it is empty or a session has it. Unique for as long as `free_reference` is."""
    return free_reference(connection) if not reference or is_taken(connection, reference) else reference


def is_taken(connection: sqlite3.Connection, reference: str) -> bool:
    """Whether a session has it; also one that is half purged, which it still means to whoever purges on."""
    found = connection.execute(
        "SELECT 1 FROM cowork_sessions WHERE reference IN (?, ?)", (reference, half_purged_reference(reference))
    )
    return found.fetchone() is not None


def unfinished_reference(session_id: str) -> str:
    """Of a fork until it is whole: nobody can type it, as what is typed is looked for in small letters."""
    return _UNFINISHED + session_id


def is_unfinished(reference: str) -> bool:
    """Whether a reference is that of a fork which is not whole."""
    return reference.startswith(_UNFINISHED)


def half_purged_reference(reference: str) -> str:
    """What a session with this reference has in its place as soon as the first of it is purged."""
    return _HALF_PURGED + reference


def is_half_purged(reference: str) -> bool:
    """Whether a reference is that of a session of which something is purged."""
    return reference.startswith(_HALF_PURGED)


def known_reference(reference: str) -> str:
    """The one that a person knows a session by, half purged or not."""
    return reference.removeprefix(_HALF_PURGED)


def _random(length: int) -> str:
    while True:
        reference = "".join(secrets.choice(_ALPHABET) for _ in range(length))
        if not reference.isdigit():
            return reference


def named_references(references: Sequence[str], most: int = 3) -> str:
    """`k3f9, m2p4`; of many the first ones, and how many more."""
    more = f" and {len(references) - most:,} more" if len(references) > most else ""
    return f"{', '.join(references[:most])}{more}"
