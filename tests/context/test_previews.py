"""How much of a tool output the window shows follows from the window's size, never beyond what the settings say."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from pydantic_ai.messages import ToolReturnPart

from loom.config import Settings
from loom.context.budget import budget_for
from loom.context.trimming import TrimRules
from loom.context.window import Window
from tests.support.window_rows import Rows, words

LONG = "a line of some output\n" * 2_000


def a_window(tokens: int, settings: Settings | None = None) -> Window:
    settings = settings or Settings()
    window = Window(words, settings, budget_for(settings, tokens))
    window.set_floor(tools=100, instructions=100)
    return window


def outputs(window: Window) -> list[int]:
    """Tokens of each tool output in the next request."""
    messages = window.assemble().messages
    return [words(str(p.content)) for m in messages for p in m.parts if isinstance(p, ToolReturnPart)]


@pytest.mark.parametrize(
    ("window", "tokens"),
    [
        (1_000_000, 4_000),
        (200_000, 4_000),
        (128_000, 4_000),
        (64_000, 1_866),
        (32_000, 800),
        (8_000, 300),
        (2_000, 300),
    ],
)
def test_one_output_takes_a_thirtieth_of_a_small_window(window: int, tokens: int) -> None:
    settings = Settings()
    assert TrimRules.of(settings, budget_for(settings, window)).preview_tokens == tokens


@pytest.mark.parametrize("setting", [0, 100])
def test_the_setting_is_never_exceeded_and_nothing_disables(setting: int) -> None:
    settings = Settings(tool_output_preview_tokens=setting)
    assert TrimRules.of(settings, budget_for(settings, 32_000)).preview_tokens == setting


def test_an_output_looks_the_same_from_its_first_request_to_the_end_of_its_exchange() -> None:
    rows, window = Rows(), a_window(32_000)
    window.add(rows.ask("look"))
    seen = []
    for n in range(8):
        window.add([*rows.call(f"c{n}"), *rows.result(f"c{n}", LONG)])
        seen.append(outputs(window))
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(seen))
    assert all(700 <= tokens <= 800 for tokens in seen[-1])


def test_a_window_that_proves_smaller_shows_less_of_each_output() -> None:
    rows, window = Rows(), a_window(200_000)
    for n in range(6):
        window.add(rows.exchange_with_output(f"look {n}", LONG))
    window.add(rows.ask("and now?"))
    assert all(3_500 <= tokens <= 4_000 for tokens in outputs(window))
    window.overflowed(16_000)
    assert all(300 <= tokens <= 400 for tokens in outputs(window))
    assert window.assemble().recipe.rules.preview_tokens == 400, "time travel lays it out in the same way"


def test_a_resumed_session_looks_as_it_did() -> None:
    rows, window = Rows(), a_window(32_000)
    for n in range(3):
        window.add(rows.exchange_with_output(f"look {n}", LONG))
    window.add(rows.ask("and now?"))
    resumed = a_window(32_000)
    asyncio.run(resumed.load(rows))
    assert resumed.assemble().messages == window.assemble().messages
