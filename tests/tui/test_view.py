"""How the person likes the screen is remembered, and never in the way."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from loom.tui.view import View, keep_view, load_view


def test_it_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "view.json"
    assert load_view(path) == View()
    for shown in (True, False, None):
        keep_view(path, View(state_panel=shown))
        assert load_view(path) == View(state_panel=shown)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"state_panel": "yes"}', "\x00", '{"other": 1}', pytest.param("[" * 100_000, id="deep")]
)
def test_a_spoiled_file_is_the_usual_view(tmp_path: Path, text: str) -> None:
    path = tmp_path / "view.json"
    path.write_text(text)
    assert load_view(path) == View()


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        keep_view(tmp_path / "none" / "view.json", View())
