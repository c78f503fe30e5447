"""Filling the window of a session that is taken up again, while the rest of the program goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from loom.config import Settings
from loom.context.budget import Budget
from loom.context.window import Window
from tests.support.window_rows import Rows, words

LONG = 10_000


async def test_long_outputs_are_counted_beside_the_event_loop_and_once() -> None:
    rows = Rows()
    for number in range(60):
        rows.exchange_with_output(f"wish {number}", f"line of {number}\n" * LONG)
    counted: list[tuple[str, bool]] = []

    def count(text: str) -> int:
        if len(text) >= LONG:
            counted.append((text, threading.current_thread() is threading.main_thread()))
        return words(text)

    settings = Settings(tool_output_preview_tokens=LONG)
    window = Window(count, settings, Budget(4_000_000, 1_000, settings.high_water, settings.low_water))
    await window.load(rows)
    assert window.turns == ((1, 240),)
    assert window.usage().used > 60 * LONG / 4
    assert window.assemble().messages
    assert len(counted) >= 60
    assert not any(on_loop for _, on_loop in counted)


async def test_what_was_counted_while_the_counter_became_better_is_counted_again() -> None:
    rows = Rows()
    for number in range(20):
        rows.exchange_with_output(f"wish {number}", f"line of {number}\n" * 50)
    better = False

    def count(text: str) -> int:
        nonlocal better
        if "line of 10" in text and not better:
            better = True
            window.recount()
        return words(text) if better else 1

    def made(counter: Callable[[str], int]) -> Window:
        settings = Settings(tool_output_preview_tokens=LONG)
        return Window(counter, settings, Budget(4_000_000, 1_000, settings.high_water, settings.low_water))

    window, other = made(count), made(words)
    await window.load(rows)
    await other.load(rows)
    assert better
    assert window.usage().used == other.usage().used


async def test_what_is_stored_while_the_rows_are_counted_is_in_the_window() -> None:
    rows = Rows()
    for number in range(20):
        rows.exchange_with_output(f"wish {number}", f"line of {number}\n" * 50)
    loop = asyncio.get_running_loop()
    stored = threading.Event()

    def store() -> None:
        window.add(rows.ask("a message in between"))
        stored.set()

    def count(text: str) -> int:
        if "line of 10" in text and not stored.is_set():
            loop.call_soon_threadsafe(store)
            assert stored.wait(60)
        return words(text)

    settings = Settings(tool_output_preview_tokens=LONG)
    window = Window(count, settings, Budget(4_000_000, 1_000, settings.high_water, settings.low_water))
    await window.load(rows)
    assert stored.is_set()
    assert [turn.content for turn in rows.turns][-1] == "a message in between"
    assert window.turns[-1][1] == rows.turns[-1].turn_number
    assert "a message in between" in str(window.assemble().messages[-1])
