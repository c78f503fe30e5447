"""Writing replaces a file whole, as it was shown, or leaves it alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from loom.tools.outcome import Preview, ToolFailure, ToolOutcome
from loom.tools.toolbox import Toolbox


async def preview(tools: Toolbox, path: str, content: str) -> Preview | None:
    ask = tools["write_file"].preview
    assert ask is not None
    return await ask({"path": path, "content": content})


async def write(tools: Toolbox, path: str, content: str) -> ToolOutcome:
    return await tools["write_file"].function(path, content)


async def test_a_new_file_is_created_with_its_folders(tools: Toolbox, root: Path) -> None:
    outcome = await write(tools, "src/deep/a.py", "one\ntwo\n")
    assert (root / "src/deep/a.py").read_text() == "one\ntwo\n"
    assert outcome.content == "Created src/deep/a.py (2 lines)."
    assert outcome.facts == {
        "path": "src/deep/a.py",
        "action": "created",
        "added": 2,
        "removed": 0,
        "diff": "--- /dev/null\n+++ b/src/deep/a.py\n@@ -0,0 +1,2 @@\n+one\n+two",
    }


async def test_a_preview_changes_nothing(tools: Toolbox, root: Path) -> None:
    (root / "a").write_text("old\n")
    before = {path: path.stat() for path in root.rglob("*")}
    assert await preview(tools, "new/folder/b", "x") is not None
    assert await preview(tools, "a", "new\n") is not None
    assert {path: path.stat() for path in root.rglob("*")} == before


async def test_the_preview_is_the_diff_that_is_made(tools: Toolbox, root: Path) -> None:
    (root / "a").write_text("one\ntwo\n")
    shown = await preview(tools, "a", "one\n2\n")
    assert shown is not None
    assert (shown.title, shown.kind, shown.warning) == ("Edit a", "diff", "")
    outcome = await write(tools, "a", "one\n2\n")
    assert outcome.facts["diff"] == shown.body
    assert outcome.facts["action"] == "edited"
    assert outcome.content == "Edited a (+1 −1 lines)."


async def test_a_file_that_changed_after_the_preview_is_left_alone(tools: Toolbox, root: Path) -> None:
    (root / "a").write_text("old\n")
    await preview(tools, "a", "new\n")
    (root / "a").write_text("somebody else's\n")
    with pytest.raises(ToolFailure, match="has changed"):
        await write(tools, "a", "new\n")
    assert (root / "a").read_text() == "somebody else's\n"


async def test_a_file_that_appeared_after_the_preview_is_left_alone(tools: Toolbox, root: Path) -> None:
    await preview(tools, "a", "new\n")
    (root / "a").write_text("somebody else's\n")
    with pytest.raises(ToolFailure, match="has changed"):
        await write(tools, "a", "new\n")
    assert (root / "a").read_text() == "somebody else's\n"


async def test_the_same_content_needs_no_asking_and_is_not_written(tools: Toolbox, root: Path) -> None:
    (root / "a").write_text("same\n")
    before = (root / "a").stat()
    assert await preview(tools, "a", "same\n") is None
    outcome = await write(tools, "a", "same\n")
    assert "already has this content" in outcome.content
    assert "action" not in outcome.facts
    assert (root / "a").stat() == before


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
async def test_the_mode_stays(tools: Toolbox, root: Path, mode: int) -> None:
    (root / "a").write_text("old")
    (root / "a").chmod(mode)
    await write(tools, "a", "new")
    assert stat.S_IMODE((root / "a").stat().st_mode) == mode


async def test_a_new_file_has_the_mode_of_the_umask(tools: Toolbox, root: Path) -> None:
    before = os.umask(0o027)
    try:
        await write(tools, "a", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o640


async def test_a_link_stays_a_link_and_its_file_is_written(tools: Toolbox, root: Path) -> None:
    (root / "a").write_text("old")
    (root / "link").symlink_to("a")
    shown = await preview(tools, "link", "new")
    assert shown is not None
    assert shown.title == "Edit a"
    await write(tools, "link", "new")
    assert (root / "link").is_symlink()
    assert (root / "a").read_text() == "new"


async def test_nothing_is_left_behind_beside_the_file(tools: Toolbox, root: Path) -> None:
    await write(tools, "a", "one")
    await write(tools, "a", "two")
    assert sorted(path.name for path in root.iterdir()) == [".state", "a"]


@pytest.mark.parametrize("path", ["../outside/x", "/tmp/x", "out/x", ".state/loom/archive.db"])
async def test_nothing_is_written_where_it_must_not_be(tools: Toolbox, root: Path, outside: Path, path: str) -> None:
    (root / "out").symlink_to(outside)
    with pytest.raises(ToolFailure):
        await preview(tools, path, "x")
    with pytest.raises(ToolFailure):
        await write(tools, path, "x")
    assert [file.name for file in outside.iterdir()] == ["secret.txt"]


async def test_what_is_no_file_or_protected_is_not_replaced(tools: Toolbox, root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    (root / "kept").write_text("kept")
    (root / "kept").chmod(0o444)
    for path in ("folder", "pipe", "kept", "kept/below", "."):
        with pytest.raises(ToolFailure):
            await preview(tools, path, "x")
        with pytest.raises(ToolFailure):
            await write(tools, path, "x")
    assert (root / "kept").read_text() == "kept"


async def test_gits_own_files_are_never_covered_by_always(tools: Toolbox, root: Path) -> None:
    plain = await preview(tools, "a", "x")
    other = await preview(tools, "b", "y")
    hook = await preview(tools, ".git/hooks/pre-commit", "x")
    config = await preview(tools, "sub/.GIT/config", "x")
    assert plain and other and hook and config
    assert plain.scope_key == other.scope_key
    assert len({plain.scope_key, hook.scope_key, config.scope_key}) == 3
    assert "git" in hook.warning


async def test_replacing_a_binary_file_or_its_line_ends_is_said(tools: Toolbox, root: Path) -> None:
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (root / "dos.txt").write_bytes(b"a\r\nb\r\n")
    picture, text = await preview(tools, "logo.png", "words\n"), await preview(tools, "dos.txt", "a\nb\n")
    assert picture and text
    assert picture.warning == "replaces a PNG image"
    assert "a PNG image" in picture.body
    assert text.warning == "changes the line ends from CRLF to LF"


async def test_what_cannot_be_encoded_is_replaced_in_preview_and_file_alike(tools: Toolbox, root: Path) -> None:
    shown = await preview(tools, "a", "x\ud800y\n")
    assert shown is not None
    assert shown.body.endswith("+x�y")
    await write(tools, "a", "x\ud800y\n")
    assert (root / "a").read_text() == "x�y\n"
