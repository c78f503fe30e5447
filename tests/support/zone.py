"""A reader in a time zone of their own, wherever the tests run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def reading_in(zone: str) -> Iterator[None]:
    """Local time is that of `zone` as long as this is open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()
