"""What was not sent is kept word for word, for each conversation, and goes without a trace."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from loom.archive.unsent import Unsent, place_of


@pytest.fixture
def unsent(tmp_path: Path) -> Unsent:
    return Unsent(tmp_path / "unsent")


def test_what_is_kept_comes_back_for_its_own_place_only(unsent: Unsent) -> None:
    assert unsent.kept("a") == ""
    unsent.keep("a", "one\r\n\ttwo 日本語 \x1b[31m")
    unsent.keep("b", "other")
    assert unsent.kept("a") == "one\r\n\ttwo 日本語 \x1b[31m"
    unsent.keep("a", "newer")
    assert (unsent.kept("a"), unsent.kept("b")) == ("newer", "other")


def test_a_blank_text_leaves_no_file(unsent: Unsent) -> None:
    unsent.keep("a", "text")
    unsent.keep("a", " \n")
    unsent.keep("b", "")
    assert list(unsent.folder.iterdir()) == []


def test_nobody_else_can_read_it(unsent: Unsent) -> None:
    before = os.umask(0)
    try:
        unsent.keep("a", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(unsent.folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in unsent.folder.iterdir()] == [0o600]


def test_a_lone_surrogate_does_not_cost_the_rest(unsent: Unsent) -> None:
    unsent.keep("a", "x\ud800y")
    assert unsent.kept("a") == "x\ufffdy"


def test_a_place_that_cannot_be_written_keeps_the_earlier_text(unsent: Unsent, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        Unsent(tmp_path / "file" / "unsent").keep("a", "text")
    assert unsent.kept("a") == ""


def test_forgetting_takes_what_a_crash_left_too(unsent: Unsent) -> None:
    unsent.keep("a", "text")
    unsent.keep("b", "other")
    (unsent.folder / "a.1234.new").write_text("half")
    unsent.forget("a")
    assert [file.name for file in unsent.folder.iterdir()] == ["b.txt"]
    unsent.forget("never there")


def test_a_new_conversation_has_the_place_of_its_folder() -> None:
    assert place_of("id", "/a") == "id"
    assert place_of(None, "/a") == place_of(None, "/a") != place_of(None, "/b")
    assert "/" not in place_of(None, "/a")
