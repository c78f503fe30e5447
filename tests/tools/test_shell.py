"""A command runs as it was shown, and nothing of it is left when it is over."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from loom.config import Settings
from loom.tools import process
from loom.tools.outcome import Preview, ToolFailure, ToolOutcome
from loom.tools.toolbox import Toolbox, build_toolbox
from loom.tools.warden import the_warden
from tests.tools.nothing_said import NothingSaid

PATIENCE = 60.0
"""Seconds after which a test that waits is wrong."""


async def run(tools: Toolbox, command: str, timeout_seconds: int = 0) -> ToolOutcome:
    return await tools["shell_execute"].function(command, timeout_seconds)


async def preview(tools: Toolbox, command: str, **more: object) -> Preview:
    ask = tools["shell_execute"].preview
    assert ask is not None
    shown = await ask({"command": command, **more})
    assert shown is not None
    return shown


class Line:
    """A named pipe in the workspace: a process holds its other end for as long as it lives."""

    def __init__(self, root: Path) -> None:
        self.path = root / "line"
        os.mkfifo(self.path)
        self._end = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self._hold: int | None = os.open(self.path, os.O_WRONLY)
        os.set_blocking(self._end, True)

    async def heard(self) -> str:
        """The next thing that a process writes."""
        data = await asyncio.wait_for(asyncio.to_thread(os.read, self._end, 1_000), PATIENCE)
        return data.decode()

    async def dead(self) -> bool:
        """Returns when every process that had the line is gone."""
        if self._hold is not None:
            os.close(self._hold)
            self._hold = None
        return await self.heard() == ""

    def close(self) -> None:
        if self._hold is not None:
            os.close(self._hold)
        os.close(self._end)


@pytest.fixture
def line(root: Path) -> Iterator[Line]:
    line = Line(root)
    yield line
    line.close()


async def test_output_and_errors_come_in_their_order_with_the_exit_code(tools: Toolbox) -> None:
    outcome = await run(tools, "echo one; echo two >&2; echo three; exit 3")
    assert outcome.content == "one\ntwo\nthree\n[exit code 3]"
    assert outcome.facts["exit_code"] == 3
    assert outcome.facts["command"] == "echo one; echo two >&2; echo three; exit 3"
    assert (outcome.facts["timed_out"], outcome.facts["truncated"], outcome.failed) == (False, False, False)


async def test_it_runs_in_the_workspace_without_input(tools: Toolbox, root: Path) -> None:
    assert (await run(tools, "pwd; cat")).content == f"{root}\n[exit code 0]"


async def test_a_command_without_output_says_so(tools: Toolbox) -> None:
    assert (await run(tools, "true")).content == "(no output)\n[exit code 0]"


async def test_bytes_that_are_not_text_are_shown_as_such(tools: Toolbox) -> None:
    assert (await run(tools, r"printf 'a\377\xc3b\0c'")).content == "a��b\0c\n[exit code 0]"


async def test_a_flood_is_kept_at_both_ends_and_counted(root: Path) -> None:
    tools = build_toolbox(root, Settings(shell_output_limit=10_000), NothingSaid(), len)
    outcome = await run(tools, "echo begin; head -c 30000000 /dev/zero | tr '\\0' 'é'; echo; echo end")
    assert len(outcome.content) < 10_300
    assert outcome.content.startswith("begin\n")
    assert outcome.content.endswith("end\n[exit code 0]")
    assert "bytes left out here" in outcome.content
    assert outcome.facts["truncated"] is True


async def test_time_up_ends_a_command_and_says_so(tools: Toolbox, line: Line) -> None:
    outcome = await run(tools, "exec 9>line; echo started; sleep 1000", 1)
    assert outcome.content.endswith("[timed out: ended after 1 s]")
    assert (outcome.facts["exit_code"], outcome.facts["timed_out"]) == (None, True)
    assert await line.dead()


async def test_a_command_that_ignores_the_request_to_end_is_killed_with_its_children(
    tools: Toolbox, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    stubborn = (
        "trap '' TERM INT HUP; exec 9>line; (trap '' TERM; while :; do sleep 1000; done) & while :; do sleep 1000; done"
    )
    outcome = await run(tools, stubborn, 1)
    assert outcome.facts["timed_out"] is True
    assert await line.dead()


async def test_children_that_are_left_running_are_ended(
    tools: Toolbox, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LINGER", 0.2)
    outcome = await run(tools, "exec 9>line; sleep 1000 & (sleep 1000 > /dev/null 2>&1 &) ; echo done")
    assert outcome.content == "done\n[processes that it left running were ended; exit code 0]"
    assert outcome.facts["exit_code"] == 0
    assert await line.dead()


async def test_what_a_command_started_may_finish_writing(tools: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LINGER", PATIENCE)
    assert (await run(tools, "echo words > >(cat; echo more)")).content == "words\nmore\n[exit code 0]"


async def test_cancelling_ends_the_whole_group_before_it_returns(
    tools: Toolbox, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    command = "trap '' TERM; exec 9>line; (trap '' TERM; sleep 1000; sleep 1000) & echo up >&9; sleep 1000; sleep 1000"
    task = asyncio.create_task(run(tools, command))
    assert await line.heard() == "up\n"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await line.dead()


async def test_cancelling_at_once_and_again_leaves_nothing(tools: Toolbox, root: Path, line: Line) -> None:
    for turns in range(6):
        task = asyncio.create_task(run(tools, "exec 9>line; sleep 1000"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await line.dead()


_HOST = """
import asyncio, os, pathlib, sys
from loom.tools.process import run_program
asyncio.run(run_program(["sh", "-c", sys.argv[1]], folder=pathlib.Path(sys.argv[2]), environment=os.environ,
                        seconds=600, take=lambda data: True))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked for it")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_a_command_does_not_outlive_loom(root: Path, line: Line, how: signal.Signals) -> None:
    command = "exec 5>line; echo $$ >&5; exec sleep 600"
    host = subprocess.Popen([sys.executable, "-c", _HOST, command, str(root)])
    pid = int(await line.heard())
    host.send_signal(how)
    host.wait()
    try:
        await asyncio.wait_for(line.dead(), 10)
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        raise


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_what_a_command_started_does_not_outlive_loom(root: Path, line: Line, how: signal.Signals) -> None:
    command = """exec 9>line; sh -c 'sh -c "echo up >&9; sleep 1000 & wait" & wait'"""
    host = subprocess.Popen([sys.executable, "-c", _HOST, command, str(root)])
    assert await line.heard() == "up\n"
    host.send_signal(how)
    host.wait()
    assert await line.dead()


