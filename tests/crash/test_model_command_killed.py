"""The program killed with -9 while a command of the model's runs: what it had written is kept, and the model told."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.check import check
from loom.archive.records import TurnStatus
from loom.cowork.live_output import CUT_OFF
from tests.crash.test_command_killed import drafted, gone, stored
from tests.support.checkout import make_checkout
from tests.support.provider import Request, ScriptedProvider
from tests.support.pty_program import PATIENCE, PtyProgram, environment_for
from tests.support.replies import Call, Reply, Text

BUILD = "echo $$ > child; for n in $(seq 40); do echo built $n of 40; done; echo waiting; sleep 600"
BUILT = "\n".join(f"built {n} of 40" for n in range(1, 41)) + "\nwaiting"


class Model:
    """Asks for the build first, and says so afterwards."""

    def __call__(self, request: Request) -> Reply:
        if any(message["role"] == "tool" for message in request.messages):
            return Reply(Text("I see that it was cut off."))
        return Reply(Text("I build it."), Call("shell_execute", {"command": BUILD}, call_id="build"))


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(Model()) as provider:
        yield provider


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


@pytest.fixture
def environment(home: Path, provider: ScriptedProvider) -> dict[str, str]:
    return environment_for(
        home, LOOM_MODEL="openai-chat:test", OPENAI_BASE_URL=provider.base_url, OPENAI_API_KEY="sk-test"
    )


async def is_kept(home: Path, workspace: Path) -> None:
    """The command has ended with loom, and what it wrote is an interrupted result in a sound archive."""
    await gone((workspace / "child").read_text().strip())
    turns = await stored(home)
    assert [(turn.role, turn.status) for turn in turns] == [
        ("user", TurnStatus.COMPLETE),
        ("assistant", TurnStatus.COMPLETE),
        ("assistant", TurnStatus.COMPLETE),
        ("tool", TurnStatus.INTERRUPTED),
    ]
    assert (turns[-1].tool_call_id, turns[-1].tool_name) == ("build", "shell_execute")
    assert turns[-1].content == f"{BUILT}\n{CUT_OFF}"
    assert check(home / "archive.db").sound


async def test_its_output_is_on_the_screen_and_after_a_kill_in_the_transcript_and_before_the_model(
    home: Path, workspace: Path, environment: dict[str, str], provider: ScriptedProvider
) -> None:
    with PtyProgram(["cowork", "-w", str(workspace)], environment) as loom:
        loom.ready()
        loom.say("build it")
        loom.say_yes()
        loom.until("built 40 of 40")
        loom.until("running · ")
        await drafted(home, "waiting")
        loom.send(signal.SIGKILL)
        loom.wait()
    await is_kept(home, workspace)
    with PtyProgram(["cowork", "-w", str(workspace), "--resume", "0"], environment) as loom:
        loom.until("cut off: loom was ended while it ran")
        loom.until("interrupted")
        loom.ready()
        loom.say("what happened?")
        loom.until("I see that it was cut off.")
        loom.press("\x11")
        assert loom.wait() == 0
    told = [message["content"] for message in provider.requests[-1].messages if message["role"] == "tool"]
    assert told == [f"{BUILT}\n{CUT_OFF}"]
    assert [turn.role for turn in await stored(home)][3:] == ["tool", "user", "assistant"], "nothing is recovered twice"


async def test_without_a_screen_it_is_kept_as_well(home: Path, workspace: Path, environment: dict[str, str]) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "loom", "cowork", "-w", str(workspace), "-p", "build it", "--allow", "commands"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            while not await begun(home):
                assert child.poll() is None, "it ended before it was killed"
                await asyncio.sleep(0.05)
        await drafted(home, "waiting")
    finally:
        child.kill()
        child.wait(PATIENCE)
    await is_kept(home, workspace)


async def begun(home: Path) -> bool:
    """Whether there is a session yet."""
    if not (home / "archive.db").exists():
        return False
    store = await ConversationStore.open(home / "archive.db")
    try:
        return bool(await store.list_sessions())
    finally:
        await store.close()
