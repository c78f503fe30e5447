"""The archive browser, on a real archive."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input, Static

from loom.archive import ConversationStore
from loom.archive.purge import purge
from loom.archive.records import SearchHit, SearchPage, TurnKind
from loom.state.pins import pin_meta
from loom.text import UNSAFE
from loom.tui.choices import AttachTurn, ForkAt, JumpTo
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.turn_view import TurnViewScreen
from loom.tui.widgets.facet_bar import Facets, Scope, next_facet
from loom.tui.widgets.hit_list import HitList, SessionHeading
from loom.tui.widgets.hit_preview import HitPreview
from loom.tui.widgets.text_view import TextView
from tests.support.browsing import HERE, HOSTILE, NOW, Fixed, alone, fill, id_of, screen_text, until


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Fixed]:
    fixed = await fill(tmp_path / "archive.db")
    yield fixed
    await fixed.store.close()


def browser(shelf: Fixed, *, session: str | None = "a1b2", **options: Any) -> ArchiveScreen:
    session_id = id_of(shelf, session) if session else None
    return ArchiveScreen(shelf, session_id=session_id, workspace=HERE, clock=lambda: NOW, **options)


def found(screen: ArchiveScreen) -> list[str]:
    """What the list says: a session's reference, or a hit's turn."""
    return [
        item.reference if isinstance(item, SessionHeading) else f"T{item.turn_number}"
        for item in screen.query_one(HitList).items
    ]


def said(screen: ArchiveScreen) -> str:
    return str(screen.query_one("#said", Static).content)


def preview(screen: ArchiveScreen) -> str:
    page = screen.query_one(HitPreview).page
    return page.content.plain if page is not None else ""


async def typed(pilot: Pilot[Any], screen: ArchiveScreen, query: str) -> None:
    await until(pilot, lambda: screen.is_mounted and screen.query("#query"))
    await pilot.press(*query)
    await until(pilot, lambda: found(screen) or "Nothing found" in said(screen))


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


async def test_enter_jumps_from_the_query_and_from_the_hits(shelf: Fixed) -> None:
    for keys in (["enter"], ["down", "enter"]):
        screen = browser(shelf, query="refreshToken")
        app = alone(screen)
        async with app.run_test() as pilot:
            await until(pilot, lambda screen=screen: found(screen)[:2] == ["a1b2", "T4"])  # type: ignore[misc]
            await pilot.press(*keys)
            await until(pilot, lambda app=app: app.left)  # type: ignore[misc]
        assert app.result == JumpTo(id_of(shelf, "a1b2"), 4)


async def test_a_turn_that_is_named_is_gone_to(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.is_mounted and screen.query("#query"))
        await pilot.press(*"T3")
        await until(pilot, lambda: said(screen).startswith("Enter goes to T3 of this session."))
        await pilot.press("enter")
        await until(pilot, lambda: app.left)
    assert app.result == JumpTo(id_of(shelf, "a1b2"), 3)


async def test_a_turn_that_is_not_there_is_said_to_be(shelf: Fixed) -> None:
    screen = browser(shelf, query="T4000")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Enter goes to T4000" in said(screen))
        await pilot.press("enter")
        await until(pilot, lambda: said(screen) == "This session has no T4000.")
        assert not app.left


async def test_without_a_session_a_turn_that_is_named_is_words_like_others(shelf: Fixed) -> None:
    screen = browser(shelf, session=None, query="T4000")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found" in said(screen))
        assert "Enter goes" not in said(screen)


@pytest.mark.parametrize(("key", "kind"), [("a", AttachTurn), ("f", ForkAt)])
async def test_a_attaches_and_f_forks(shelf: Fixed, key: str, kind: type) -> None:
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: found(screen)[:2] == ["a1b2", "T4"])
        await pilot.press("down", key)
        await until(pilot, lambda: app.left)
    assert app.result == kind(id_of(shelf, "a1b2"), 4)


async def test_y_copies_and_e_asks_for_an_export_and_both_stay(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: found(screen))
        await pilot.press("down", "y", "e")
        await until(pilot, lambda: app.clipboard.startswith("The refreshToken call"))
        await until(pilot, lambda: app.messages)
        assert app.messages[0].query == "refreshToken" and app.messages[0].hits
        assert not app.left


async def test_in_the_query_the_commands_are_letters(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await typed(pilot, screen, "pyfev?/")
        assert screen.query_one("#query", Input).value == "pyfev?/"
        assert not app.left


async def test_up_from_the_first_hit_and_slash_go_back_to_the_query(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: found(screen))
        for back in ("up", "slash"):
            await pilot.press("down")
            assert isinstance(screen.focused, HitList)
            await pilot.press(back)
            await until(pilot, lambda: isinstance(screen.focused, Input))


async def test_the_scope_widens_from_session_to_workspace_to_everything(shelf: Fixed) -> None:
    screen = browser(shelf, session="k3f9", query="アーカイブ")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found" in said(screen) and "this session" in said(screen))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "Nothing found" in said(screen) and "this workspace" in said(screen))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "z9y8" in found(screen))
        await pilot.click("#query")
        await pilot.click("Facet")
        await until(pilot, lambda: "this session" in said(screen))


async def test_without_a_session_it_begins_with_the_workspace(shelf: Fixed) -> None:
    screen = browser(shelf, session=None, query="timeout")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "k3f9" in found(screen))


async def test_role_tool_and_time_limit_what_is_found(shelf: Fixed) -> None:
    screen = browser(shelf, scope=Scope.WORKSPACE, query="login timeout seconds")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "T3" in found(screen))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "T3" not in found(screen) and "T1" in found(screen))
        await pilot.press("ctrl+r", "ctrl+r", "ctrl+r", "ctrl+o")
        await until(pilot, lambda: found(screen) == ["a1b2", "T3"])
        await pilot.press("ctrl+g")
        await until(pilot, lambda: found(screen) == ["a1b2", "T3"])


def test_facets_go_round() -> None:
    scopes = (Scope.WORKSPACE, Scope.ALL)
    facets = Facets(Scope.WORKSPACE)
    assert next_facet(facets, "scope", scopes=scopes, tools=()).scope is Scope.ALL
    assert next_facet(Facets(Scope.ALL), "scope", scopes=scopes, tools=()).scope is Scope.WORKSPACE
    assert next_facet(facets, "tool", scopes=scopes, tools=()).tool is None
    assert next_facet(facets, "tool", scopes=scopes, tools=("a",)).tool == "a"
    assert Facets(Scope.ALL, "tool", "read_file", 7).words() == "everything, role tool, tool read_file, last 7 days"
    assert Facets(Scope.ALL, days=1).after(NOW) == "2026-03-03T12:00:00.000000Z"
    assert Facets(Scope.ALL).after(NOW) is None


async def test_nothing_found_says_what_was_searched(shelf: Fixed) -> None:
    screen = browser(shelf, query="zebra crossing")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found for “zebra crossing” in 6 turns of this session" in said(screen))


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


async def test_what_is_said_of_a_search_in_vain_is_read_to_its_end_in_a_narrow_terminal(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken file:src/a/rather/long/path/to/a/module.py")
    app = alone(screen)
    async with app.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: "^T searches more." in said(screen))
        await until(pilot, lambda: "more." in screen_text(app))


async def test_a_search_that_ends_while_the_screen_goes_does_no_harm(
    shelf: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        page = await real(query, **options)
        asked.set()
        while screen.query(HitList):
            await asyncio.sleep(0)
        return page

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, query="timeout")
    async with alone(screen).run_test():
        await asked.wait()


async def test_a_later_search_replaces_a_slower_earlier_one(shelf: Fixed, monkeypatch: pytest.MonkeyPatch) -> None:
    first_is_out, go_on = asyncio.Event(), asyncio.Event()
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        if query == "build":
            first_is_out.set()
            await go_on.wait()
        return await real(query, **options)

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, scope=Scope.WORKSPACE, query="build")
    async with alone(screen).run_test() as pilot:
        await first_is_out.wait()
        # The keyboard is free while the first one is still out.
        await pilot.press("ctrl+u", *"refreshToken")
        await until(pilot, lambda: found(screen)[:2] == ["a1b2", "T4"])
        go_on.set()
        await pilot.pause()
        assert "k3f9" not in found(screen)


async def test_enter_means_the_first_hit_of_what_stands_in_the_box(
    shelf: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        if query == "timeout build":
            asked.set()
            await go_on.wait()
        return await real(query, **options)

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, scope=Scope.WORKSPACE, query="timeout")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: found(screen))
        await pilot.press(*" build")
        await asked.wait()
        await pilot.press("enter")
        await pilot.pause()
        assert not app.left, "the list is still that of the query before"
        go_on.set()
        await until(pilot, lambda: app.left)
        best = (await real("timeout build", workspace=HERE)).hits[0]
    assert app.result == JumpTo(best.session_id, best.turn_number)


async def test_a_burst_of_keys_goes_where_it_was_meant_to(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.is_mounted and screen.query("#query"))
        for key in (*"refreshToken", "down", "a"):
            # All of them are there before the first is looked at, as when a slow machine catches up.
            app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: app.left)
    assert app.result == AttachTurn(id_of(shelf, "a1b2"), 4)


async def test_letters_behind_the_key_that_leads_to_the_query_are_all_in_it(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: found(screen))
        await pilot.press("down")
        for key in ("slash", "ctrl+u", *"E04ayf"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: isinstance(screen.focused, Input))
        await until(pilot, lambda: screen.query_one("#query", Input).value == "E04ayf")


@pytest.mark.parametrize(("key", "kind"), [("a", AttachTurn), ("f", ForkAt), ("enter", JumpTo)])
async def test_keys_pressed_while_it_searches_are_meant_for_the_first_hit(
    shelf: Fixed, monkeypatch: pytest.MonkeyPatch, key: str, kind: type
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        asked.set()
        await go_on.wait()
        return await real(query, **options)

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await asked.wait()
        await pilot.press("down", key)
        assert not app.left and screen.query_one("#query", Input).value == "refreshToken"
        go_on.set()
        await until(pilot, lambda: app.left)
    assert app.result == kind(id_of(shelf, "a1b2"), 4)


async def test_down_to_hits_that_never_come_leads_back_to_the_query(
    shelf: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        asked.set()
        await go_on.wait()
        return await real(query, **options)

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, query="zebra crossing")
    app = alone(screen)
    async with app.run_test() as pilot:
        await asked.wait()
        await pilot.press("down", "a", "e", "y", "f", "v", "enter")
        go_on.set()
        await until(pilot, lambda: "Nothing found" in said(screen) and isinstance(screen.focused, Input))
        await pilot.press("down", "s")
        assert screen.query_one("#query", Input).value == "zebra crossings"
        assert not app.left and not app.messages


async def test_typing_after_enter_takes_the_jump_back(shelf: Fixed, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = asyncio.Event()
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        await go_on.wait()
        return await real(query, **options)

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, query="timeou")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.query("#query"))
        await pilot.press("enter", "t")
        go_on.set()
        await until(pilot, lambda: found(screen))
        await pilot.pause()
        assert not app.left


async def test_what_was_purged_meanwhile_is_said_and_nothing_breaks(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "refreshToken" in preview(screen))
        await asyncio.to_thread(purge, shelf.store.path, id_of(shelf, "a1b2"), shelf.store.path.parent)
        await pilot.press("down", "down")
        await until(pilot, lambda: "not in the archive any more" in preview(screen))
        await pilot.press("y")
        await until(pilot, lambda: "not in the archive any more" in said(screen))
        assert not app.clipboard
        await pilot.press("v")
        await pilot.pause()
        assert app.screen is screen
        await pilot.press("e")
        await until(pilot, lambda: "None of these turns" in said(screen))
        assert not app.messages, "what was purged is not written to a file"
        await pilot.press("slash", "x")
        await until(pilot, lambda: "Nothing found" in said(screen))


async def test_turns_that_wait_for_the_index_are_told_of(shelf: Fixed, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        return replace(await real(query, **options), waiting_turns=12_000)

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, query="refreshToken")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "12,000 older turns are still being indexed" in said(screen) and found(screen))


async def test_a_turn_that_is_damaged_breaks_nothing(shelf: Fixed) -> None:
    with closing(sqlite3.connect(shelf.store.path)) as intruder:
        for (name,) in intruder.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'conversation_turns'"
        ).fetchall():
            intruder.execute(f"DROP TRIGGER {name}")
        intruder.execute("UPDATE conversation_turns SET tool_calls = '{broken', part_json = '[' WHERE turn_number = 4")
        intruder.commit()
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: found(screen))
        await until(pilot, lambda: "is damaged and cannot be read" in said(screen) and "loom recover" in said(screen))
        await pilot.press("down", "y", "v")
        await pilot.pause()
        assert app.screen is screen and not app.clipboard
        await pilot.press("slash", "ctrl+u", *"configurable")
        await until(pilot, lambda: "T5 user" in preview(screen))


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


@pytest.mark.parametrize("query", ['" OR 1=1 NEAR(', "\\", "'; DROP TABLE", "😀😀", "*", '"', "a" * 5_000])
async def test_no_query_does_any_harm(shelf: Fixed, query: str) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.query("#query"))
        screen.query_one("#query", Input).value = query
        await until(pilot, lambda: "Nothing found" in said(screen) or "Type at least" in said(screen) or found(screen))
        assert not screen.query_one("#said").has_class("-error")


@pytest.mark.parametrize("size", [(60, 16), (80, 30), (160, 40)])
async def test_hostile_turns_are_drawn_literally(shelf: Fixed, size: tuple[int, int]) -> None:
    session_id = await shelf.store.create_session(HERE, "offline", "", title=HOSTILE)
    await shelf.store.append_turn(session_id, "user", f"needleword {HOSTILE} " * 50)
    await shelf.store.append_turn(session_id, "tool", HOSTILE, tool_name="[/x]\x1b[2J")
    screen = browser(shelf, scope=Scope.ALL, query="needleword")
    app = alone(screen)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "[/foo]" in preview(screen))
        rows = screen.query_one(HitList)
        drawn = preview(screen) + "".join(rows.render_line(y).text for y in range(rows.size.height))
        assert not UNSAFE.search(drawn)
        await pilot.press("down", "v")
        await until(pilot, lambda: isinstance(app.screen, TurnViewScreen))


async def test_a_huge_turn_is_previewed_around_the_match_and_v_shows_the_whole(shelf: Fixed) -> None:
    lines = [f"line {n}" for n in range(20_000)]
    lines[10_000] = "the needleword is here"
    session_id = id_of(shelf, "a1b2")
    await shelf.store.append_turn(session_id, "tool", "\n".join(lines), tool_name="read_file")
    screen = browser(shelf, query="needleword")
    app = alone(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "the needleword is here" in preview(screen))
        assert "characters before" in preview(screen) and "characters after" in preview(screen)
        assert len(preview(screen)) < 12_000
        await until(pilot, lambda: screen.query_one(HitPreview).scroll_y > 10)
        await pilot.press("down", "v")
        await until(pilot, lambda: isinstance(app.screen, TurnViewScreen))
        assert app.screen.query_one(TextView).text == "\n".join(lines)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)


async def test_help_and_escape(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("escape")
        await until(pilot, lambda: app.left)
    assert app.result is None


class Lingers(Static):
    """The last widget of its screen to go; `gone` is called when the hits have gone already."""

    def __init__(self, gone: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._gone = gone

    async def on_unmount(self) -> None:
        screen = self.screen
        while screen.query(HitList):
            await asyncio.sleep(0)
        await self._gone()


async def test_a_search_that_ends_while_the_browser_closes_ends_nothing_else(shelf: Fixed) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Fixed):
        async def search(self, *args: Any, **options: Any) -> SearchPage:
            asked.set()
            await go_on.wait()
            return await super().search(*args, **options)

    slow = Slow(shelf.store, shelf.made)
    screen = browser(slow, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await asked.wait()
        (search,) = [worker for worker in app.workers if worker.group == "search"]

        async def finish() -> None:
            go_on.set()
            while not search.is_finished:
                await asyncio.sleep(0)

        await screen.mount(Lingers(finish))
        await pilot.press("escape")
        await until(pilot, lambda: app.left and search.is_finished)
    assert search.is_cancelled
