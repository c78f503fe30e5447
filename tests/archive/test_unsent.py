"""What was not sent is kept word for word, for each conversation, and goes without a trace."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from loom.archive.unsent import Unsent, place_of
from tests.support.unsent import left_unsent, put_unsent


@pytest.fixture
def unsent(tmp_path: Path) -> Unsent:
    return Unsent(tmp_path / "unsent")


def test_what_is_kept_comes_back_for_its_own_place_only(unsent: Unsent) -> None:
    assert left_unsent(unsent, "a") == []
    words = unsent.at("a")
    words.keep("one\r\n\ttwo 日本語 \x1b[31m")
    put_unsent(unsent, "b", "other")
    words.release()
    assert left_unsent(unsent, "a") == ["one\r\n\ttwo 日本語 \x1b[31m"]
    words = unsent.at("a")
    words.take_up()
    words.keep("newer")
    words.keep("newest")
    words.release()
    assert (left_unsent(unsent, "a"), left_unsent(unsent, "b")) == (["newest"], ["other"])
    assert len(list(unsent.folder.iterdir())) == 2


def test_a_blank_text_leaves_no_file(unsent: Unsent) -> None:
    words = unsent.at("a")
    words.keep("text")
    words.keep(" \n")
    unsent.at("b").keep("")
    assert list(unsent.folder.iterdir()) == []


def test_two_writers_in_one_place_take_nothing_from_each_other(unsent: Unsent) -> None:
    one, other = unsent.at("a"), unsent.at("a")
    one.keep("one")
    assert other.take_up() == []
    other.keep("other")
    one.keep("one, longer")
    other.keep("")
    assert other.take_up() == []
    one.release()
    assert other.take_up() == ["one, longer"]


def test_all_that_was_left_is_taken_up_and_becomes_one(unsent: Unsent) -> None:
    writers = [unsent.at("a") for _ in range(3)]
    for number, writer in enumerate(writers):
        writer.keep(f"text {number}")
        os.utime(writer._path, ns=(number, number))
    for writer in writers:
        writer.release()
    words = unsent.at("a")
    assert words.take_up() == ["text 0", "text 1", "text 2"]
    assert len(list(unsent.folder.iterdir())) == 3, "nothing goes before it is kept anew"
    words.keep("all three")
    words.release()
    assert left_unsent(unsent, "a") == ["all three"]


def test_what_a_killed_process_was_writing_is_nobodys(unsent: Unsent) -> None:
    program = (
        "import sys; from pathlib import Path; from loom.archive.unsent import Unsent\n"
        "words = Unsent(Path(sys.argv[1])).at('a'); words.keep('half a thought'); print('kept', flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(unsent.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"kept\n"
        assert unsent.at("a").take_up() == []
        process.kill()
        process.wait()
    assert left_unsent(unsent, "a") == ["half a thought"]


def test_nobody_else_can_read_it(unsent: Unsent) -> None:
    before = os.umask(0)
    try:
        unsent.at("a").keep("text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(unsent.folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in unsent.folder.iterdir()] == [0o600]


def test_a_lone_surrogate_does_not_cost_the_rest(unsent: Unsent) -> None:
    put_unsent(unsent, "a", "x\ud800y")
    assert left_unsent(unsent, "a") == ["x\ufffdy"]


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        Unsent(tmp_path / "file" / "unsent").at("a").keep("text")


def test_what_could_not_be_read_is_not_taken_away(unsent: Unsent) -> None:
    put_unsent(unsent, "a", "text")
    (unsent.folder / "a.no-file.txt").mkdir()
    words = unsent.at("a")
    with pytest.raises(OSError):
        words.take_up()
    words.keep("new")
    words.keep("")
    (unsent.folder / "a.no-file.txt").rmdir()
    assert left_unsent(unsent, "a") == ["text"]


def test_forgetting_takes_everybodys_and_what_a_crash_left_too(unsent: Unsent) -> None:
    put_unsent(unsent, "a", "text")
    unsent.at("a").keep("text of another")
    put_unsent(unsent, "b", "other")
    (unsent.folder / "a.1234.new").write_text("half")
    unsent.forget("a")
    assert [file.name.split(".")[0] for file in unsent.folder.iterdir()] == ["b"]
    unsent.forget("never there")


def test_a_new_conversation_has_the_place_of_its_folder() -> None:
    assert place_of("id", "/a") == "id"
    assert place_of(None, "/a") == place_of(None, "/a") != place_of(None, "/b")
    assert "/" not in place_of(None, "/a")
