"""How long a provider's library waits before it asks again."""

from __future__ import annotations

from email.utils import formatdate
from time import time

import httpx2
import pytest

from loom.models.retrying import seconds_to_wait


def asked_to_wait(retry_after: str) -> int:
    request = httpx2.Request("POST", "http://localhost/v1", headers={"x-stainless-retry-count": "0"})
    return seconds_to_wait(httpx2.Response(429, headers={"retry-after": retry_after}, request=request), "openai")


def test_a_date_is_as_good_as_a_number_of_seconds() -> None:
    assert asked_to_wait("20") == 20
    assert 0 < asked_to_wait(formatdate(time() + 100, usegmt=True)) <= 101


@pytest.mark.parametrize(
    "header", ["", "soon", "nan", "inf", "-3", "121", "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 99 Oct 99999 07:28:00 GMT"]
)
def test_of_what_the_library_does_not_wait_for_nothing_is_said(header: str) -> None:
    assert asked_to_wait(header) == 0
