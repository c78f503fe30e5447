"""How the reasons look for which messages got no answer, or half of one, when the session is opened again."""

from __future__ import annotations

import pytest

from loom.archive.records import TurnStatus
from tests.support.turns import session_record, turn
from tests.tui.conftest import ChatApp
from tests.tui.test_chat_pictures import Compare
from tests.tui.test_failures import failed


@pytest.mark.parametrize("width", [100, 60], ids=["wide", "narrow"])
def test_opened_again(snap_compare: Compare, width: int) -> None:
    long = "openai-chat at 127.0.0.1:1234 failed inside. It said: [/foo] \x1b[2J overloaded. " + "Try again. " * 12
    turns = [
        turn(1, "user", "Why does the login time out?"),
        failed(2),
        failed(3),
        turn(4, "user", "And now?"),
        turn(5, "assistant", "The time-out is", status=TurnStatus.INTERRUPTED),
        failed(6, long),
        turn(7, "user", "Go on."),
        failed(8),
    ]
    app = ChatApp(turns=turns, session=session_record())
    app.service.unanswered = turns[-2]
    assert snap_compare(app, terminal_size=(width, 30))
