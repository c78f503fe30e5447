"""Dates in a query: as a filter (`before:2024-05`) and as a cue (`what did we do in May`, `last Tuesday`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from loom.archive.search.relative import relative_spans
from loom.archive.search.words import plain_letters
from loom.times import local_moment

_CALENDAR = """
january february march april may june july august september october november december
"""
_MONTHS = _CALENDAR.split()
_MONTH_NUMBERS = {name: i for i, name in enumerate(_MONTHS, 1)} | {name[:3]: i for i, name in enumerate(_MONTHS, 1)}
_MONTH = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b\.?(?:,? (\d{{4}}))?", re.IGNORECASE)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\b\.?(?: (\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,? (?:of )?(\d{{4}}))?", re.IGNORECASE
)
_YEAR_FIRST = re.compile(r"\b(\d{4})([-/])(\d\d?)(?:\2(\d\d?))?\b")
_YEAR_LAST = re.compile(r"\b(\d\d?)([./])(\d\d?)\2(\d{4})\b")
_YEAR = re.compile(r"\b(?:in|of|since|during|from|throughout|early|late) ((?:19|20)\d\d)\b(?![-/.]\d)")
_SPAN = re.compile(r"(\d{1,4})([hdwmy])")
_SPAN_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30.4, "y": 365.25}
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class DateCue:
    """A day or a longer time that a query names: seconds since 1970, `end` not included.

    Without a year the time is that day or month of any year, and `begin`, `end` are those of the year 2000.
    """

    begin: float
    end: float
    any_year: bool = False


def date_cues(text: str, now: datetime) -> list[DateCue]:
    """The dates that a query names. Words that are months only at times (`may`, `march`) count with a day, a year
    or a capital; a relative date counts from `now`."""
    rest = text = plain_letters(text)
    cues = [DateCue(begin.timestamp(), end.timestamp()) for begin, end in relative_spans(text, now)]
    for match in _YEAR_FIRST.finditer(text):
        cues.extend(_cue(int(match[1]), int(match[3]), int(match[4]) if match[4] else None, now))
    for match in _YEAR_LAST.finditer(text):
        first, second = int(match[1]), int(match[3])
        cues.extend(_cue(int(match[4]), second, first, now))
        if match[2] == "/" and first != second:  # 5/3/2024 is either, as the writer's country has it
            cues.extend(_cue(int(match[4]), first, second, now))
    for match in _YEAR.finditer(text):
        cues.append(DateCue(_new_year(int(match[1]), now), _new_year(int(match[1]) + 1, now)))
    for match in _DAY_FIRST.finditer(text):
        year = int(match[3]) if match[3] else None
        cues.extend(_cue(year, _MONTH_NUMBERS[match[2].lower()], int(match[1]), now))
        rest = rest.replace(match[0], " ")
    for match in _MONTH_FIRST.finditer(rest):
        day, written_year = match[2], match[3]
        if not day and not written_year and not _is_month(match[1], rest[: match.start()]):
            continue
        number = _MONTH_NUMBERS[match[1].lower()]
        cues.extend(_cue(int(written_year) if written_year else None, number, int(day) if day else None, now))
    return cues


def _is_month(word: str, before: str) -> bool:
    if word.islower():
        return False
    if word == "May":
        return bool(re.search(r"\b(?:in|of|last|since|by|early|late|until|during|this) $", before))
    return len(word) > 3


def _cue(year: int | None, month: int, day: int | None, now: datetime) -> Iterator[DateCue]:
    try:
        begin = datetime(year or 2000, month, day or 1, tzinfo=now.tzinfo)
        end = begin + timedelta(days=1) if day else (begin + timedelta(days=32)).replace(day=1)
        yield DateCue(begin.timestamp(), end.timestamp(), year is None)
    except (ValueError, OverflowError):
        return  # `31 February`, year 0: not a date, so not a cue


def _new_year(year: int, now: datetime) -> float:
    return datetime(year, 1, 1, tzinfo=now.tzinfo).timestamp()


def closeness(cue: DateCue, at: float) -> float:
    """How well a time fits a cue: 1 inside; 0.5 in the week after (what happened is told later) or the day before;
    0.3 within a month of it; else 0."""
    begin, end = cue.begin, cue.end
    if cue.any_year:
        year = local_moment(at).year
        shift = (datetime(year, 1, 1) - datetime(2000, 1, 1)).total_seconds()
        shift -= _DAY if shift and datetime.fromtimestamp(begin).month > 2 and year % 4 else 0
        begin, end = begin + shift, end + shift
    if begin <= at < end:
        return 1.0
    if begin - _DAY <= at < end + 7 * _DAY:
        return 0.5
    if begin - 15 * _DAY <= at < end + 30 * _DAY:
        return 0.3
    return 0.0


def date_bound(value: str, now: datetime) -> float | None:
    """The moment that a `before:` or `after:` value means, seconds since 1970; None if it is no date.

    Takes ISO dates and times, `2024`, `2024-05`, `today`, `yesterday`, and spans back from now (`3d`, `2w`, `12h`).
    """
    value = value.strip().lower()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if value in ("today", "yesterday"):
        return (today - timedelta(days=value == "yesterday")).timestamp()
    if span := _SPAN.fullmatch(value):
        return now.timestamp() - int(span[1]) * _SPAN_DAYS[span[2]] * _DAY
    if re.fullmatch(r"\d{4}(?:-\d\d)?", value):
        value = (value + "-01-01")[:10]
    try:
        moment = datetime.fromisoformat(value.upper())
        return (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
