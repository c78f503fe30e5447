"""Whoever lets a call run sees what its command writes while it writes it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from loom.tools.capture import Capture
from loom.tools.outcome import ToolOutcome
from loom.tools.toolbox import Toolbox
from loom.tools.watching import captured_by

PATIENCE = 60.0
"""Seconds after which a test that waits is wrong."""


class Watched(Capture):
    """A capture that lets a test wait for words."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.more = asyncio.Event()

    def take(self, data: bytes) -> bool:
        self.more.set()
        return super().take(data)

    async def until(self, words: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while words not in self.text():
                self.more.clear()
                await self.more.wait()


class Watcher:
    """Keeps the captures that it was asked for."""

    def __init__(self) -> None:
        self.captures: list[Watched] = []
        self.asked = asyncio.Event()

    def make(self, limit: int) -> Watched:
        self.captures.append(Watched(limit))
        self.asked.set()
        return self.captures[-1]

    async def call(self, tools: Toolbox, tool: str, *arguments: object) -> ToolOutcome:
        with captured_by(self.make):
            return await tools[tool].function(*arguments)

    async def hears(self, words: str) -> None:
        """Returns when the command has written these."""
        await asyncio.wait_for(self.asked.wait(), PATIENCE)
        await self.captures[0].until(words)


async def test_two_commands_at_once_are_seen_each_by_its_own_watcher(tools: Toolbox, root: Path) -> None:
    one, two = Watcher(), Watcher()
    wait = "until [ -e go ]; do sleep 0.05; done"
    running = [
        asyncio.ensure_future(one.call(tools, "shell_execute", f"echo one; {wait}; echo done")),
        asyncio.ensure_future(two.call(tools, "shell_execute", f"echo two; {wait}; exit 2")),
    ]
    await one.hears("one\n")
    await two.hears("two\n")
    assert not any(task.done() for task in running)
    (root / "go").touch()
    assert [(await task).content for task in running] == ["one\ndone\n[exit code 0]", "two\n[exit code 2]"]
    assert [each.captures[0].text() for each in (one, two)] == ["one\ndone\n", "two\n"]


async def test_a_git_call_is_seen_and_what_it_asks_git_for_itself_is_not(git_tools: Toolbox, checkout: Path) -> None:
    (checkout / "new.txt").write_text("new\n")
    watcher = Watcher()
    read = await watcher.call(git_tools, "git_command", ["status", "--short"])
    await watcher.call(git_tools, "git_command", ["add", "new.txt"])
    made = await watcher.call(git_tools, "git_command", ["commit", "-m", "Add a file"])
    assert made.facts["subject"] == "Add a file"
    status, add, commit = watcher.captures
    assert status.text().strip() == read.content == "?? new.txt"
    assert add.text() == ""
    assert "Add a file" in commit.text()


async def test_nobody_need_watch(tools: Toolbox) -> None:
    watcher = Watcher()
    await watcher.call(tools, "shell_execute", "echo seen")
    outcome = await tools["shell_execute"].function("echo unseen")
    assert outcome.content == "unseen\n[exit code 0]"
    assert [capture.text() for capture in watcher.captures] == ["seen\n"]
