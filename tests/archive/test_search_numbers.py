"""A line of a log is found by the same one with other numbers."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from loom.archive.search.numbers import beside_numbers, with_other_numbers
from tests.archive.searching import found, index_all, tell


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("port 8080 already in use", "port 3000 already in use"),
        ("index out of range [5] with length 3", "index out of range [7] with length 6"),
        ("index out of range [5] with length 3", '"index out of range [7] with length 6"'),
        ("request timed out after 30s (attempt 2 of 5)", "request timed out after 1.5s (attempt 4 of 9)"),
        ("3 passed, 2 failed in 1.24s", "15 passed, 1 failed in 9.87s"),
        ("segfault at 0x00ff in 10.0.0.5:80", "segfault at 0xdeadbeef in 192.168.1.1:8080"),
        ("2026-03-01T12:00:01Z lock waited for", "2025-11-30T07:45:59Z lock waited for"),
        ("サーバーへの接続が5回失敗しました", "サーバーへの接続が12回失敗しました"),
    ],
)
async def test_the_line_with_other_numbers_comes_first(
    store: ConversationStore, session: str, said: str, query: str, indexed: bool
) -> None:
    (wanted,) = await tell(store, session, f"it said\n{said}\nand ended")
    words = query.replace('"', "").split()
    scattered = " ".join(sorted(words)) if len(words) > 1 else query[::-1]
    for number in range(12):
        await tell(store, session, f"{scattered} {number}: {scattered}", f"length {number} of 6 is in 12回 3000")
    if indexed:
        await index_all(store)
    assert (await found(store, session, query))[0] == wanted


async def test_the_line_as_it_is_comes_before_the_one_with_other_numbers(
    store: ConversationStore, session: str
) -> None:
    await tell(store, session, "port 3000 already in use", "port 8080 already in use")
    assert await found(store, session, "port 3000 already in use") == [1, 2]
    assert await found(store, session, '"port 3000 already in use"') == [1]


def test_a_code_is_no_number_and_a_page_no_line() -> None:
    assert beside_numbers("error e0433 in module") == ""
    assert beside_numbers("page 404") == ""
    assert beside_numbers("no number at all") == ""
    assert beside_numbers("worker 4 was killed").split() == ["worker", "was", "killed"]
    texts = [
        (1, "worker 9 was killed"),
        (2, "worker x was killed"),
        (3, "worker was killed 4"),
        (4, "worker 9a9 was killed"),
    ]
    assert with_other_numbers("worker 4 was killed", texts) == [1]
