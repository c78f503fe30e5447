"""Moments of the archive, which keeps them in UTC, in the time of whoever reads them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


def local_time(moment: str) -> str:
    """`2026-11-22 08:10 +01:00`, for screens and commands; what is no ISO 8601 time stays as it is."""
    local = _local(moment)
    if local is None:
        return moment
    stamp = local.isoformat(sep=" ", timespec="minutes")
    return f"{stamp[:16]} {stamp[16:]}"


def local_now() -> datetime:
    """Now, in local time that knows summer and winter: what is reckoned from it begins at midnight on any day."""
    return datetime.now(_LOCAL)


def local_moment(seconds: float) -> datetime:
    """A moment, in seconds since 1970, in local time; any that the calendar has."""
    return datetime.fromtimestamp(seconds, _LOCAL)


def local_offset() -> str:
    """By how much local time is now ahead of UTC: `+01:00`."""
    return datetime.now().astimezone().isoformat()[-6:]


def iso_time(moment: str) -> str:
    """`2026-11-22T08:10:42+01:00`, for files that others read; what is no ISO 8601 time stays as it is."""
    local = _local(moment)
    return moment if local is None else local.isoformat(timespec="seconds")


def _local(moment: str) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(moment)
        # Without an offset it is UTC, as everywhere in the archive.
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone()
    except (ValueError, OverflowError):
        return None


class _LocalZone(tzinfo):
    """Local time. `astimezone` gives the offset of one moment, which is an hour off half a year away."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        try:
            offset = (dt or datetime.now()).replace(tzinfo=None).astimezone().utcoffset()
        except (ValueError, OverflowError, OSError):  # the first and the last day there are
            offset = None
        return offset or timedelta(0)

    def dst(self, dt: datetime | None) -> None:
        return None

    def tzname(self, dt: datetime | None) -> str:
        return "local"

    def fromutc(self, dt: datetime) -> datetime:
        # Without a zone it is said which of the two it is, in the hour that comes twice.
        try:
            return datetime.fromtimestamp(dt.replace(tzinfo=UTC).timestamp()).replace(tzinfo=self)
        except (ValueError, OverflowError, OSError):
            return dt  # as `utcoffset` has it there


_LOCAL = _LocalZone()
