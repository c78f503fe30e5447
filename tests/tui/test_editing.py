"""The person's editor: a real program over a real file."""

from __future__ import annotations

import stat
import sys
import tempfile
from pathlib import Path

import pytest

from loom.tui.editing import EditorFailed, TextKept, edit


def editor(tmp_path: Path, body: str) -> dict[str, str]:
    script = tmp_path / "an editor.py"
    script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[-1])\n{body}\n")
    return {"EDITOR": f"{sys.executable} '{script}'"}


@pytest.fixture
def lying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which edited texts lie."""
    folder = tmp_path / "lying"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_what_the_editor_wrote_lies_there_until_it_is_discarded(tmp_path: Path, lying: Path) -> None:
    body = "path.write_bytes(path.read_bytes() + b'more')"
    edited = edit(b"begin\xff", "MEMORY.md", editor(tmp_path, body))
    assert edited.content == edited.path.read_bytes() == b"begin\xffmore"
    assert edited.path.name == "MEMORY.md"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (edited.path, edited.path.parent)] == [0o600, 0o700]
    edited.discard()
    assert list(lying.iterdir()) == []


def test_visual_goes_before_editor(tmp_path: Path, lying: Path) -> None:
    environ = {**editor(tmp_path, "path.write_text('visual')"), "VISUAL": editor(tmp_path, "pass")["EDITOR"]}
    assert edit(b"same", "MEMORY.md", {**environ, "EDITOR": "false"}).content == b"same"


@pytest.mark.parametrize("command", ["false", "/no/such/editor", "an 'editor"])
def test_an_editor_that_fails_changes_nothing(command: str, lying: Path) -> None:
    with pytest.raises(EditorFailed):
        edit(b"begin", "MEMORY.md", {"EDITOR": command})
    assert list(lying.iterdir()) == []


def test_what_was_saved_before_the_editor_ended_badly_is_kept_and_found(tmp_path: Path, lying: Path) -> None:
    with pytest.raises(TextKept) as failed:
        edit(b"begin", "MEMORY.md", editor(tmp_path, "path.write_bytes(b'an hour of work')\nsys.exit(3)"))
    (kept,) = lying.glob("*/MEMORY.md")
    assert kept.read_bytes() == b"an hour of work"
    assert "ended with 3" in failed.value.what and str(kept) in failed.value.remedy


def test_a_text_that_the_editor_took_away_is_said(tmp_path: Path, lying: Path) -> None:
    with pytest.raises(EditorFailed, match=r"MEMORY\.md cannot be read"):
        edit(b"begin", "MEMORY.md", editor(tmp_path, "path.unlink()"))
    assert list(lying.iterdir()) == []


def test_a_blank_editor_is_none(tmp_path: Path, lying: Path) -> None:
    environ = {"VISUAL": " ", **editor(tmp_path, "path.write_text('edited')")}
    assert edit(b"begin", "MEMORY.md", environ).content == b"edited"


def test_what_cannot_be_laid_out_leaves_nothing_behind(tmp_path: Path, lying: Path) -> None:
    with pytest.raises(EditorFailed, match="no place"):
        edit(b"begin", "no such folder/MEMORY.md", editor(tmp_path, "pass"))
    assert list(lying.iterdir()) == []
    lying.rmdir()
    with pytest.raises(EditorFailed, match="no place"):
        edit(b"begin", "MEMORY.md", editor(tmp_path, "pass"))
