"""The person's editor: a real program over a real file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loom.tui.editing import EditorFailed, edit


def editor(tmp_path: Path, body: str) -> dict[str, str]:
    script = tmp_path / "an editor.py"
    script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[-1])\n{body}\n")
    return {"EDITOR": f"{sys.executable} '{script}'"}


def test_what_the_editor_wrote_comes_back_and_nothing_lies_around(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    body = f"pathlib.Path({str(seen)!r}).write_text(str(path))\npath.write_bytes(path.read_bytes() + b'more')"
    assert edit(b"begin\xff", "MEMORY.md", editor(tmp_path, body)) == b"begin\xffmore"
    left = Path(seen.read_text())
    assert left.name == "MEMORY.md" and not left.parent.exists()


def test_visual_goes_before_editor(tmp_path: Path) -> None:
    environ = {**editor(tmp_path, "path.write_text('visual')"), "VISUAL": editor(tmp_path, "pass")["EDITOR"]}
    assert edit(b"same", "MEMORY.md", {**environ, "EDITOR": "false"}) == b"same"


@pytest.mark.parametrize("command", ["false", "/no/such/editor"])
def test_an_editor_that_fails_changes_nothing(command: str) -> None:
    with pytest.raises(EditorFailed):
        edit(b"begin", "MEMORY.md", {"EDITOR": command})
