"""What was allowed for the session runs by itself; nothing else does."""

from __future__ import annotations

from pathlib import Path

from loom.tools.outcome import Preview, ToolSpec
from loom.tools.permissions import Permissions
from loom.tools.toolbox import Toolbox


async def shown(spec: ToolSpec, **arguments: object) -> Preview:
    assert spec.preview is not None
    preview = await spec.preview(arguments)
    assert preview is not None
    return preview


async def test_everything_that_changes_something_asks_first(git_tools: Toolbox) -> None:
    permissions = Permissions()
    shell, git, write = git_tools["shell_execute"], git_tools["git_command"], git_tools["write_file"]
    assert permissions.needs_asking(shell, await shown(shell, command="ls"))
    assert permissions.needs_asking(git, await shown(git, args=["add", "."]))
    assert permissions.needs_asking(write, await shown(write, path="a", content="x"))


async def test_reading_never_asks(git_tools: Toolbox) -> None:
    permissions = Permissions()
    assert not permissions.needs_asking(git_tools["read_file"], None)
    assert not permissions.needs_asking(git_tools["git_command"], None)


async def test_an_allowed_command_is_that_command_alone(tools: Toolbox) -> None:
    permissions, shell = Permissions(), tools["shell_execute"]
    permissions.allow(await shown(shell, command="make test"))
    assert not permissions.needs_asking(shell, await shown(shell, command="make test", timeout_seconds=30))
    assert permissions.needs_asking(shell, await shown(shell, command="make test; rm -rf /"))
    assert permissions.allowed == ("shell commands that are exactly this one",)


async def test_allowed_edits_are_of_every_file_of_this_workspace(tools: Toolbox, root: Path) -> None:
    permissions, write, edit = Permissions(), tools["write_file"], tools["edit_file"]
    (root / "b").write_text("one")
    permissions.allow(await shown(write, path="a", content="x"))
    assert not permissions.needs_asking(edit, await shown(edit, path="b", old_text="one", new_text="two"))
    assert permissions.needs_asking(write, await shown(write, path=".git/hooks/x", content="x"))
    assert permissions.needs_asking(tools["shell_execute"], await shown(tools["shell_execute"], command="ls"))


async def test_forgetting_asks_again(tools: Toolbox) -> None:
    permissions, shell = Permissions(), tools["shell_execute"]
    permissions.allow(await shown(shell, command="ls"))
    permissions.forget()
    assert permissions.needs_asking(shell, await shown(shell, command="ls"))
    assert permissions.allowed == ()


async def test_an_allowed_prefix_is_every_plain_command_that_begins_so(tools: Toolbox) -> None:
    permissions, shell = Permissions(), tools["shell_execute"]
    permissions.allow(await shown(shell, command="git status -sb"), wider=True)
    assert not permissions.needs_asking(shell, await shown(shell, command="git status"))
    assert not permissions.needs_asking(shell, await shown(shell, command="git status --long src"))
    for other in ("git stash", "git status; make", "git status > x", "git -C .. status", "git statusx", "rm -rf x"):
        assert permissions.needs_asking(shell, await shown(shell, command=other)), other
    [words] = permissions.allowed
    assert "begins with `git status`" in words


async def test_without_a_prefix_a_wider_yes_is_for_that_command_alone(tools: Toolbox) -> None:
    permissions, shell = Permissions(), tools["shell_execute"]
    permissions.allow(await shown(shell, command="rm -rf build"), wider=True)
    assert not permissions.needs_asking(shell, await shown(shell, command="rm -rf build"))
    assert permissions.needs_asking(shell, await shown(shell, command="rm -rf src"))
    assert permissions.needs_asking(shell, await shown(shell, command="./run"))
