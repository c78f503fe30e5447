"""How long ago, in a word."""

from __future__ import annotations

from datetime import UTC, datetime

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_STEPS: tuple[tuple[int, int, str], ...] = (
    # Below this many seconds, count in these, called so.
    (HOUR, MINUTE, "min"),
    (DAY, HOUR, "h"),
    (14 * DAY, DAY, "d"),
    (60 * DAY, 7 * DAY, "wk"),
    (2 * 365 * DAY, 30 * DAY, "mo"),
)


def utc_now() -> datetime:
    """The time now, aware."""
    return datetime.now(UTC)


def age(created_at: str, now: datetime) -> str:
    """`now`, `5 min`, `3 h`, `2 d`, `5 wk`, `7 mo`, `3 y`, counted down; `?` when it is no ISO 8601 time.

    A time in the future, from a clock that was set back, is `now`.
    """
    try:
        then = datetime.fromisoformat(created_at)
    except ValueError:
        return "?"
    seconds = int((now - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds())
    if seconds < MINUTE:
        return "now"
    for below, unit, name in _STEPS:
        if seconds < below:
            return f"{seconds // unit} {name}"
    return f"{seconds // (365 * DAY)} y"
