"""How what left the window looks: its line with the keyboard on it, a summary, a clearing that was taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from loom.archive.records import TurnKind
from loom.context.edges import Beginning, Edges, compaction_meta
from loom.tui.screens.left_turns import LeftList, LeftTurnsScreen
from loom.tui.widgets.receipt import Receipt
from tests.support.turns import session_record, turn
from tests.tui.conftest import ChatApp
from tests.tui.test_chat_pictures import Compare

SUMMARY = replace(
    turn(41, "system", "Goal: mend the login."),
    kind=TurnKind.SUMMARY,
    message_meta=compaction_meta(Beginning(), 40, 12_300),
    token_count=812,
    cost_usd=0.0041,
)
RECEIPT = replace(
    turn(44, "system", "T1–T3 left the window: 3 files, 5 commands, kept in the archive"),
    kind=TurnKind.RECEIPT,
    message_meta=Beginning(Edges(left_to=3)).meta(left=[[1, 3]]),
)
TURNS = [
    turn(1, "user", "Why does the login time out?"),
    turn(2, "assistant", "The time-out is 5 seconds."),
    turn(3, "user", "Raise it."),
    SUMMARY,
    turn(42, "user", "Go on."),
    turn(43, "assistant", "Going on."),
    RECEIPT,
]


@pytest.fixture
def app() -> ChatApp:
    return ChatApp(turns=TURNS, session=session_record())


async def on_the_receipt(pilot: Pilot[Any]) -> None:
    pilot.app.screen.query_one(Receipt).focus()
    await pilot.pause()


async def opened(pilot: Pilot[Any]) -> None:
    await on_the_receipt(pilot)
    await pilot.press("enter")
    while not isinstance(pilot.app.screen, LeftTurnsScreen) or not pilot.app.screen.query_one(LeftList).items:
        await pilot.pause()
    await pilot.pause()


def test_what_left_and_what_can_be_done(app: ChatApp, snap_compare: Compare) -> None:
    assert snap_compare(app, terminal_size=(80, 24), run_before=on_the_receipt)


def test_narrow(app: ChatApp, snap_compare: Compare) -> None:
    assert snap_compare(app, terminal_size=(60, 24), run_before=on_the_receipt)


def test_the_turns_that_left(app: ChatApp, snap_compare: Compare) -> None:
    assert snap_compare(app, terminal_size=(80, 14), run_before=opened)
