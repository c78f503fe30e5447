"""A process of its own that keeps an archive open: what happens to the files under it, and to it, is the test's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from loom.archive.flocks import lock_at_once

_PROGRAM = """
import asyncio, json, sys, threading
from pathlib import Path
from loom.archive import ArchiveError, ConversationStore, forks
from loom.archive.spool import Spool

async def fork_moving_the_log(store, session, turns):
    begun, moved = threading.Event(), threading.Event()
    end_of_part = forks._end_of_part
    def hold(connection, fork, after):
        if after >= turns:
            begun.set()
            moved.wait()
        return end_of_part(connection, fork, after)
    forks.PART_TURNS, forks._end_of_part = turns, hold
    making = asyncio.ensure_future(store.fork_session(session))
    await asyncio.to_thread(begun.wait)
    assert await store.checkpoint(empty=False)
    moved.set()
    return await making

async def keep(path, workspace):
    loop = asyncio.get_running_loop()
    said = []
    def say(**what):
        print(json.dumps(what), flush=True)
    store = await ConversationStore.open(path)
    heard = asyncio.Event()
    def tell(error):
        said.append(str(error))
        heard.set()
    store.tell_of_files(tell)
    store.spool_stranded(Spool(Path(path).parent / "spool"))
    say(ready=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command, *rest = json.loads(line)
        try:
            if command == "begin":
                say(session=await store.create_session(workspace, "offline", ""))
            elif command == "append":
                numbers = [await store.append_turn(rest[0], "user", text) for text in rest[1]]
                say(numbers=numbers)
            elif command == "read":
                say(texts=[turn.content for turn in await store.get_turns(rest[0], limit=10_000)])
            elif command == "find":
                say(found=[hit.turn_number for hit in await store.search_turns(rest[0], rest[1])])
            elif command == "list":
                say(sessions=[session.id for session in await store.list_sessions(limit=100)])
            elif command == "lease":
                await store.acquire_lease(rest[0])
                say(leased=True)
            elif command == "fork":
                # So many of its turns are in the database when the rest is copied.
                say(fork=await fork_moving_the_log(store, *rest))
            elif command == "checkpoint":
                say(whole=await store.checkpoint(empty=False))
            elif command == "hear":
                await heard.wait()
                say(said=said)
            elif command == "close":
                await store.close()
                say(closed=True)
        except ArchiveError as error:
            say(error=str(error))

asyncio.run(keep(*sys.argv[1:]))
"""


class Keeper:
    """Commands go in, answers come out; a context manager that kills it in the end."""

    def __init__(self, archive: Path, **environment: str) -> None:
        self._archive = archive
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(archive), str(archive.parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        )
        assert self._answer() == {"ready": True}

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def ask(self, command: str, *arguments: Any) -> dict[str, Any]:
        """The answer to a command; `{"error": …}` when the archive refuses it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([command, *arguments]) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def kill(self) -> None:
        """End it with -9."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the keeper ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """Let it stand still, as Ctrl+Z does; not in the middle of a write, which would keep all others waiting."""
        while True:
            self._process.send_signal(signal.SIGSTOP)
            os.waitpid(self._process.pid, os.WUNTRACED)
            if all(_is_free(self._archive.with_name(f"{self._archive.name}{lock}")) for lock in ("-lock", "-queue")):
                return
            self.go_on()

    def go_on(self) -> None:
        """The end of `stop`."""
        self._process.send_signal(signal.SIGCONT)


def _is_free(lock: Path) -> bool:
    """Whether nobody has the file locked, if it is there."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        return lock_at_once(descriptor)
    finally:
        os.close(descriptor)
