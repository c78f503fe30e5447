"""How the turns look that were rewound past, between what came before and what was said instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from loom.archive.records import PERSON_COMMAND, TurnKind, TurnStatus
from loom.context.edges import Beginning, Edges, rewound_meta
from loom.tui.themes import THEMES
from tests.support.turns import call_turn, person_command, result_turn, session_record, turn
from tests.tui.conftest import ChatApp
from tests.tui.test_chat_pictures import Compare

WORDS = "Rewound to before T3: T3–T11 are out of the window, kept in the archive. /unrewind puts it back."
NOTE = replace(
    turn(12, "system", WORDS),
    kind=TurnKind.NOTE,
    message_meta=rewound_meta(Beginning(), Beginning(Edges()), 3),
)
TURNS = [
    turn(1, "user", "Why does the login time out?"),
    turn(2, "assistant", "The time-out is **5 seconds**."),
    turn(3, "user", "Then make it retry three times, and raise the time-out to a minute."),
    replace(turn(4, "assistant", "The person wants retries."), kind=TurnKind.THINKING),
    call_turn(5, "c1", "read_file", {"path": "no/such/file.py"}),
    result_turn(6, "c1", "read_file", "There is no such file.", status=TurnStatus.FAILED),
    call_turn(7, "c2", "shell_execute", {"command": "pytest -q"}),
    result_turn(8, "c2", "shell_execute", "12 passed", {"exit_code": 0}),
    person_command(9, "c3", "git status"),
    result_turn(10, "c3", PERSON_COMMAND, "nothing to commit", {"exit_code": 0}),
    turn(11, "assistant", "Done: `login()` retries.\n\n- three times\n- a minute each"),
    NOTE,
    turn(13, "user", "Raise it to 30 seconds and leave the rest."),
    turn(14, "assistant", "It is 30 seconds now."),
]


@pytest.fixture
def app() -> ChatApp:
    app = ChatApp(turns=TURNS, session=session_record())
    app.service.state = replace(app.service.state, rewound=((3, 12),))
    return app


@pytest.mark.parametrize("theme", [*(each.name for each in THEMES), "nord"])
def test_turns_that_were_rewound_past(app: ChatApp, snap_compare: Compare, theme: str) -> None:
    async def themed(pilot: Pilot[Any]) -> None:
        pilot.app.theme = theme

    assert snap_compare(app, terminal_size=(100, 44), run_before=themed)


def test_narrow(app: ChatApp, snap_compare: Compare) -> None:
    assert snap_compare(app, terminal_size=(60, 44))


def test_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = ChatApp(turns=TURNS, session=session_record())
    app.service.state = replace(app.service.state, rewound=((3, 12),))
    assert snap_compare(app, terminal_size=(60, 44))
