"""A search that finds nothing says which of its filters are to blame, and what would leave something."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore

HERE = "/home/ada/src/shop"


@pytest.fixture
async def shop(store: ConversationStore) -> str:
    """A session of 10 March 2026 with two tools and two files."""
    session = await store.create_session(HERE, "offline", "", title="Fix the login")
    for role, text, tool in (
        ("user", "Why does the kangaroo in src/kangaroo.py hang?", None),
        ("tool", "src/kangaroo.py:3: sleep", "search_text"),
        ("tool", "exit code 0, wombat", "shell_execute"),
        ("assistant", "It sleeps; see docs/sleeping.md.", None),
    ):
        await store.append_turn(session, role, text, tool_name=tool, created_at="2026-03-10T12:00:00.000000Z")  # type: ignore[arg-type]
    return session


async def said(store: ConversationStore, query: str, **within: str) -> str:
    page = await store.search(query, **(within or {"workspace": HERE}))  # type: ignore[arg-type]
    assert not page.hits
    return " ".join(page.obstacles)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tool:shel_execute", "No turn there passes tool:shel_execute. Try tool:shell_execute."),
        ("kangaroo tool:grep", "No turn there passes tool:grep. Try tool:search_text or tool:shell_execute."),
        ("role:system", "No turn there passes role:system. Try role:user, role:assistant or role:tool."),
        ("file:src/kangaro.py sleep", "No turn there passes file:src/kangaro.py. Try file:src/kangaroo.py."),
        ("file:lib/sleeping.rst", "No turn there passes file:lib/sleeping.rst. Try file:docs/sleeping.md."),
        ("file:zzz", "No turn there passes file:zzz."),
        ("kangaroo before:2026-03-01", "No turn there passes before:2026-03-01. Try before:2026-03-11."),
        ("kangaroo after:2026-04", "No turn there passes after:2026-04. Try after:2026-03-10."),
        ("kangaroo role:assistant file:kangaroo.py", "Without role:assistant something is found."),
        ("role:user tool:shell_execute", "Without role:user or tool:shell_execute something is found."),
        ("wombat -exit", "Without the words with a minus something is found."),
        ("tool:shell_execute -exit", "Without the words with a minus something is found."),
        ("zebra", ""),
        ("zebra role:user", ""),
        ("zebra -exit", ""),
    ],
)
async def test_what_left_nothing(store: ConversationStore, shop: str, query: str, expected: str) -> None:
    assert await said(store, query) == expected


async def test_a_session_that_is_not_there(store: ConversationStore, shop: str) -> None:
    detail = await store.get_session(shop)
    assert detail is not None
    told = await said(store, "kangaroo session:nothere")
    assert told == f"No turn there passes session:nothere. Try session:{detail.reference} (Fix the login)."
    assert await said(store, "kangaroo session:nothere", session_id=shop) == "No turn there passes session:nothere."


async def test_an_empty_archive_blames_nobody(store: ConversationStore) -> None:
    assert await said(store, "tool:shell kangaroo") == ""


async def test_a_filter_that_means_nothing_is_told_beside_the_hits(store: ConversationStore, shop: str) -> None:
    page = await store.search("kangaroo role:person", workspace=HERE)
    assert page.hits and page.fault.startswith("There is no role person. role: takes user, ")
    page = await store.search("kangaroo before:soonish", workspace=HERE)
    assert page.hits and page.fault.startswith("before:soonish is no date.")
    page = await store.search("kangaroo -role:user", workspace=HERE)
    assert page.hits and page.fault.startswith("-role:user: no filter takes a minus. role: takes user, ")
    page = await store.search("kangaroo -file:a.py", workspace=HERE)
    assert page.hits and page.fault.startswith("-file:a.py: no filter takes a minus. Quote it")
    for sound in ("kangaroo role:user before:1d", 'kangaroo "-role:user"', "kangaroo x-role:user"):
        assert (await store.search(sound, workspace=HERE)).fault == ""


@pytest.mark.parametrize("name", ["shell", "execute", "shell_exec", "SHELL"])
async def test_a_tool_is_meant_by_the_beginning_of_a_word_of_its_name(
    store: ConversationStore, shop: str, name: str
) -> None:
    page = await store.search(f"tool:{name}", workspace=HERE)
    assert {hit.tool_name for hit in page.hits} == {"shell_execute"}


async def test_a_tool_of_just_that_name_is_meant_alone(store: ConversationStore, shop: str) -> None:
    assert not (await store.search("tool:hell", workspace=HERE)).hits
    await store.append_turn(shop, "tool", "a wombat too", tool_name="shell")
    assert {hit.tool_name for hit in (await store.search("tool:shell", workspace=HERE)).hits} == {"shell"}


async def test_within_quotation_marks_nothing_is_a_filter(store: ConversationStore, shop: str) -> None:
    await store.append_turn(shop, "assistant", "Type the role:user thing.")
    page = await store.search('"the role:user thing"', workspace=HERE)
    assert [hit.role for hit in page.hits] == ["assistant"]


@pytest.mark.parametrize("length", [60, 65, 200, 1_000])
async def test_a_word_of_any_length_is_found_and_one_that_is_nowhere_finds_nothing(
    store: ConversationStore, shop: str, length: int
) -> None:
    word = "".join(chr(97 + i * 7 % 26) for i in range(length))
    await store.append_turn(shop, "assistant", f"The token is {word} today.")
    assert [hit.turn_number for hit in (await store.search(word, workspace=HERE)).hits] == [5]
    assert not (await store.search(word[::-1], workspace=HERE)).hits
