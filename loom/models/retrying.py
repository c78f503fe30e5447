"""What is said while a provider's library waits before it asks again: as long as `Retry-After` wants, which may be
minutes in which nothing else moves."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from email.utils import mktime_tz, parsedate_tz
from time import time
from typing import Any

from loom.text import show_line

RETRIES = 2
"""The libraries try again so often."""
_AGAIN = (408, 409, 429)
_LONGEST = {"openai": 120.0}
"""Seconds that a library waits at most; when it is to wait longer it gives up at once. Anthropic's waits any time."""


def seconds_to_wait(response: Any, library: str) -> int:
    """So long the library waits after this response because the provider asked for it; 0 when it does not."""
    headers = response.headers
    if headers.get("x-should-retry") == "false":
        return 0
    if response.status_code not in _AGAIN and response.status_code < 500:
        return 0
    # Libraries that do not try again do not count how often they did.
    if int(response.request.headers.get("x-stainless-retry-count", RETRIES)) >= RETRIES:
        return 0
    wait = _seconds(headers.get("retry-after", ""))
    return math.ceil(wait) if 0 < wait <= _LONGEST.get(library, math.inf) and math.isfinite(wait) else 0


def _seconds(retry_after: str) -> float:
    """What the header asks for, which may name a date; 0 when it is neither."""
    try:
        return float(retry_after)
    except ValueError:
        pass
    try:
        date = parsedate_tz(retry_after)
        return mktime_tz(date) - time() if date is not None else 0.0
    except (ValueError, OverflowError):  # a month of 99, a year of 99,999
        return 0.0


def telling(say: Callable[[str], None], library: str) -> Callable[[Any], Awaitable[None]]:
    """A response hook for an HTTP client that hands the words to `say`."""

    async def tell(response: Any) -> None:
        if wait := seconds_to_wait(response, library):
            who = show_line(f"{response.request.url.host}:{response.request.url.port or 443}", 80).removesuffix(":443")
            why = "limits how often one may ask" if response.status_code == 429 else "is overloaded or down"
            say(f"{who} {why} ({response.status_code}): asked again in {wait} s. Esc stops waiting.")

    return tell
