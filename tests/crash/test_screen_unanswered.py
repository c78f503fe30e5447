"""The program on a real terminal, killed between a message, or a tool's result, and the answer: the
next start says so and asks again."""

from __future__ import annotations

import signal
from pathlib import Path

from loom.archive import ConversationStore, Turn
from tests.support.checkout import make_checkout
from tests.support.provider import ScriptedProvider
from tests.support.pty_program import PATIENCE, PtyProgram, environment_for
from tests.support.replies import Call, Gate, Reply, Text

WORDS = "what is the capital of France"


def killed_while_asking(home: Path, workspace: Path, provider: ScriptedProvider, gate: Gate) -> dict[str, str]:
    """Say WORDS in a program of its own, and kill it once the provider holds a request at the gate; what the next one
    is to be started with. All that a request carries is stored before it."""
    environment = environment_for(
        home, LOOM_MODEL="openai-chat:test", OPENAI_BASE_URL=provider.base_url, OPENAI_API_KEY="sk-test"
    )
    with PtyProgram(["cowork", "-w", str(workspace)], environment) as loom:
        loom.ready()
        loom.say(WORDS)
        assert gate.reached.wait(PATIENCE)
        loom.send(signal.SIGKILL)
        loom.wait()
    gate.open()
    return environment


def asked_again(workspace: Path, environment: dict[str, str], *, said: str, answer: str) -> None:
    """Resume, see that something has no answer, and ask for it."""
    with PtyProgram(["cowork", "-w", str(workspace), "--resume", "0"], environment) as loom:
        loom.until(said)
        loom.until("Ask again")
        loom.press("\x12")
        loom.until(answer)
        loom.press("\x11")
        assert loom.wait() == 0


async def stored(home: Path) -> list[Turn]:
    """The turns of the only session."""
    store = await ConversationStore.open(home / "archive.db")
    try:
        [session] = await store.list_sessions()
        return await store.get_turns(session.id)
    finally:
        await store.close()


async def test_a_message_that_was_stored_and_not_answered_is_asked_again_once(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    gate = Gate()
    with ScriptedProvider([Reply(gate, Text("never")), Reply(Text("It is Paris."))]) as provider:
        environment = killed_while_asking(home, workspace, provider, gate)
        asked_again(workspace, environment, said="T1 has no answer. Ctrl+R asks for it", answer="It is Paris.")
        assert sum(message.get("content") == WORDS for message in provider.requests[-1].messages) == 1
    assert [turn.content for turn in await stored(home)] == [WORDS, "It is Paris."]


async def test_a_result_that_was_stored_and_not_answered_is_gone_on_from(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    gate = Gate()
    replies = [Reply(Call("read_file", {"path": "README.md"})), Reply(gate, Text("never")), Reply(Text("It is read."))]
    with ScriptedProvider(replies) as provider:
        environment = killed_while_asking(home, workspace, provider, gate)
        asked_again(
            workspace, environment, said="The model did not go on after T3. Ctrl+R lets it", answer="It is read."
        )
        killed, again = (request.messages for request in provider.requests[1:])
        assert [message["role"] for message in again] == [message["role"] for message in killed]
        assert again[-1] == killed[-1]
    assert [turn.role for turn in await stored(home)] == ["user", "assistant", "tool", "assistant"]
