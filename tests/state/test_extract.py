from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.state import SessionState, advance, rebuild
from loom.state.model import MAX_COMMANDS, MAX_CONSTRAINTS, MAX_FILES, Command, Constraint, Decision, FileTouched
from tests.state.conversation import Conversation


def test_a_written_and_an_edited_file_are_touched(talk: Conversation) -> None:
    written = talk.tool("write_file", {"path": "a.py"}, "ok", facts={"path": "a.py", "action": "created"})
    edited = talk.tool("edit_file", {"path": "b.py"}, "ok", facts={"path": "src/b.py", "action": "edited"})
    assert rebuild(talk.turns).files_touched == (
        FileTouched("a.py", "created", written),
        FileTouched("src/b.py", "edited", edited),
    )


def test_a_result_without_facts_is_understood_by_its_call_in_an_earlier_batch(talk: Conversation) -> None:
    talk.tool("edit_file", {"path": "src/b.py", "old_text": "x", "new_text": "y"}, "Edited")
    state = advance(SessionState(), talk.turns[:1])
    state = advance(SessionState.from_json(json.loads(json.dumps(state.to_json()))), talk.turns[1:])
    assert state.files_touched == (FileTouched("src/b.py", "edited", 2),)
    assert state.pending_calls == ()


@pytest.mark.parametrize("status", [TurnStatus.DENIED, TurnStatus.FAILED, TurnStatus.INTERRUPTED])
@pytest.mark.parametrize("tool", ["write_file", "shell_execute", "git_command"])
def test_what_was_denied_or_failed_changed_nothing(talk: Conversation, status: TurnStatus, tool: str) -> None:
    arguments = {"path": "a.py", "command": "rm -rf build", "args": ["commit", "-m", "x"]}
    talk.tool(tool, arguments, "[main abc1234] no", status=status)
    state = rebuild(talk.turns)
    assert (state.files_touched, state.commands, state.key_decisions, state.open_errors) == ((), (), (), ())


