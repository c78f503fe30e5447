"""What was wrong with the arguments of a call, in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.locations import Locations
from loom.tui.argument_errors import argument_errors
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.card_title import CardState
from loom.tui.widgets.text_view import TextView
from loom.tui.widgets.tool_card import ToolCard
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Call, Reply, Text
from tests.support.seat import seated

WRONG = {"paht": "a.py", "offset": "first"}


def fenced(*errors: dict[str, object]) -> str:
    many = "error" if len(errors) == 1 else "errors"
    listed = json.dumps(errors, indent=2)
    return f"{len(errors)} validation {many}:\n```json\n{listed}\n```\n\nFix the errors and try again."


ERRORS: tuple[dict[str, object], ...] = (
    {"type": "missing", "loc": ["path"], "msg": "Field required", "input": {"paht": 3}},
    {"type": "string_type", "loc": ["args", 1], "msg": "Input should be a valid string", "input": 4},
    {"type": "extra_forbidden", "loc": ["paht"], "msg": "Extra inputs are not permitted", "input": 3},
    {"type": "json_invalid", "loc": [], "msg": "Invalid JSON: EOF", "input": "{"},
)


@pytest.mark.parametrize("told", [fenced(*ERRORS), json.dumps(ERRORS)], ids=["in a fence", "bare"])
def test_each_argument_is_named_with_what_was_wrong(told: str) -> None:
    assert argument_errors(told).split("\n") == [
        "The model called it with 4 wrong arguments:",
        "  path: is missing",
        "  args[1]: input should be a valid string; it was 4",
        "  paht: there is no such argument",
        "  the arguments: no JSON (Invalid JSON: EOF)",
    ]


@given(st.text(max_size=300))
def test_whatever_else_was_said_stays_as_it_is(text: str) -> None:
    assert argument_errors(text) == text
    in_fence = f"1 validation error:\n```json\n{text}\n```"
    assert argument_errors(in_fence) == in_fence


async def test_a_wrong_call_is_told_in_words_and_r_shows_what_the_model_was_told(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Request) -> Reply:
        if any(message["role"] == "tool" for message in request.messages):
            return Reply(Text("I see."))
        return Reply(Call("read_file", WRONG))

    with ScriptedProvider(answer) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
        async with seated(locations, workspace, wanted_model="openai-chat:test") as seat:
            await seat.ready()
            await seat.talk("read it")
            card = seat.chat.query_one(ToolCard)
            assert card.state is CardState.FAILED
            card.focus()
            await seat.pilot.press("o")
            await seat.until(lambda: isinstance(seat.app.screen, WholeTextScreen))
            text = seat.app.screen.query_one(TextView).text
            assert "path: is missing" in text and "offset:" in text and "it was" in text
            assert "```" not in text and '"loc"' not in text
            await seat.pilot.press("r")
            await seat.until(lambda: '"loc"' in seat.app.screen.query_one(TextView).text)
