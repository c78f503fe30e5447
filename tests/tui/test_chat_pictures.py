"""Pictures of the chat screen; `snapshots/chat/` holds them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from loom.archive.records import TurnStatus
from loom.context.usage import Segment, WindowUsage
from loom.cowork.events import (
    ApprovalAsked,
    CommandOutput,
    Event,
    ExchangeEnded,
    ExchangeStarted,
    Outcome,
    QueueChanged,
    SaveFailed,
    TakenOver,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolRunning,
    ToolStarted,
    TurnStored,
    UsageChanged,
    WindowTrimmed,
)
from loom.errors import LoomError
from loom.models.choice import ModelChoice
from loom.tools.outcome import Preview
from loom.tui.passing import Passing
from loom.tui.widgets.card_title import CardTitle
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.said_line import SaidLine
from loom.tui.widgets.status import StatusLine
from loom.tui.widgets.tool_card import ToolCard
from tests.support.clock import Clock
from tests.support.turns import call_turn, person_command, result_turn, session_record, turn
from tests.tui.conftest import ChatApp
from tests.tui.test_state_panel import FULL

Compare = Callable[..., bool]
DIFF = """\
--- a/shop/login.py
+++ b/shop/login.py
@@ -10,4 +10,4 @@
 def login(user, password):
-    session = connect(timeout=5)
+    session = connect(timeout=30)
     return session.check(user, password)
"""
ANSWER = """\
The time-out is **5 seconds** in `shop/login.py`; a slow database needs more. I would:

1. raise it to 30
2. keep the retry as it is

| place | now | then |
|---|---|---|
| `login.py` | 5 | 30 |

