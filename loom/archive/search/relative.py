"""Times that are said from now: `yesterday`, `last Tuesday`, `two weeks ago`, `in the past few days`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

Span = tuple[datetime, datetime]
"""Begin, and end (not included)."""

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT = "mon tues? wed thurs? thu fri sat sun"
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins, in the northern half of the world."""
_COUNTED = "one two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: i for i, word in enumerate(_COUNTED.split(), 1)} | {"a": 1, "an": 1, "few": 3, "couple": 2}
_UNIT_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.4, "year": 365.25}

_COUNT = rf"(\d{{1,3}}|(?:a )?couple(?: of)?|(?:a )?few|an?|{'|'.join(_COUNTS)})"
_UNIT = f"({'|'.join(_UNIT_DAYS)})s?"
_TODAY = re.compile(r"\b(today|tonight|this (?:morning|afternoon|evening))\b", re.IGNORECASE)
_YESTERDAY = re.compile(r"\b(the day before )?(yesterday)\b|\b(last night)\b", re.IGNORECASE)
_WEEKDAY = re.compile(
    rf"\b(?:(last|this|past|on|since) )?({'|'.join(_DAYS)})\b|\b(last|this|past|on) ({'|'.join(_SHORT.split())})\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(last|past|this) (weekend|week|month|year)\b|\bthe (week|month|year) before last\b", re.IGNORECASE
)
_SEASON = re.compile(rf"\b(?:last|this|past) ({'|'.join(_SEASONS)})\b", re.IGNORECASE)
_AGO = re.compile(rf"\b{_COUNT} {_UNIT} ago\b", re.IGNORECASE)
_UNTIL_NOW = re.compile(rf"\b(?:last|past) {_COUNT} {_UNIT}\b", re.IGNORECASE)


def relative_spans(text: str, now: datetime) -> Iterator[Span]:
    """The times that a text names from `now`, which has a time zone. A weekday is the last one before today."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if _TODAY.search(text):
        yield today, today + timedelta(days=1)
    for match in _YESTERDAY.finditer(text):
        if match[3]:
            yield today - timedelta(hours=6), today + timedelta(hours=6)
        else:
            yield _days(today, 2 if match[1] else 1, 1)
    for match in _WEEKDAY.finditer(text):
        if re.search(r"\b(?:every|each) $", text[: match.start()], re.IGNORECASE) or (match[4] or "A").islower():
            continue  # `on sat`, in lower case, may be anything
        which, day = (match[1] or "", match[2]) if match[2] else (match[3], match[4])
        ago = (today.weekday() - _weekday(day)) % 7
        yield _days(today, ago if ago or which.lower() == "this" else 7, 1)
    for match in _WHOLE.finditer(text):
        yield _whole("before" if match[3] else match[1].lower(), (match[2] or match[3]).lower(), today)
    for match in _SEASON.finditer(text):
        yield _season(_SEASONS[match[1].lower()], today)
    for match in _AGO.finditer(text):
        unit = _UNIT_DAYS[match[2].lower()]
        if unit == 1:
            yield _days(today, _count(match[1]), 1)
        else:
            middle = now - timedelta(days=_count(match[1]) * unit)
            yield middle - timedelta(days=unit / 2), middle + timedelta(days=unit / 2)
    for match in _UNTIL_NOW.finditer(text):
        yield now - timedelta(days=_count(match[1]) * _UNIT_DAYS[match[2].lower()]), now


def _days(today: datetime, ago: int, length: int) -> Span:
    begin = today - timedelta(days=ago)
    return begin, begin + timedelta(days=length)


def _weekday(name: str) -> int:
    return next(i for i, day in enumerate(_DAYS) if day.startswith(name.lower()[:3]))


def _count(text: str) -> int:
    if text.isdigit():
        return int(text)
    return next(_COUNTS[word] for word in reversed(text.lower().split()) if word in _COUNTS)


def _whole(which: str, unit: str, today: datetime) -> Span:
    """The calendar week, weekend, month or year: `this` one, the one before (`last`), or that before it (`before`)."""
    back = {"this": 0, "before": 2}.get(which, 1)
    if unit == "year":
        begin = today.replace(month=1, day=1, year=max(1, today.year - back))
        return begin, begin.replace(year=begin.year + 1)
    if unit == "month":
        begin = today.replace(day=1)
        for _ in range(back):
            begin = (begin - timedelta(days=1)).replace(day=1)
        return begin, (begin + timedelta(days=31)).replace(day=1)
    monday = today - timedelta(days=today.weekday() + 7 * back)
    return (monday, monday + timedelta(days=7)) if unit == "week" else _days(monday, -5, 2)


def _season(month: int, today: datetime) -> Span:
    """The one that began last."""
    begin = today.replace(month=month, day=1)
    if begin > today:
        begin = begin.replace(year=begin.year - 1)
    return begin, (begin + timedelta(days=93)).replace(day=1)
