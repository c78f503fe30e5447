from __future__ import annotations

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loom.state import SessionLine, SessionState, rebuild, to_yaml
from loom.state.model import (
    Command,
    Constraint,
    Decision,
    ErrorResolved,
    FileTouched,
    Pin,
)
from loom.state.render import estimate
from tests.state.conversation import Conversation

LINE = SessionLine("k3f9", "/home/ada/project", "anthropic:claude", 47, 124_500)


def test_it_has_the_shape_of_the_design(talk: Conversation) -> None:
    talk.user("Never use an ORM. Let's use JWT.")
    talk.tool("edit_file", {}, "ok", facts={"path": "src/auth.py", "action": "edited"})
    talk.run("pytest", 1, "E   ImportError: jwt")
    talk.run("pytest", 0, "ok")
    talk.user("Implement rotation")
    assert to_yaml(rebuild(talk.turns), LINE) == (
        "session:\n  id: k3f9\n  workspace: /home/ada/project\n  model: anthropic:claude\n  turn_count: 47\n"
        "  total_tokens: 124500\n"
        "files_touched:\n- path: src/auth.py\n  action: edited\n  turn: 3\n"
        "key_decisions:\n- Let's use JWT. (turn 1)\n"
        "current_focus: Implement rotation\n"
        "errors_resolved:\n- 'ImportError: jwt — no longer happens; `pytest` passes (turn 5, turn 7)'\n"
        "constraints:\n- Never use an ORM. (turn 1)\n"
        "commands:\n- command: pytest\n  exit_code: 0\n  turn: 7\n"
        "pins: []\n"
    )


def test_a_session_that_was_begun_elsewhere_says_where() -> None:
    line = SessionLine("k3f9", "/home/ada/here", "anthropic:claude", 47, 124_500, "/home/ada/there")
    session = yaml.safe_load(to_yaml(SessionState(), line))["session"]
    assert session["workspace"] == "/home/ada/here"
    assert session["begun_in"].startswith("/home/ada/there (instructions and earlier turns may name paths there")


def test_an_empty_session_still_says_every_section() -> None:
    loaded = yaml.safe_load(to_yaml(SessionState(), LINE))
    assert list(loaded) == [
        "session", "files_touched", "key_decisions", "current_focus",
        "errors_resolved", "constraints", "commands", "pins",
    ]  # fmt: skip


def test_both_turns_of_a_replaced_constraint_are_cited() -> None:
    state = SessionState(constraints=(Constraint("Use tabs.", 9, replaces=3),))
    assert "Use tabs. (turn 9, replaces turn 3)" in to_yaml(state, LINE)


def test_constraints_and_pins_are_the_last_to_go() -> None:
    state = SessionState(
        files_touched=tuple(FileTouched(f"src/some/long/path/file{n}.py", "edited", n) for n in range(20)),
        key_decisions=tuple(Decision(f"We decided on number {n} for a long and boring reason", n) for n in range(10)),
        commands=tuple(Command(f"make target{n} --with --many --flags", 0, n) for n in range(8)),
        errors_resolved=tuple(ErrorResolved("E: bad " * 10, "make", n, n + 1) for n in range(5)),
        constraints=tuple(Constraint(f"Never edit file{n}.", n) for n in range(20)),
        pins=(Pin("the port is 8123", 4),),
    )
    loaded = yaml.safe_load(to_yaml(state, LINE, max_tokens=500))
    assert len(loaded["constraints"]) == 20
    assert loaded["pins"] == ["the port is 8123 (turn 4)"]
    assert len(loaded["files_touched"]) < 20
    tight = yaml.safe_load(to_yaml(state, LINE, max_tokens=200))
    assert 0 < len(tight["constraints"]) < 20
    assert tight["constraints"][-1] == "Never edit file19. (turn 19)"
    assert tight["pins"] == ["the port is 8123 (turn 4)"]
    assert tight["commands"] == []


# Any text that the archive can hold: everything but lone surrogates.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
TURN = st.integers(0, 10**9)
STATES = st.builds(
    SessionState,
    files_touched=st.lists(st.builds(FileTouched, TEXT, st.sampled_from(["created", "edited"]), TURN), max_size=20).map(
        tuple
    ),
    key_decisions=st.lists(st.builds(Decision, TEXT, TURN), max_size=10).map(tuple),
    constraints=st.lists(st.builds(Constraint, TEXT, TURN, st.none() | TURN), max_size=20).map(tuple),
    commands=st.lists(st.builds(Command, TEXT, st.none() | TURN, TURN), max_size=8).map(tuple),
    errors_resolved=st.lists(st.builds(ErrorResolved, TEXT, TEXT, TURN, TURN, TEXT), max_size=5).map(tuple),
    pins=st.lists(st.builds(Pin, TEXT, TURN), max_size=20).map(tuple),
    current_focus=TEXT,
)
LINES = st.builds(SessionLine, TEXT, TEXT, TEXT, TURN, TURN, TEXT)


@settings(max_examples=100, deadline=None)
@given(STATES, LINES, st.integers(400, 1_500))
def test_any_text_gives_valid_yaml_within_the_limit(state: SessionState, line: SessionLine, limit: int) -> None:
    text = to_yaml(state, line, max_tokens=limit)
    assert estimate(text) <= limit
    assert to_yaml(state, line, max_tokens=limit) == text
    loaded = yaml.safe_load(text)
    assert len(loaded) == 8
    assert loaded["session"]["turn_count"] == line.turn_count


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=100), TURN)
@example("\x850", 0)
@example("a\u2028", 0)
def test_text_comes_back_as_it_was(text: str, turn: int) -> None:
    state = SessionState(
        constraints=(Constraint(text, turn),),
        commands=(Command(text, 1, turn),),
        files_touched=(FileTouched(text, "edited", turn),),
    )
    loaded = yaml.safe_load(to_yaml(state, LINE, max_tokens=100_000))
    assert loaded["constraints"] == [f"{text} (turn {turn})"]
    assert loaded["commands"] == [{"command": text, "exit_code": 1, "turn": turn}]
    assert loaded["files_touched"][0]["path"] == text
