"""The whole program, killed in the middle of an answer: what was said is there, and the session goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from loom.archive import ConversationStore
from loom.archive.records import TurnKind, TurnStatus
from tests.support.checkout import make_checkout
from tests.support.listening import PATIENCE


def environment(home: Path) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.endswith(("_API_KEY", "_BASE_URL"))}
    return {**env, "LOOM_HOME": str(home), "LOOM_MODEL": "offline", "LOOM_OFFLINE_DELAY_MS": "5"}


async def draft_of(archive: Path) -> tuple[str, str]:
    """The session and the drafted words, as soon as there are some: read as another process would."""
    store = await ConversationStore.open(archive)
    try:
        for session in await store.list_sessions():
            draft = await store.get_draft(session.id)
            if draft is not None and draft.turns:
                return session.id, draft.turns[-1].content or ""
        return "", ""
    finally:
        await store.close()


async def test_a_kill_in_the_middle_of_an_answer_loses_nothing_that_was_shown(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    child = subprocess.Popen(
        [sys.executable, "-m", "loom", "cowork", "-w", str(workspace), "-p", "read README.md then count to 10000"],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    session_id, drafted = "", ""
    try:
        assert child.stdout is not None
        while "12" not in drafted:
            assert child.stdout.read(64), "the answer ended before it was killed"
            session_id, drafted = await draft_of(home / "archive.db")
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=PATIENCE)

    done = subprocess.run(
        [sys.executable, "-m", "loom", "cowork", "-w", str(workspace), "--resume", "-p", "list .", "--output", "json"],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["outcome"] == "complete"

    store = await ConversationStore.open(home / "archive.db")
    try:
        turns = await store.get_turns(session_id, 0, 1000)
    finally:
        await store.close()
    assert turns[0].content == "read README.md then count to 10000"
    results = [t for t in turns if t.kind is TurnKind.TOOL_RESULT and t.exchange == 1]
    assert any("A small program to work on." in (t.content or "") for t in results)
    cut = [t for t in turns if t.status is TurnStatus.INTERRUPTED]
    assert cut
    assert (cut[-1].content or "").startswith(drafted)
    assert [t.turn_number for t in turns] == list(range(1, len(turns) + 1))
    assert turns[-1].exchange == 2