def test_a_call_without_a_result_touches_nothing(talk: Conversation) -> None:
    call = {"id": "1", "name": "write_file", "arguments": {"path": "a.py"}}
    talk.add("assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=[call])
    assert rebuild(talk.turns).files_touched == ()


def test_a_file_touched_again_moves_to_the_end(talk: Conversation) -> None:
    for path in ("a", "b", "a"):
        talk.tool("edit_file", {"path": path}, "ok", facts={"path": path, "action": "edited"})
    assert [(file.path, file.turn) for file in rebuild(talk.turns).files_touched] == [("b", 4), ("a", 6)]


def test_the_oldest_files_leave_beyond_the_bound(talk: Conversation) -> None:
    for number in range(MAX_FILES + 3):
        talk.tool("write_file", {}, "ok", facts={"path": f"f{number}", "action": "created"})
    files = rebuild(talk.turns).files_touched
    assert len(files) == MAX_FILES
    assert files[0].path == "f3"


def test_commands_keep_their_exact_text_and_exit_code(talk: Conversation) -> None:
    command = "pytest -q --maxfail=1 'tests/a b.py'"
    turn = talk.run(command, 0, "2 passed")
    assert rebuild(talk.turns).commands == (Command(command, 0, turn),)


def test_a_command_that_only_looked_leaves_before_one_that_did_something(talk: Conversation) -> None:
    talk.run("make install", 0)
    talk.run("ls -la", 0)
    for number in range(MAX_COMMANDS - 1):
        talk.run(f"make step{number}", 0)
    commands = [command.command for command in rebuild(talk.turns).commands]
    assert len(commands) == MAX_COMMANDS
    assert "make install" in commands
    assert "ls -la" not in commands


def test_an_error_is_resolved_when_the_same_command_succeeds(talk: Conversation) -> None:
    output = "Traceback (most recent call last):\n  File \"t.py\", line 1\nImportError: No module named 'jwt'\n"
    failed = talk.run("python t.py", 1, output)
    talk.tool("edit_file", {}, "ok", facts={"path": "requirements.txt", "action": "edited"})
    talk.run("python other.py", 0)
    assert rebuild(talk.turns).errors_resolved == ()
    passed = talk.run("python t.py", 0, "fine")
    state = rebuild(talk.turns)
    assert state.open_errors == ()
    (error,) = state.errors_resolved
    assert (error.message, error.failed_turn, error.turn) == ("ImportError: No module named 'jwt'", failed, passed)
    assert error.fixed_by == "requirements.txt"


def test_a_command_that_timed_out_has_no_exit_code_and_is_an_open_error(talk: Conversation) -> None:
    stated = {"command": "sleep 99", "exit_code": None, "timed_out": True}
    turn = talk.tool("shell_execute", {"command": "sleep 99"}, "", facts=stated, status=TurnStatus.FAILED)
    state = rebuild(talk.turns)
    assert state.commands == (Command("sleep 99", None, turn),)
    assert state.open_errors[0].message == "killed or timed out"


def test_an_exit_code_is_read_from_the_output_where_no_fact_states_it(talk: Conversation) -> None:
    talk.tool("shell_execute", {"command": "make"}, "gcc: fatal error\nExit code: 2")
    assert rebuild(talk.turns).commands[0].exit_code == 2


def test_a_commit_is_a_decision(talk: Conversation) -> None:
    arguments = {"args": ["commit", "-m", "Add tokens"]}
    facts = {"command": "git commit -m 'Add tokens'", "exit_code": 0, "commit": "abc1234def", "subject": "Add tokens"}
    turn = talk.tool("git_command", arguments, "[main abc1234] Add tokens", facts=facts)
    assert rebuild(talk.turns).key_decisions == (Decision("Committed abc1234: Add tokens", turn),)


def test_a_commit_is_known_by_its_output_too(talk: Conversation) -> None:
    talk.tool(
        "git_command", {"args": ["commit", "-m", "x"]}, "[main (root-commit) 0123abc] exit code 1\n 1 file changed"
    )
    assert rebuild(talk.turns).key_decisions[0].text == "Committed 0123abc: exit code 1"


def test_a_failed_commit_decides_nothing(talk: Conversation) -> None:
    facts = {"command": "git commit -m x", "exit_code": 1}
    talk.tool("git_command", {"args": ["commit"]}, "nothing to commit, working tree clean", facts=facts)
    assert rebuild(talk.turns).key_decisions == ()


def test_a_git_command_whose_facts_name_no_commit_made_none(talk: Conversation) -> None:
    facts = {"command": "git commit --dry-run", "exit_code": 0}
    talk.tool("git_command", {"args": ["commit", "--dry-run"]}, "[main abc1234] would be", facts=facts)
    assert rebuild(talk.turns).key_decisions == ()


def test_a_commit_made_in_the_shell_is_a_decision(talk: Conversation) -> None:
    turn = talk.run("git add -A && git commit -m x", 0, "[main 0123abc] x\n 1 file changed")
    assert rebuild(talk.turns).key_decisions == (Decision("Committed 0123abc: x", turn),)


def test_a_write_that_changed_nothing_touched_nothing(talk: Conversation) -> None:
    talk.tool("write_file", {"path": "a.py"}, "a.py already has this content", facts={"path": "a.py"})
    assert rebuild(talk.turns).files_touched == ()


def test_a_silent_failure_is_told_by_its_exit_code(talk: Conversation) -> None:
    talk.run("false", 1, "(no output)\n[exit code 1]")
    assert rebuild(talk.turns).open_errors[0].message == "exit code 1"


def test_the_focus_is_the_first_line_of_the_newest_message(talk: Conversation) -> None:
    talk.user("Add tokens")
    talk.user("\n  " + "word " * 60 + "\nsecond line")
    focus = rebuild(talk.turns).current_focus
    assert focus.startswith("word word")
    assert len(focus) <= 100


def test_only_the_person_constrains_and_decides(talk: Conversation) -> None:
    talk.assistant("Never use an ORM. Let's use JWT.")
    talk.run("cat notes", 0, "Always commit. Let's use JWT.")
    state = rebuild(talk.turns)
    assert (state.constraints, state.key_decisions) == ((), ())


def test_constraints_and_decisions_are_verbatim_and_cited(talk: Conversation) -> None:
    turn = talk.user("Hello. Never use an ORM, raw SQL only! Then let's go with PostgreSQL.")
    state = rebuild(talk.turns)
    assert state.constraints == (Constraint("Never use an ORM, raw SQL only!", turn),)
    assert state.key_decisions == (Decision("Then let's go with PostgreSQL.", turn),)


def test_the_same_constraint_said_twice_is_one(talk: Conversation) -> None:
    talk.user("Never use an ORM.")
    talk.user("never use an orm")
    assert rebuild(talk.turns).constraints == (Constraint("Never use an ORM.", 2),)


def test_constraints_are_bounded(talk: Conversation) -> None:
    for number in range(MAX_CONSTRAINTS + 5):
        talk.user(f"Never edit file{number}.py.")
    constraints = rebuild(talk.turns).constraints
    assert len(constraints) == MAX_CONSTRAINTS
    assert constraints[-1].text == f"Never edit file{MAX_CONSTRAINTS + 4}.py."


def test_a_pin_stands_until_it_is_unpinned(talk: Conversation) -> None:
    pin = {"text": "the port is 8123", "turn": 1}
    talk.user("hello")
    talk.add("system", "Pinned.", kind=TurnKind.NOTE, message_meta=json.dumps({"pin": pin}))
    assert [(p.text, p.turn) for p in rebuild(talk.turns).pins] == [("the port is 8123", 1)]
    talk.add("system", "Unpinned.", kind=TurnKind.NOTE, message_meta=json.dumps({"unpin": pin}))
    assert rebuild(talk.turns).pins == ()


def test_turns_seen_already_are_ignored(talk: Conversation) -> None:
    talk.user("Never use an ORM.")
    state = rebuild(talk.turns)
    assert advance(state, talk.turns) == state


SPEECH = st.sampled_from(
    [
        "Never use an ORM.", "You may use an ORM now.", "Use tabs, not spaces.", "Use spaces, not tabs.",
        "Let's use JWT.", "go on", "```\nnever", "> always",
    ]
) | st.text()  # fmt: skip
JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
)
COMMANDS = st.sampled_from(["make", "pytest -q", "ls", "git commit -m x"]) | st.text()
FACTS = st.fixed_dictionaries(
    {},
    optional={
        "path": st.sampled_from(["a", "b"]) | JSONISH,
        "action": st.sampled_from(["created", "edited", "deleted"]) | JSONISH,
        "command": COMMANDS | JSONISH,
        "exit_code": st.sampled_from([0, 1, None]) | JSONISH,
        "timed_out": JSONISH,
        "commit": JSONISH,
        "subject": JSONISH,
    },
)
TOOLS = st.sampled_from(["write_file", "edit_file", "shell_execute", "git_command", "read_file", ""])
ARGUMENTS = st.dictionaries(st.sampled_from(["path", "command", "args"]), COMMANDS | JSONISH) | JSONISH


