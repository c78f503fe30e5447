"""What a minus takes out of a search, and what merely looks as if it did."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from loom.archive.search.query import parse
from tests.archive.searching import found, index_all, tell

SAID = (
    "auth: max_retries is three",  # 1
    "auth: the max connections",
    "auth: a bearer header",  # 3
    "auth: a header for the bearer",
    "auth: 認証 エラー",  # 5
    "auth: don't ask",
    "auth: sudo rm -rf /tmp/auth",  # 7
    "auth: exited with -11",
    "auth: page 404",  # 9
)
ALL = set(range(1, len(SAID) + 1))


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ("auth -max_retries", ALL - {1}),
        ('auth -"bearer header"', ALL - {3}),
        ("auth -“bearer header”", ALL - {3}),
        ('role:user -"Bearer  Header"', ALL - {3}),
        ("auth -認証", ALL - {5}),
        ("auth -エラー", ALL - {5}),
        ("auth -証", ALL - {5}),
        ("auth -証 -404 -x", ALL - {5, 9}),
        ("auth -don't", ALL - {6}),
        ('"rm -rf /tmp"', {7}),
        ("“rm -rf /tmp”", {7}),
        ("auth -404", ALL - {9}),
    ],
)
async def test_it_takes_out_what_it_stands_before(
    store: ConversationStore, session: str, query: str, turns: set[int], indexed: bool
) -> None:
    await tell(store, session, *SAID)
    if indexed:
        await index_all(store)
    assert set(await found(store, session, query, limit=20)) == turns


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_a_flag_of_a_command_that_was_run_takes_nothing_out(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    await tell(
        store, session, 'git commit -am "fix parser"', "I am for git commit", "git commit with x-am", "git commit"
    )
    if indexed:
        await index_all(store)
    assert set(await found(store, session, "git commit -am message")) == {1, 4}
    assert set(await found(store, session, "git commit -am")) == {1, 4}


async def test_a_negative_number_that_was_said_is_looked_for(store: ConversationStore, session: str) -> None:
    await tell(store, session, *SAID, "auth: chapter 11")
    assert (await found(store, session, "auth -11"))[0] == 8
    assert 10 not in await found(store, session, "auth -11", limit=20)


FILES = (
    "auth: look at src/auth.py",  # 1
    "auth: look at lib/src/auth.py:42, please",
    "auth: look at src\\auth.py.",  # 3
    "auth: `auth.py` is short",
    "auth: oauth.py, auth.pyc, my-auth.py, test_auth.py, auth.py.bak and src/auth.python",  # 5
    "auth: look at src/oauth.py",
    "auth: look at /etc/hosts and .github/workflows/ci.yml",  # 7
    "auth: look at .env",
    "auth: look at prod.env",  # 9
    "auth: version 1.5 and minus -1.5",
    "auth: gcc -I/usr/include -Isrc/include main.c",  # 11
    "auth: git log --all -- src/main.py",
    "auth: nothing of all that",  # 13
)
EVERY = set(range(1, len(FILES) + 1))


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ("auth -src/auth.py", EVERY - {1, 2, 3}),
        ("auth -src\\auth.py", EVERY - {1, 2, 3}),
        ("auth -./src/auth.py", EVERY - {1, 2, 3}),
        ("auth -auth.py", EVERY - {1, 2, 3, 4}),
        ("auth -Auth.PY", EVERY - {1, 2, 3, 4}),
        ("auth -src/", EVERY - {1, 2, 3, 5, 6, 12}),
        ("auth -/etc/hosts -.env", EVERY - {7, 8}),
        ("auth -.github/workflows/ci.yml", EVERY - {7}),
        ("role:user -src/auth.py", EVERY - {1, 2, 3}),
        ("auth -auth.py -src/oauth.py", EVERY - {1, 2, 3, 4, 6}),
        # A flag with its path, a flag of two signs, and a number are looked for.
        ("auth -I/usr/include", EVERY),
        ("auth --all", EVERY),
        ("auth --src/auth.py", EVERY),
        ("auth -1.5", EVERY),
        ("auth -Isrc/include", EVERY),
        ("auth `-src/auth.py`", EVERY),
        ("auth x-src/auth.py", EVERY),
    ],
)
async def test_a_path_with_a_minus_leaves_out_the_turns_that_name_it(
    store: ConversationStore, session: str, query: str, turns: set[int], indexed: bool
) -> None:
    await tell(store, session, *FILES)
    if indexed:
        await index_all(store)
    assert set(await found(store, session, query, limit=30)) == turns


async def test_a_path_alone_with_a_minus_is_looked_for(store: ConversationStore, session: str) -> None:
    await tell(store, session, *FILES)
    await index_all(store)
    assert (await found(store, session, "-src/oauth.py"))[0] == 6
    assert set(await found(store, session, '"-Isrc/include"')) == {11}


@pytest.mark.parametrize("query", ["auth -e.g.", "auth -...", "auth -/", "auth -a/b", "auth -3.5x", "auth -2026/11/23"])
def test_other_signs_behind_a_minus_leave_nothing_out(query: str) -> None:
    parsed = parse(query)
    assert not (parsed.excluded_words or parsed.excluded_texts or parsed.excluded_paths)


def test_nothing_within_quotation_marks_or_back_ticks_is_taken_out() -> None:
    for query in ('auth "rm -rf /tmp"', "auth `rm -rf /tmp`", "auth “rm -rf /tmp”"):
        assert not parse(query).excluded
        assert not parse(query).excluded_texts
    assert parse('auth "a b" -"c d"').phrases == ("a b",)
    assert parse('auth "a b" -"c d"').excluded_texts == ("c d",)
    assert parse('-"c d"').phrases == ("c d",)  # nothing else is asked for


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize("excluded", ["-max_retries", '-"was reached"', "-認証", '-"🎉"', "-src/x.py", "-x.py"])
async def test_what_stands_behind_many_turns_that_are_left_out_is_found(
    store: ConversationStore, session: str, excluded: str, indexed: bool
) -> None:
    wanted = await tell(store, session, "The retries are fine.")
    await tell(
        store,
        session,
        *(f"max_retries was reached in round {number} 認証 🎉 lib/src/x.py:{number}" for number in range(700)),
    )
    if indexed:
        await index_all(store)
    assert await found(store, session, f"retries {excluded}") == wanted
    assert await found(store, session, f"role:user {excluded}") == wanted
