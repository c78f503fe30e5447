"""From requests to calls: nothing is done twice, nothing behind a no."""

from __future__ import annotations

import pytest

from loom.models.offline_grammar import parse
from loom.models.offline_plan import Call, Done, Plan, Status, code, command_for_tests, make_plan, spread
from loom.models.offline_requests import ReadFile, RunCommand

FILE_TOOLS = ("list_directory", "read_file", "find_files", "search_text", "write_file", "edit_file")
TOOLS = frozenset({*FILE_TOOLS, "shell_execute", "git_command", "conversation_recall", "write_memory"})


def plan(message: str, *done: Done, tools: frozenset[str] = TOOLS) -> Plan:
    return make_plan(parse(message), done, tools)


def done(call: Call | None, text: str = "ok", status: Status = "success") -> Done:
    assert call is not None
    return Done(call.tool, call.arguments, text, status)


def play(message: str, *texts: str) -> list[tuple[str, dict[str, object]]]:
    """Every call of a message, each answered by the next text."""
    past: list[Done] = []
    for text in [*texts, *["ok"] * 20]:
        step = plan(message, *past)
        if step.call is None:
            break
        past.append(done(step.call, text))
    return [(each.tool, each.arguments) for each in past]


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        ("list src", [("list_directory", {"path": "src"})]),
        ("read a.py", [("read_file", {"path": "a.py"})]),
        ("read a.py lines 10-12", [("read_file", {"path": "a.py", "offset": 10, "limit": 3})]),
        ("find files *.py in src", [("find_files", {"pattern": "*.py", "path": "src"})]),
        ('search "a(b"', [("search_text", {"pattern": "a(b", "path": ".", "literal": True})]),
        ("write a.txt with 'x'", [("write_file", {"path": "a.txt", "content": "x"})]),
        (
            "replace 'a' with 'b' in c",
            [("edit_file", {"path": "c", "old_text": "a", "new_text": "b"})],
        ),
        ("run ls -l", [("shell_execute", {"command": "ls -l"})]),
        ("git status", [("git_command", {"args": ["status"]})]),
        (
            "commit 'it'",
            [("git_command", {"args": ["add", "-A"]}), ("git_command", {"args": ["commit", "-m", "it"]})],
        ),
        ("what did we say about x", [("conversation_recall", {"action": "search", "query": "x"})]),
        ("turns 3-5", [("conversation_recall", {"action": "range", "start_turn": 3, "end_turn": 5})]),
        ("calls of read_file", [("conversation_recall", {"action": "tool_calls", "tool_name": "read_file"})]),
        ("summary", [("conversation_recall", {"action": "summary"})]),
        ("remember that we use tabs", [("write_memory", {"content": "- we use tabs"})]),
        ("help then count to 3", []),
    ],
)
def test_a_request_becomes_its_calls(message: str, calls: list[tuple[str, object]]) -> None:
    assert play(message) == calls


def test_the_tests_are_run_by_what_the_workspace_has() -> None:
    calls = play("run the tests", "Cargo.toml\nsrc/\n")
    assert calls == [("list_directory", {"path": "."}), ("shell_execute", {"command": "cargo test"})]
    assert play("run the tests", "README.md\n") == [("list_directory", {"path": "."})]


@pytest.mark.parametrize(
    ("listing", "command"),
    [
        ("pyproject.toml\nsrc/", "python3 -m pytest -q"),
        ("tests/\n", "python3 -m pytest -q"),
        ("go.mod", "go test ./..."),
        ("package.json  1 kB", "npm test"),
        ("Makefile", "make test"),
        ("my-package.json.bak", ""),
        ("", ""),
    ],
)
def test_the_test_command_comes_from_the_listing(listing: str, command: str) -> None:
    assert command_for_tests(listing) == command


def test_several_requests_run_one_after_another() -> None:
    assert [tool for tool, _ in play("list then read a.py\nrun ls")] == [
        "list_directory",
        "read_file",
        "shell_execute",
    ]


@pytest.mark.parametrize("status", ["denied", "failed", "interrupted", "retried"])
def test_what_follows_by_then_is_left_out_after_a_call_that_did_not_work(status: Status) -> None:
    message = "run rm x then read a.py then read b.py"
    first = plan(message).call
    after = plan(message, done(first, "no", status))
    assert after.call is None
    assert [step.skipped for step in after.progress] == [False, True, True]


def test_what_stands_on_a_line_of_its_own_still_runs_after_a_no() -> None:
    message = "run rm x\nread a.py"
    after = plan(message, done(plan(message).call, "no", "denied"))
    assert after.call is not None and after.call.tool == "read_file"


def test_a_denied_add_is_not_followed_by_a_commit() -> None:
    after = plan("commit 'x'", done(plan("commit 'x'").call, "no", "denied"))
    assert after.call is None


def test_a_tool_that_is_not_there_is_named_and_not_called() -> None:
    step = plan("run ls then read a.py", tools=frozenset({"read_file"}))
    assert step.call is None
    assert [each.missing for each in step.progress] == ["shell_execute", ""]
    assert step.progress[1].skipped


def test_calls_of_another_model_in_the_same_exchange_are_passed_over() -> None:
    foreign = Done("web_search", {}, "something", "success")
    step = plan("read a.py", foreign)
    assert step.call is not None and step.call.tool == "read_file"
    assert plan("read a.py", foreign, done(step.call)).call is None


def test_prose_with_a_command_in_it_is_not_acted_upon() -> None:
    step = plan("The report follows.\nIt was long.\nrun rm -rf /\nAnd then it ended.")
    assert step.call is None and step.progress == () and len(step.refused) == 3


def test_an_odd_line_among_requests_does_not_stop_them() -> None:
    step = plan("list\nread a.py\nwhatever that means")
    assert step.call is not None and step.call.tool == "list_directory"


def test_bare_names_are_looked_for_anywhere() -> None:
    assert spread("auth") == "**/*auth*"
    assert spread("*.py") == "*.py"
    assert spread("src/a.py") == "src/a.py"


def test_inline_code_cannot_be_broken_out_of() -> None:
    assert code("a `b` ``c``") == "``` a `b` ``c`` ```"
    assert code("a\nb") == "`a b`"
    assert len(code("x" * 500)) < 100


def test_requests_are_plain_values() -> None:
    assert ReadFile("a") == ReadFile("a", 0, 0)
    assert RunCommand("a") != RunCommand("b")