@st.composite
def wild_turns(draw: st.DrawFn) -> list[Turn]:
    talk = Conversation()
    for _ in range(draw(st.integers(0, 12))):
        match draw(st.integers(0, 3)):
            case 0:
                talk.user(draw(SPEECH))
            case 1:
                talk.tool(
                    draw(TOOLS), draw(ARGUMENTS), draw(st.text()), facts=draw(st.none() | FACTS),
                    status=draw(st.sampled_from(list(TurnStatus))),
                )  # fmt: skip
            case 2:
                meta = draw(
                    st.sampled_from(["{", "[]", "null", '{"pin": 3}', '{"pin": {"text": "a"}}'])
                    | JSONISH.map(json.dumps)
                )
                talk.add("system", "note", kind=TurnKind.NOTE, message_meta=meta)
            case _:
                talk.add(
                    draw(st.sampled_from(["user", "assistant", "tool", "system"])),
                    draw(st.none() | st.text()),
                    kind=draw(st.sampled_from(list(TurnKind))),
                    tool_name=draw(TOOLS),
                    tool_call_id=draw(st.none() | st.text(max_size=2)),
                    tool_calls=draw(st.none() | JSONISH),
                    part_json=draw(st.none() | st.text() | JSONISH.map(json.dumps)),
                )
    return talk.turns


@settings(max_examples=150, deadline=None)
@given(wild_turns(), st.lists(st.integers(0, 24)))
def test_batching_never_changes_the_state(turns: list[Turn], cuts: list[int]) -> None:
    whole = rebuild(turns)
    state, start = SessionState(), 0
    for cut in [*sorted(min(cut, len(turns)) for cut in cuts), len(turns)]:
        state = advance(state, turns[start:cut])
        # As it goes to disk and comes back between two exchanges.
        assert SessionState.from_json(json.loads(json.dumps(state.to_json()))) == state
        start = cut
    assert json.dumps(state.to_json()) == json.dumps(whole.to_json())
    assert advance(SessionState(), turns) == whole


@given(JSONISH.filter(lambda data: isinstance(data, dict)))
def test_a_damaged_state_still_loads_and_advances(data: dict[str, object]) -> None:
    talk = Conversation()
    talk.user("Never use an ORM.")
    assert advance(SessionState.from_json(data), talk.turns).constraints


def test_a_state_with_damaged_entries_keeps_the_sound_ones() -> None:
    data = {"constraints": [{"text": 5, "turn": 1}, {"text": "a", "turn": 1, "replaces": None}, 3, {"text": "b"}]}
    assert SessionState.from_json(data).constraints == (Constraint("a", 1),)
