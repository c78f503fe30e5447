"""What time it is, as the archive writes it: ISO 8601, UTC, microseconds, Z. Sorts as text.

Nothing in the archive is ordered by time alone: turns are by number, so a clock that is set back loses nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The present moment."""
    return _text(datetime.now(UTC))


def normalised(moment: str | datetime) -> str:
    """A moment (as text: ISO 8601) in the archive's form; without an offset it is taken as UTC.

    Raises ValueError if it is no moment.
    """
    parsed = moment if isinstance(moment, datetime) else datetime.fromisoformat(moment)
    return _text(parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC))


def _text(moment: datetime) -> str:
    # Of a moment in UTC, which ends in +00:00. `strftime` takes twice as long, and each turn waits for it.
    return f"{moment.isoformat(timespec='microseconds')[:-6]}Z"