async def test_what_ignores_every_request_does_not_outlive_loom_either(root: Path, line: Line) -> None:
    command = "trap '' TERM INT HUP; exec 9>line; (while :; do echo up; sleep 1000; done) >&9 & wait"
    host = subprocess.Popen([sys.executable, "-c", _HOST, command, str(root)])
    assert await line.heard() == "up\n"
    host.kill()
    host.wait()
    assert await line.dead()


away = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what left its group is found in /proc only")


@away
async def test_what_left_the_group_does_not_outlive_loom(root: Path, line: Line) -> None:
    command = "exec 9>line; (setsid sh -c 'echo up >&9; sleep 1000; sleep 1000' &) ; sleep 1000"
    host = subprocess.Popen([sys.executable, "-c", _HOST, command, str(root)])
    assert await line.heard() == "up\n"
    host.kill()
    host.wait()
    assert await line.dead()


@away
async def test_what_left_the_group_ends_when_the_command_is_cut_short(tools: Toolbox, line: Line) -> None:
    outcome = await run(tools, "exec 9>line; (setsid sh -c 'sleep 1000; sleep 1000' &) ; sleep 1000", 1)
    assert outcome.facts["timed_out"] is True
    assert await line.dead()


async def test_a_daemon_that_a_finished_command_started_lives_on(tools: Toolbox, root: Path, line: Line) -> None:
    daemon = "exec 9>line; echo $$ > new; mv new pid; sleep 1000"
    outcome = await run(tools, f"setsid sh -c '{daemon}' > /dev/null 2>&1 & until test -e pid; do sleep 0.05; done", 30)
    assert outcome.facts["exit_code"] == 0
    os.killpg(int((root / "pid").read_text()), signal.SIGTERM)
    assert await line.dead()


async def test_the_loop_goes_on_while_a_command_floods(root: Path) -> None:
    tools = build_toolbox(root, Settings(shell_output_limit=1_000), NothingSaid(), len)
    task = asyncio.create_task(run(tools, "yes | head -c 50000000"))
    turns = 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    assert task.result().facts["exit_code"] == 0
    assert turns > 100


async def test_a_command_killed_by_a_signal_is_told_as_such(tools: Toolbox) -> None:
    outcome = await run(tools, "kill -KILL $$")
    assert outcome.content == "(no output)\n[ended by SIGKILL]"
    assert (outcome.facts["exit_code"], outcome.facts["timed_out"]) == (None, False)


async def test_keys_do_not_reach_a_command(tools: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "MY_SECRET_THING", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "hush-hush")
    monkeypatch.setenv("HARMLESS", "sk-abcdefghijklmnopqrstuvwxyz")
    monkeypatch.setenv("PLAIN", "seen")
    content = (await run(tools, "env")).content
    assert "hush-hush" not in content
    assert "sk-abc" not in content
    assert "PLAIN=seen" in content
    for line in ("TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "NO_COLOR=1"):
        assert line in content


async def test_descriptors_of_loom_do_not_reach_a_command(tools: Toolbox, root: Path) -> None:
    with (root / "open").open("w"):
        content = (await run(tools, "ls -l /proc/self/fd")).content
    assert str(root / "open") not in content


async def test_the_preview_is_the_whole_truth_and_runs_nothing(tools: Toolbox, root: Path) -> None:
    shown = await preview(tools, "touch made; echo 'a\nb'")
    assert shown.body == "touch made; echo 'a\nb'"
    assert shown.title == f"Run a command (at most 60 s, in {root})"
    assert shown.kind == "command"
    assert "5 s" in (await preview(tools, "x", timeout_seconds=5)).title
    assert not (root / "made").exists()


async def test_always_means_exactly_this_command(tools: Toolbox) -> None:
    keys = [(await preview(tools, command)).scope_key for command in ("ls", "ls ", "ls -a", "ls")]
    assert keys[0] == keys[3]
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("command", "seconds"), [("", 0), ("  \n", 0), ("a\0b", 0), ("ls", -1), ("ls", 100_000), ("x" * 10_000_000, 0)]
)
async def test_a_command_that_cannot_run_is_refused_in_words(tools: Toolbox, command: str, seconds: int) -> None:
    with pytest.raises(ToolFailure):
        await run(tools, command, seconds)


async def test_a_surrogate_is_replaced_in_preview_and_command_alike(tools: Toolbox) -> None:
    assert (await preview(tools, "echo \ud800")).body == "echo �"
    assert (await run(tools, "echo \ud800")).content == "�\n[exit code 0]"


@pytest.fixture(autouse=True)
async def nothing_leaks() -> AsyncIterator[None]:
    the_warden.start()
    before = _descriptors()
    yield
    # A named pipe that a test holds open has two ends.
    assert _descriptors() <= before + 2


def _descriptors() -> int:
    """How many descriptors this process has; 0 where nobody can tell."""
    return sum(1 for _ in Path("/proc/self/fd").glob("*"))
