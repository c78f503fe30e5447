"""The digest of a turn, chained to the turn before it: whoever changes a stored text breaks the chain there.

`integrity_check` does not see a flipped bit in a text; this does, at about 5 µs a turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

DIGESTED = (
    "turn_number",
    "exchange",
    "role",
    "kind",
    "status",
    "content",
    "tool_calls",
    "tool_call_id",
    "tool_name",
    "token_count",
    "part_json",
    "message_meta",
    "usage",
    "cost_usd",
    "created_at",
)
"""The columns that a digest covers, in this order, as they are stored. `session_id` is not among them: a fork keeps
the digests of the turns that it copied."""

GENESIS = ""
"""What the first turn of a session is chained to."""


def digest(previous: str, columns: Iterable[str | int | float | None]) -> str:
    """The digest, in hex, of a turn with these DIGESTED columns that follows the turn with digest `previous`.

    SHA-256 over `previous` and the columns, each written as its length in bytes, a colon and its UTF-8 text, or as
    `-` when it is NULL; whole numbers in decimal, others as Python's shortest `repr`.
    """
    written = [previous]
    for column in columns:
        if column is None:
            written.append("-")
        else:
            text = column if isinstance(column, str) else repr(column)
            written.append(f"{len(text) if text.isascii() else len(text.encode())}:{text}")
    return hashlib.sha256("".join(written).encode()).hexdigest()
