"""Filling the window of a session that is taken up again, while the rest of the program goes on."""

from __future__ import annotations

import threading

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
    assert window.request_messages()
    assert len(counted) >= 60
    assert not any(on_loop for _, on_loop in counted)
