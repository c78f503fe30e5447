"""What time it is, as the archive writes it: ISO 8601, UTC, microseconds, Z. Sorts as text.

Nothing in the archive is ordered by time alone: turns are by number, so a clock that is set back loses nothing.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

_SECOND = 1_000_000_000

_latest = (0, "1970-01-01T00:00:00")
"""A second since 1970 and how it is written."""


def now() -> str:
    """The present moment."""
    # Written anew with each second only: each turn waits for it, and behind a wait for the disk, when nothing that a
    # date needs is at hand, it takes a processor 8 µs.
    global _latest  # noqa: PLW0603 - one value that is replaced whole, from any thread
    second, rest = divmod(time.time_ns(), _SECOND)
    known, written = _latest
    if second != known:
        written = datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")[:-6]
        _latest = second, written
    return f"{written}.{rest // 1000:06d}Z"


def normalised(moment: str | datetime) -> str:
    """A moment (as text: ISO 8601) in the archive's form; without an offset it is taken as UTC.

    Raises ValueError if it is no moment.
    """
    parsed = moment if isinstance(moment, datetime) else datetime.fromisoformat(moment)
    try:
        return _text(parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC))
    except OverflowError as error:
        # The first or last day of the calendar, which is outside of it in UTC.
        raise ValueError(f"{moment} is no moment in UTC") from error


def _text(moment: datetime) -> str:
    # Of a moment in UTC, which ends in +00:00. `strftime` takes twice as long, and each turn waits for it.
    return f"{moment.isoformat(timespec='microseconds')[:-6]}Z"
