"""The program on a real terminal, killed between a message, or a tool's result, and the answer: the
next start says so and asks again."""

from __future__ import annotations

import signal
from pathlib import Path

from loom.archive import ConversationStore
from tests.support.checkout import make_checkout
from tests.support.provider import Call, Gate, Reply, ScriptedProvider, Text
from tests.support.pty_program import PATIENCE, PtyProgram, environment_for

WORDS = "what is the capital of France"


async def test_a_message_that_was_stored_and_not_answered_is_asked_again_once(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    gate = Gate()
    with ScriptedProvider([Reply(gate, Text("never")), Reply(Text("It is Paris."))]) as provider:
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
        with PtyProgram(["cowork", "-w", str(workspace), "--resume", "0"], environment) as loom:
            loom.until("T1 has no answer. Ctrl+R asks for it")
            loom.until("Ask again")
            loom.press("\x12")
            loom.until("It is Paris.")
            loom.press("\x11")
            assert loom.wait() == 0
        assert sum(message.get("content") == WORDS for message in provider.requests[-1].messages) == 1
    store = await ConversationStore.open(home / "archive.db")
    try:
        [session] = await store.list_sessions()
        assert [turn.content for turn in await store.get_turns(session.id)] == [WORDS, "It is Paris."]
    finally:
        await store.close()


async def test_a_result_that_was_stored_and_not_answered_is_gone_on_from(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    gate = Gate()
    replies = [Reply(Call("read_file", {"path": "README.md"})), Reply(gate, Text("never")), Reply(Text("It is read."))]
    with ScriptedProvider(replies) as provider:
        environment = environment_for(
            home, LOOM_MODEL="openai-chat:test", OPENAI_BASE_URL=provider.base_url, OPENAI_API_KEY="sk-test"
        )
        with PtyProgram(["cowork", "-w", str(workspace)], environment) as loom:
            loom.ready()
            loom.say(WORDS)
            # Results are stored before the request that carries them.
            assert gate.reached.wait(PATIENCE)
            loom.send(signal.SIGKILL)
            loom.wait()
        gate.open()
        with PtyProgram(["cowork", "-w", str(workspace), "--resume", "0"], environment) as loom:
            loom.until("The model did not go on after T3. Ctrl+R lets it")
            loom.until("Ask again")
            loom.press("\x12")
            loom.until("It is read.")
            loom.press("\x11")
            assert loom.wait() == 0
        killed, again = (request.messages for request in provider.requests[1:])
        assert [message["role"] for message in again] == [message["role"] for message in killed]
        assert again[-1] == killed[-1]
    store = await ConversationStore.open(home / "archive.db")
    try:
        [session] = await store.list_sessions()
        assert [turn.role for turn in await store.get_turns(session.id)] == ["user", "assistant", "tool", "assistant"]
    finally:
        await store.close()