```python
session = connect(timeout=30)
```
"""
HISTORY = [
    turn(1, "user", "Why does the login time out? Never touch the database schema."),
    call_turn(2, "c1", "search_text", {"pattern": "timeout", "path": "shop"}),
    result_turn(3, "c1", "search_text", "shop/login.py:11: timeout=5", {"matches": 1, "duration_ms": 40}),
    turn(4, "assistant", ANSWER),
]


@pytest.fixture
def app() -> ChatApp:
    return ChatApp(turns=HISTORY, session=session_record())


def told(*events: Event, keys: tuple[str, ...] = ()) -> Callable[[Pilot[Any]], Awaitable[None]]:
    """Runs before the picture: the events are drawn, then the keys pressed."""

    async def run(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, ChatApp)
        app.service.busy = True
        app.service.tell(*events)
        await app.chat.drawn()
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()

    return run


def test_empty(snap_compare: Compare) -> None:
    assert snap_compare(ChatApp(), terminal_size=(100, 30))


NO_KEY = ModelChoice(
    "offline",
    "no key and no local server",
    200_000,
    False,
    "This is loom's offline model, since no key is set. For a real model set ANTHROPIC_API_KEY, OPENAI_API_KEY or "
    "GEMINI_API_KEY, point OPENAI_BASE_URL at a local server, or start Ollama.",
)


@pytest.fixture
def without_a_key() -> ChatApp:
    app = ChatApp()
    app.service.choice = NO_KEY
    return app


def test_welcome(snap_compare: Compare, without_a_key: ChatApp) -> None:
    assert snap_compare(without_a_key, terminal_size=(120, 40))


def test_narrow_welcome(snap_compare: Compare, without_a_key: ChatApp) -> None:
    assert snap_compare(without_a_key, terminal_size=(60, 16))


def test_welcome_without_a_model(snap_compare: Compare) -> None:
    app = ChatApp()
    app.service.choice = ModelChoice("anthropic:[/foo]", "asked for", 200_000, True)
    app.service.problem = LoomError(
        "`anthropic:[/foo]` cannot be used: ANTHROPIC_API_KEY is not set.",
        "Set it before loom starts (export ANTHROPIC_API_KEY=…). The model `offline` works without any.",
    )
    assert snap_compare(app, terminal_size=(60, 16))


def test_resumed(snap_compare: Compare, app: ChatApp) -> None:
    assert snap_compare(app, terminal_size=(120, 36))


def test_light(snap_compare: Compare, app: ChatApp) -> None:
    async def light(pilot: Pilot[Any]) -> None:
        pilot.app.theme = "loom-light"

    assert snap_compare(app, terminal_size=(120, 36), run_before=light)


RUNNING: tuple[Event, ...] = (
    ExchangeStarted(2),
    TurnStored(turn(5, "user", "Raise it and run the tests.", exchange=2)),
    ThinkingDelta("The person wants 30 seconds."),
    ToolStarted("c2", "edit_file", {"path": "shop/login.py", "old_text": "timeout=5", "new_text": "timeout=30"}, 6),
    ToolFinished(
        "c2",
        result_turn(7, "c2", "edit_file", "edited", {"path": "shop/login.py", "diff": DIFF, "added": 1, "removed": 1}),
        90,
    ),
    ToolStarted("c3", "read_file", {"path": "no/such/file.py"}, 8),
    ToolFinished("c3", result_turn(9, "c3", "read_file", "There is no such file.", status=TurnStatus.FAILED), 3),
    TextDelta("Now the tests: "),
    ToolStarted("c4", "shell_execute", {"command": "pytest -q tests/test_login.py"}, 10),
    ToolRunning("c4"),
    QueueChanged(("and then commit it",)),
)


def test_interrupted_with_a_queue(snap_compare: Compare, app: ChatApp) -> None:
    app.service.waiting, app.service.held = ("and then commit it", "!git push", "what is next?"), 3
    app.service.unanswered = turn(5, "user", "Run the tests", exchange=2)
    events = (TurnStored(app.service.unanswered), ExchangeEnded(2, Outcome.INTERRUPTED), QueueChanged(()))
    assert snap_compare(app, terminal_size=(100, 30), run_before=told(*events))


def test_running(snap_compare: Compare, app: ChatApp) -> None:
    app.service.waiting = ("and then commit it",)
    assert snap_compare(app, terminal_size=(100, 40), run_before=told(*RUNNING))


PYTEST = "\n".join(f"tests/test_login.py::test_{n} PASSED [{n:3}%]" for n in range(70, 84))
CUT = "test_login.py::test_7 PASSED\n[cut off: loom was ended while it ran, and may have ended it before it was done]"


@pytest.mark.parametrize("size", [(100, 40), (60, 24)], ids=["wide", "narrow"])
def test_command_of_the_model(snap_compare: Compare, size: tuple[int, int]) -> None:
    interrupted = [
        call_turn(5, "c0", "shell_execute", {"command": "pytest -v tests/test_login.py"}),
        result_turn(6, "c0", "shell_execute", CUT, status=TurnStatus.INTERRUPTED),
    ]
    app = ChatApp(turns=[*HISTORY[:1], *interrupted], session=session_record())
    events = (
        ExchangeStarted(2),
        TurnStored(turn(7, "user", "Run them again.", exchange=2)),
        ToolStarted("c4", "shell_execute", {"command": "pytest -v tests/test_login.py"}, 8),
        ToolRunning("c4"),
        CommandOutput("c4", f"{PYTEST}\n…␍collecting 12 items"),
    )

    async def for_a_while(pilot: Pilot[Any]) -> None:
        await told(*events)(pilot)
        app.clock.advance(83)
        app.chat.query(CardTitle).last().refresh()
        app.chat.query_one(StatusLine).refresh()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=for_a_while)


COMMAND = ApprovalAsked(
    "c4",
    "shell_execute",
    Preview(
        title="Run a command",
        body="rm -rf build && pytest -q tests/test_login.py --maxfail=1 --color=no "
        "&& git diff --stat HEAD~3 -- shop/login.py shop/session.py && echo all of it stands here",
        kind="command",
        scope="shell commands that are exactly this one",
        scope_key="k",
        warning="deletes files recursively",
    ),
)


def test_approval_of_a_command(snap_compare: Compare, app: ChatApp) -> None:
    asked = (*RUNNING[:2], ToolStarted("c4", "shell_execute", {"command": "rm -rf build && pytest"}, 6), COMMAND)
    assert snap_compare(app, terminal_size=(100, 34), run_before=told(*asked))


EDIT = ApprovalAsked(
    "c2",
    "edit_file",
    Preview("Edit shop/login.py", DIFF, "diff", "edits to files in this workspace", "edits"),
)


def test_approval_of_a_diff(snap_compare: Compare, app: ChatApp) -> None:
    asked = (*RUNNING[:2], ToolStarted("c2", "edit_file", {"path": "shop/login.py"}, 6), EDIT)
    assert snap_compare(app, terminal_size=(100, 34), run_before=told(*asked))


def test_narrow_approval(snap_compare: Compare, app: ChatApp) -> None:
    asked = (*RUNNING[:2], ToolStarted("c2", "edit_file", {"path": "shop/login.py"}, 6), EDIT)
    assert snap_compare(app, terminal_size=(60, 16), run_before=told(*asked))


def test_approval_while_writing(snap_compare: Compare, app: ChatApp) -> None:
    async def writing(pilot: Pilot[Any]) -> None:
        assert isinstance(pilot.app, ChatApp)
        pilot.app.chat.query_one(Composer).insert("and also")
        await told(*RUNNING[:2], COMMAND)(pilot)

    assert snap_compare(app, terminal_size=(80, 30), run_before=writing)


def test_narrow(snap_compare: Compare, app: ChatApp) -> None:
    assert snap_compare(app, terminal_size=(60, 16))


def test_completion(snap_compare: Compare, app: ChatApp) -> None:
    assert snap_compare(app, terminal_size=(80, 24), press=["slash", "c", "down"])


def test_ended_badly(snap_compare: Compare, app: ChatApp) -> None:
    events = (
        ExchangeStarted(2),
        TurnStored(turn(5, "user", "Go on.", exchange=2)),
        TextDelta("The first half of an ans"),
        TurnStored(turn(6, "assistant", "The first half of an ans", status=TurnStatus.INTERRUPTED, exchange=2)),
        ExchangeEnded(2, Outcome.INTERRUPTED),
        WindowTrimmed(1, 4, "T1–T4 left the window: 1 file, kept in the archive"),
        TurnStored(turn(7, "user", "Again.", exchange=3)),
        ExchangeEnded(3, Outcome.FAILED, "The provider answered 529: overloaded. Try again in a minute."),
        SaveFailed("The disk is full.", "Free some space."),
    )
    assert snap_compare(app, terminal_size=(100, 36), run_before=told(*events))


HOSTILE = (
    "[/foo] [@click=app.quit]quit[/] [red]\x1b[31mred\x1b]8;;http://evil\x07link\x1b]52;c;AAAA\x07 \u202eback\u2066 a[b"
)


def test_hostile_text(snap_compare: Compare) -> None:
    events = (
        TurnStored(turn(5, "user", HOSTILE, exchange=2)),
        ThinkingDelta(HOSTILE),
        TextDelta(f"{HOSTILE} <b>html</b> &#x202E;entity [safe](http://evil.example/\u202e) ![pic](http://evil/p.png)"),
        TextDelta(f"\n\n| a | b |\n|---|---|\n| [/foo] | {HOSTILE} |\n\n```[/foo]\n{HOSTILE}\n```\n"),
        ToolStarted("c1", "[/foo]\x1b[2J", {"command": HOSTILE}, 6),
        ToolFinished("c1", result_turn(7, "c1", "x", HOSTILE, {"diff": f"@@ -1 +1 @@\n-{HOSTILE}\n+[/]"}), 5),
        ApprovalAsked("c1", "x", Preview(HOSTILE, HOSTILE, "command", HOSTILE, "k", warning=HOSTILE)),
    )
    app = ChatApp(session=session_record(title=HOSTILE, reference="[/foo]"))
    assert snap_compare(app, terminal_size=(110, 50), run_before=told(*events))


FAILED_TEST = "shop/test_login.py::test_login FAILED\n1 failed in 0.31s\n[exit code 1]"
SEQUENCE = "\n".join(f"line {n}" for n in range(1, 40)) + "\n[exit code 0]"


@pytest.mark.parametrize("size", [(100, 40), (60, 24)], ids=["wide", "narrow"])
def test_commands_of_the_person(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = ChatApp(
        turns=[
            *HISTORY[:1],
            person_command(5, "p1", "pytest -q shop"),
            result_turn(6, "p1", "person_command", FAILED_TEST, {"exit_code": 1, "duration_ms": 310}),
            person_command(7, "p2", "seq -f 'line %g' 39"),
            result_turn(8, "p2", "person_command", SEQUENCE, {"exit_code": 0, "duration_ms": 20}),
        ],
        session=session_record(),
    )
    events = (
        TurnStored(person_command(9, "p3", "npm run build")),
        ExchangeStarted(3),
        ToolRunning("p3"),
        CommandOutput("p3", "> build\n[1/3] compiling…\n"),
    )
    assert snap_compare(app, terminal_size=size, run_before=told(*events, keys=("!", "g", "i", "t")))


def with_a_full_state() -> ChatApp:
    app = ChatApp()
    app.service.state = FULL
    return app


def test_state_beside_the_conversation(snap_compare: Compare) -> None:
    assert snap_compare(with_a_full_state(), terminal_size=(120, 40), press=["tab", "down"])


def test_state_narrow(snap_compare: Compare) -> None:
    assert snap_compare(with_a_full_state(), terminal_size=(60, 24), press=["ctrl+s", "tab"])


async def on_a_card(pilot: Pilot[Any]) -> None:
    app = cast(ChatApp, pilot.app)
    full = {Segment.TOOLS: 20_000, Segment.STATE: 9_000, Segment.USER: 40_000, Segment.ASSISTANT: 60_000}
    usage = WindowUsage(full | {Segment.TOOL: 40_000}, 200_000, False, 8_000, 172_800, 169_000, True)
    app.service.tell(UsageChanged(usage))
    await app.chat.drawn()
    app.chat.query(ToolCard).first().focus()
    await pilot.pause()


def test_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = ChatApp(turns=HISTORY, session=session_record())
    app.service.state = FULL
    assert snap_compare(app, terminal_size=(120, 36), run_before=on_a_card)


TAKEN = (
    ExchangeStarted(2),
    TurnStored(turn(5, "user", "Go on.", exchange=2)),
    TextDelta("The first half of an ans"),
    TakenOver(),
    ExchangeEnded(2, Outcome.FAILED, "Another loom took this session over: nothing more is stored here."),
)


@pytest.mark.parametrize("size", [(60, 20), (100, 30)], ids=["low", "usual"])
def test_taken_over(snap_compare: Compare, app: ChatApp, size: tuple[int, int]) -> None:
    app.service.taken = True
    told_so = told(*TAKEN)

    async def half_written(pilot: Pilot[Any]) -> None:
        app.chat.query_one(Composer).put("half a thought")
        await told_so(pilot)

    assert snap_compare(app, terminal_size=size, run_before=half_written)


def test_said_in_passing_over_an_open_question(snap_compare: Compare, app: ChatApp) -> None:
    app._passing = Passing(Clock())

    async def said(pilot: Pilot[Any]) -> None:
        app.chat.ask_about_instructions(["AGENTS.md"])
        for _ in range(3):
            app.chat.say("The archive could not be searched for a hint: it is busy.", "error")
        app.chat.say("By the way.")
        await pilot.pause()
        while "×3" not in str(app.chat.query_one(SaidLine).content):
            await pilot.pause()
        await pilot.pause()

    assert snap_compare(app, terminal_size=(60, 20), run_before=said)
