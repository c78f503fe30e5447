"""The archive browser, on a real archive: what it finds and what it says of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loom.archive import ConversationStore
from loom.archive.records import SearchHit, SearchPage, TurnKind
from loom.state.pins import pin_meta
from loom.tui.choices import JumpTo
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.turn_view import TurnViewScreen
from loom.tui.widgets.facet_bar import Scope
from loom.tui.widgets.hit_list import HitList
from loom.tui.widgets.hit_preview import HitPreview
from loom.tui.widgets.text_view import TextView
from tests.support.browsing import HERE, NOW, Fixed, alone, id_of, screen_text, until
from tests.tui.archive_browser import browser, found, preview, said, typed


async def test_it_searches_from_the_second_character_as_one_types(shelf: Fixed) -> None:
    screen = browser(shelf)
    async with alone(screen).run_test() as pilot:
        await pilot.press("R")
        await until(pilot, lambda: "Type at least 2 characters" in said(screen))
        await pilot.press(*"EFRESH_TIMEOUT")
        await until(pilot, lambda: "T3" in found(screen))
        await pilot.press("ctrl+u")
        await until(pilot, lambda: found(screen) == [])


async def test_hits_stand_under_their_session_with_the_match_marked(shelf: Fixed) -> None:
    screen = browser(shelf, scope=Scope.WORKSPACE)
    async with alone(screen).run_test() as pilot:
        await typed(pilot, screen, "timeout")
        await until(pilot, lambda: {"a1b2", "k3f9"} <= set(found(screen)))
        rows = screen.query_one(HitList)
        assert rows.hit is not None
        drawn = rows.draw_row(rows.hit, 60)[1]
        words = [drawn.plain[span.start : span.end].lower() for span in drawn.spans if "underline" in str(span.style)]
        assert words and all("time" in word for word in words)


async def test_turns_that_hold_the_words_come_before_what_is_only_related(shelf: Fixed) -> None:
    screen = browser(shelf, query="login timeout seconds")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: len(found(screen)) > 5)
        marks = [bool(item.highlights) for item in screen.query_one(HitList).items if isinstance(item, SearchHit)]
        assert marks == sorted(marks, reverse=True) and any(marks) and not all(marks)


async def test_what_is_near_in_meaning_stays_among_the_first_five_and_says_so(shelf: Fixed) -> None:
    session = id_of(shelf, "a1b2")
    await shelf.store.append_turn(session, "user", "Let's ship version two on Friday.")
    for thing in ("brake", "valve", "note", "form", "singer", "hostage"):
        await shelf.store.append_turn(session, "user", f"The release of the {thing}")
    screen = browser(shelf, query="when do we release?")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: len(found(screen)) > 5)
        rows = screen.query_one(HitList)
        first = [item for item in rows.items if isinstance(item, SearchHit)][:5]
        meant = [hit for hit in first if hit.by_meaning]
        assert [hit.content for hit in meant] == ["Let's ship version two on Friday."]
        assert "near in meaning" in rows.draw_row(meant[0], 80)[0].plain


async def test_what_a_fork_copied_stands_in_the_session_at_hand_and_says_where_else(shelf: Fixed) -> None:
    first = id_of(shelf, "a1b2")
    fork = await shelf.store.get_session(await shelf.store.fork_session(first, 4))
    assert fork is not None
    for at_hand, other in ((first, fork.reference), (fork.id, "a1b2")):
        shelf.made = {first: ("a1b2", NOW)} if at_hand == first else {}
        screen = ArchiveScreen(shelf, session_id=at_hand, workspace=HERE, scope=Scope.WORKSPACE, query="refreshToken")
        async with alone(screen).run_test() as pilot:
            rows = screen.query_one(HitList)
            await until(pilot, lambda rows=rows: rows.hit is not None)  # type: ignore[misc]
            hit = rows.hit
            assert hit is not None and (hit.session_id, hit.turn_number) == (at_hand, 4)
            if at_hand == first:
                assert f"also in {other}" in rows.draw_row(hit, 60)[0].plain


async def test_the_turn_stands_beside_it_with_its_neighbours(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    async with alone(screen).run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "T4 assistant" in preview(screen))
        shown = preview(screen)
        assert "The refreshToken call uses REFRESH_TIMEOUT, which is 30 seconds." in shown
        assert "T1 user" in shown and "… 2 turns between" in shown and "T5 user" in shown
        assert "T3 tool search_text" not in shown


async def test_what_was_done_between_two_turns_is_counted(shelf: Fixed) -> None:
    session_id = id_of(shelf, "a1b2")
    first = await shelf.store.append_turn(session_id, "user", "Where does the walrus live?")
    for number in range(3):
        call = {"id": f"c{number}", "name": "read_file", "arguments": {}}
        await shelf.store.append_turn(session_id, "assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=[call])
    last = await shelf.store.append_turn(session_id, "assistant", "On the ice.")
    screen = browser(shelf, query="walrus")
    async with alone(screen).run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: f"T{first} user" in preview(screen))
        assert "… 3 turns between" in preview(screen) and f"T{last} assistant" in preview(screen)


async def test_pinned_words_are_a_hit_that_says_that_it_is_a_pin(shelf: Fixed) -> None:
    session_id = id_of(shelf, "a1b2")
    meta = pin_meta("Lengths in furlongs.", None, "person")
    number = await shelf.store.append_turn(
        session_id, "system", "Pinned: Lengths in furlongs.", kind=TurnKind.NOTE, message_meta=meta
    )
    screen = browser(shelf, query="furlongs")
    app = alone(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: f"T{number} pin · " in preview(screen))
        rows = screen.query_one(HitList)
        assert rows.hit is not None and found(screen) == ["a1b2", f"T{number}"]
        assert f"T{number} pin" in rows.draw_row(rows.hit, 60)[0].plain
        await pilot.press("enter")
        await until(pilot, lambda: app.left)
    assert app.result == JumpTo(session_id, number)


async def test_nothing_found_says_what_was_searched(shelf: Fixed) -> None:
    screen = browser(shelf, query="zebra crossing")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found for “zebra crossing” in 6 turns of this session" in said(screen))


async def test_a_phrase_that_stands_nowhere_is_said_to_beside_what_has_its_words(shelf: Fixed) -> None:
    screen = browser(shelf, query='"timeout seconds login"')
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing has “timeout seconds login” word for word." in said(screen))
        assert found(screen)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("timeout tool:grep ", "No turn there passes tool:grep. Try tool:search_text."),
        ("role:person timeout", "There is no role person."),
        ("timeout session:k3f0 ", "No turn there passes session:k3f0."),
    ],
)
async def test_a_filter_that_is_to_blame_is_named(shelf: Fixed, query: str, words: str) -> None:
    screen = browser(shelf, query=query)
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: words in said(screen))


async def test_turns_that_wait_for_the_index_are_told_of(shelf: Fixed, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        return replace(await real(query, **options), waiting_turns=12_000)

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, query="refreshToken")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "12,000 older turns are still being indexed" in said(screen) and found(screen))


async def test_an_empty_archive_says_so(tmp_path: Path) -> None:
    store = await ConversationStore.open(tmp_path / "empty.db")
    screen = ArchiveScreen(Fixed(store), session_id=None, workspace=HERE, query="anything")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found for “anything” in 0 turns of this workspace." in said(screen))
    await store.close()


async def test_nothing_found_names_near_words_and_what_limits_the_search(shelf: Fixed) -> None:
    screen = browser(shelf, query="minutes")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: screen.is_mounted and screen.query("#query"))
        await pilot.press("ctrl+u", *"midleware", "ctrl+r")
        await until(pilot, lambda: "Nearly so: middleware." in said(screen) and "lift the limits" in said(screen))


async def test_the_word_itself_is_no_nearly_so(shelf: Fixed) -> None:
    screen = browser(shelf, query="tool:no_such_tool middleware")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found for" in said(screen))
        assert "Nearly so: middleware" not in said(screen)


async def test_what_is_said_of_a_search_in_vain_is_read_to_its_end_in_a_narrow_terminal(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken file:src/a/rather/long/path/to/a/module.py")
    app = alone(screen)
    async with app.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: "^T searches more." in said(screen))
        await until(pilot, lambda: "more." in screen_text(app))


async def test_a_match_far_down_in_a_large_turn_is_what_is_seen_first(shelf: Fixed) -> None:
    text = "alpha beta\n" * 5_000 + "alpha zebra stands here\n" + "gamma delta\n" * 5_000
    await shelf.store.append_turn(id_of(shelf, "a1b2"), "user", text)
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await typed(pilot, screen, "alpha zebra")
        await until(pilot, lambda: "alpha zebra stands here" in preview(screen))

        def at_match() -> bool:
            page = screen.query_one(HitPreview).page
            return page is not None and preview(screen)[len(page.to_match.plain) :].startswith(("alpha zebra", "zebra"))

        await until(pilot, at_match)
        await pilot.press("down", "v")
        await until(pilot, lambda: isinstance(app.screen, TurnViewScreen))
        view = app.screen.query_one(TextView)
        await until(pilot, lambda: view.scroll_y > 1_000)
        lines = [view.render_line(y).text.rstrip() for y in range(view.size.height)]
        assert "alpha zebra stands here" in lines
