"""Pictures of the question about a project's instructions, and of the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from loom.cowork.project import Project, ProjectFile
from loom.tui.screens.memory import MemoryScreen
from loom.tui.screens.trust import TrustScreen
from tests.support.clock import Clock
from tests.tui.conftest import ChatApp

FILES = (
    ProjectFile("AGENTS.md", "# Rules\n\n- Use tabs.\n- [/foo] \x1b[2J\u202e\n" + "- and more\n" * 30, 412, "a"),
    ProjectFile("src/deep/CLAUDE.md", "Run `make check` before you say that it is done. " * 9, 450, "b"),
)


async def asked(pilot: Pilot[Any]) -> None:
    app: App[Any] = pilot.app
    await app.push_screen(TrustScreen(Project(Path("/home/ada/src/shop"), FILES), clock=Clock()))
    await pilot.pause()


async def remembered(pilot: Pilot[Any]) -> None:
    app = pilot.app
    assert isinstance(app, ChatApp)
    await app.push_screen(MemoryScreen(app.service, b"# Shop\n\n- tests: `pytest -q`\n- the port is 8123\n"))
    await pilot.pause()


def test_asked(snap_compare: Any) -> None:
    assert snap_compare(ChatApp(), terminal_size=(110, 36), run_before=asked)


def test_asked_narrow(snap_compare: Any) -> None:
    assert snap_compare(ChatApp(), terminal_size=(60, 18), run_before=asked)


def test_memory(snap_compare: Any) -> None:
    assert snap_compare(ChatApp(), terminal_size=(90, 20), run_before=remembered)
