"""One exchange without a screen says how it ended: in its exit code, and what was not allowed on standard error."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.records import TurnKind
from tests.support.checkout import make_checkout
from tests.support.pty_program import environment_for
from tests.support.signals import hear_signals


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


def prompt(workspace: Path, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    return cowork(workspace, "-p", text, *more)


def cowork(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "loom", "cowork", "-w", str(workspace), *arguments],
        env=environment_for(workspace.parent / "home", LOOM_MODEL="offline"),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_call_that_was_not_allowed_is_3_and_is_told_and_what_ran_through_is_0(workspace: Path) -> None:
    done = prompt(workspace, "run touch made.txt")
    assert done.returncode == 3
    assert "loom: 1 call not allowed (shell_execute); --allow" in done.stderr
    assert "not allowed to do this: touch made.txt" in done.stdout.replace("`", "").replace("*", "")
    assert "You said no" not in done.stdout.replace("*", "")
    assert not (workspace / "made.txt").exists()
    done = prompt(workspace, "run touch made.txt", "--allow", "commands")
    assert done.returncode == 0, done.stderr
    assert "not allowed" not in done.stderr and (workspace / "made.txt").exists()


def test_json_names_the_calls_that_were_not_allowed(workspace: Path) -> None:
    done = prompt(workspace, "run touch made.txt", "--output", "json")
    assert (done.returncode, json.loads(done.stdout)["denied"]) == (3, ["shell_execute"])


def test_a_command_that_fails_is_told_and_is_the_models_to_work_around(workspace: Path) -> None:
    done = prompt(workspace, "run false", "--allow", "commands")
    assert done.returncode == 0
    assert "shell_execute" in done.stderr


async def test_a_message_without_an_answer_is_told_and_asked_about_again(workspace: Path) -> None:
    home = workspace.parent / "home"
    home.mkdir(mode=0o700)
    store = await ConversationStore.open(home / "archive.db")
    session_id = await store.create_session(workspace, "offline", "")
    await store.append_turn(session_id, "user", "read README.md")
    done = cowork(workspace, "--resume", "--retry")
    assert done.returncode == 0, done.stderr
    turns = await store.get_turns(session_id)
    assert [turn.role for turn in turns].count("user") == 1
    assert {turn.exchange for turn in turns} == {1}
    assert turns[-1].role == "assistant" and (turns[-1].content or "").strip() in done.stdout
    done = cowork(workspace, "--resume", "--retry")
    assert (done.returncode, done.stderr.strip()) == (
        2,
        "loom: No message waits for an answer. To have another answer, or to go on with what was stopped, say so in a "
        "message.",
    )
    number = await store.append_turn(session_id, "user", "list .")
    done = prompt(workspace, "list .", "--resume")
    assert done.returncode == 0
    assert f"loom: T{number} has no answer; --retry in place of -p asks for it." in done.stderr
    await store.close()


async def test_a_result_without_an_answer_is_told_and_gone_on_from(workspace: Path) -> None:
    home = workspace.parent / "home"
    home.mkdir(mode=0o700)
    store = await ConversationStore.open(home / "archive.db")
    session_id = await store.create_session(workspace, "offline", "")
    await store.append_turn(session_id, "user", "read README.md")
    call = {"id": "c1", "name": "read_file", "arguments": {"path": "README.md"}}
    await store.append_turn(session_id, "assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=[call])
    result = {"kind": TurnKind.TOOL_RESULT, "tool_call_id": "c1", "tool_name": "read_file"}
    await store.append_turn(session_id, "tool", "words of the file", **result)
    done = cowork(workspace, "--resume", "--retry")
    assert done.returncode == 0, done.stderr
    turns = await store.get_turns(session_id)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    assert "words of the file" in done.stdout
    await store.append_turn(session_id, "user", "list .")
    await store.append_turn(session_id, "assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=[call])
    number = await store.append_turn(session_id, "tool", "nothing", **result)
    done = prompt(workspace, "list .", "--resume")
    assert done.returncode == 0
    assert f"loom: T{number} has no answer; --retry in place of -p asks for it." in done.stderr
    await store.close()


@pytest.mark.parametrize("wrong", [["--retry"], ["--retry", "--resume", "0", "-p", "hello"]])
def test_retry_wants_a_session_and_no_prompt(workspace: Path, wrong: list[str]) -> None:
    done = cowork(workspace, *wrong)
    assert done.returncode == 2
    assert "--resume REF, without -p" in done.stderr


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_128_and_its_number(workspace: Path, which: signal.Signals) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "loom", "cowork", "-w", str(workspace), "-p", "count to 10000"],
        env=environment_for(workspace.parent / "home", LOOM_MODEL="offline", LOOM_OFFLINE_DELAY_MS="5"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=hear_signals,  # noqa: PLW1509 - a few calls, no lock
    )
    assert child.stdout is not None and child.stdout.read(300)
    child.send_signal(which)
    child.communicate(timeout=120)
    assert child.returncode == 128 + which


def test_fork_goes_on_in_a_copy(workspace: Path) -> None:
    first = json.loads(prompt(workspace, "list .", "--output", "json").stdout)
    copy = json.loads(prompt(workspace, "read README.md", "--resume", "0", "--fork", "--output", "json").stdout)
    assert copy["session"] != first["session"]
    listed = subprocess.run(
        [sys.executable, "-m", "loom", "sessions", "-w", str(workspace), "--json"],
        env=environment_for(workspace.parent / "home"),
        capture_output=True,
        text=True,
        check=True,
    )
    turns = {row["reference"]: row["turn_count"] for row in map(json.loads, listed.stdout.splitlines())}
    assert turns[copy["session"]] > turns[first["session"]] > 0


def test_fork_needs_a_session_to_fork(workspace: Path) -> None:
    done = prompt(workspace, "list .", "--fork")
    assert done.returncode == 2
    assert "--resume" in done.stderr


def test_files_of_the_archive_that_are_removed_are_told_on_standard_error(workspace: Path) -> None:
    home = workspace.parent / "home"
    child = subprocess.Popen(
        [sys.executable, "-m", "loom", "cowork", "-w", str(workspace), "-p", "count to 10000"],
        env=environment_for(home, LOOM_MODEL="offline", LOOM_OFFLINE_DELAY_MS="5"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=hear_signals,  # noqa: PLW1509 - a few calls, no lock
    )
    assert child.stdout is not None and child.stdout.read(300) and child.stderr is not None
    (home / "archive.db-wal").unlink()
    told = next(line for line in child.stderr if b"removed or replaced" in line)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=120)
    assert told.startswith(b"loom: ")
