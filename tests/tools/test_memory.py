"""The memory: never a word of it lost, whoever writes, and however."""

from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from loom.archive.workspaces import Workspace
from loom.tools.memory import MemoryTools
from loom.tools.memory_file import MAX_BYTES, MemoryFile, MemoryProblem, memory_folder
from loom.tools.outcome import ToolFailure
from tests.support.sealed import sealed


@pytest.fixture
def memory(tmp_path: Path) -> MemoryFile:
    return MemoryFile(tmp_path / "home" / "memory" / "one")


@pytest.fixture
def tools(memory: MemoryFile) -> MemoryTools:
    return MemoryTools(lambda: memory)


async def test_what_is_written_is_read_and_shown_as_a_diff(tools: MemoryTools, memory: MemoryFile) -> None:
    assert "Nothing is noted" in (await tools.read_memory()).content
    first = await tools.write_memory("- tests: `pytest -q`")
    await tools.write_memory("- port 8123\n")
    assert memory.read().text == "- tests: `pytest -q`\n- port 8123\n"
    assert (await tools.read_memory()).content == memory.read().text
    assert first.facts["action"] == "remembered" and "+- tests: `pytest -q`" in first.facts["diff"]
    change = await tools.update_memory("port 8123", "port 9000")
    assert (change.facts["added"], change.facts["removed"]) == (1, 1)
    assert stat.S_IMODE(memory.path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("old", "words"), [("port 1", "does not stand"), ("port", "stands 2 times"), ("", "not stand")]
)
async def test_only_what_stands_there_once_is_replaced(
    tools: MemoryTools, memory: MemoryFile, old: str, words: str
) -> None:
    await tools.write_memory("port 8123, port 9000")
    with pytest.raises(ToolFailure, match=words):
        await tools.update_memory(old, "x")
    with pytest.raises(ToolFailure, match="nothing to note"):
        await tools.write_memory(" \n")
    assert memory.read().text == "port 8123, port 9000\n"


def test_every_change_can_be_taken_back_one_after_the_other(memory: MemoryFile) -> None:
    for text in ("one", "two", "three"):
        memory.append(text)
    memory.replace("two\n", "")
    assert memory.undo().after == "one\ntwo\nthree\n"
    assert memory.undo().after == "one\ntwo\n"
    memory.append("four")
    assert memory.undo().after == "one\ntwo\n"
    assert memory.undo().after == "one\n"
    assert memory.undo().after == ""
    with pytest.raises(MemoryProblem, match="no change"):
        memory.undo()
    kept = {path.read_bytes() for path in (memory.folder / "history").iterdir()}
    assert {b"one\n", b"one\ntwo\n", b"one\ntwo\nthree\n", b"one\nthree\n", b"one\ntwo\nfour\n"} <= kept


def test_an_edit_from_outside_is_a_change_of_its_own(memory: MemoryFile) -> None:
    memory.append("model's note")
    memory.path.write_text("model's note\nmy own line\n")
    assert memory.undo().after == "model's note\n"
    assert memory.undo().after == ""
    with pytest.raises(MemoryProblem, match="no change"):
        memory.undo()
    kept = {path.read_bytes() for path in (memory.folder / "history").iterdir()}
    assert b"model's note\nmy own line\n" in kept


def test_an_edit_from_outside_below_another_change_is_found_again(memory: MemoryFile) -> None:
    memory.append("one")
    memory.path.write_text("one\nmine\n")
    memory.append("two")
    assert [memory.undo().after for _ in range(3)] == ["one\nmine\n", "one\n", ""]


def test_an_edit_after_a_change_was_taken_back_stays_apart_from_it(memory: MemoryFile) -> None:
    memory.append("one")
    memory.undo()
    memory.path.write_text("mine\n")
    assert memory.undo().after == ""
    with pytest.raises(MemoryProblem, match="no change"):
        memory.undo()


def test_a_file_removed_from_outside_comes_back(memory: MemoryFile) -> None:
    memory.append("one")
    memory.path.unlink()
    assert memory.undo().after == "one\n"


def test_nothing_is_taken_back_when_the_text_before_it_is_gone(memory: MemoryFile) -> None:
    memory.append("one")
    for text in (memory.folder / "history").iterdir():
        if text.name != "log.json":
            text.unlink()
    memory.path.write_text("mine\n")
    log = (memory.folder / "history" / "log.json").read_bytes()
    with pytest.raises(MemoryProblem, match="no longer kept"):
        memory.undo()
    assert memory.read().text == "mine\n"
    assert (memory.folder / "history" / "log.json").read_bytes() == log


def test_nobody_else_may_look_whatever_the_umask(memory: MemoryFile) -> None:
    before = os.umask(0)
    try:
        memory.append("one")
    finally:
        os.umask(before)
    folders = [memory.folder.parent, memory.folder, memory.folder / "history"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 3
    files = [path for path in memory.folder.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_bytes_that_are_no_text_stay_as_they_are(memory: MemoryFile) -> None:
    memory.append("begin")
    memory.path.write_bytes(b"caf\xe9 \xff\n")
    memory.append("more")
    memory.replace("more", "less")
    assert memory.path.read_bytes() == b"caf\xe9 \xff\nless\n"
    assert memory.read().text == "caf\ufffd \ufffd\nless\n"


def test_a_huge_file_is_read_by_its_head_and_may_only_shrink(memory: MemoryFile) -> None:
    memory.append("begin")
    memory.path.write_bytes(b"line\n" * 2_000_000 + b"the end\n")
    found = memory.read()
    assert (len(found.text), found.size) == (MAX_BYTES, 10_000_008)
    with pytest.raises(MemoryProblem, match="it may have 262,144"):
        memory.append("more")
    memory.replace("the end\n", "")
    assert memory.read().size == 10_000_000


def test_a_link_or_a_pipe_in_its_place_is_not_followed(memory: MemoryFile, tmp_path: Path) -> None:
    memory.append("begin")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    memory.path.unlink()
    memory.path.symlink_to(secret)
    for attempt in (memory.read, memory.whole, lambda: memory.append("x"), memory.undo):
        with pytest.raises(MemoryProblem, match="symbolic link"):
            attempt()
    assert secret.read_text() == "secret"
    memory.path.unlink()
    os.mkfifo(memory.path)
    with pytest.raises(MemoryProblem, match="not a regular file"):
        memory.read()


def test_an_edit_of_what_has_changed_meanwhile_is_refused(memory: MemoryFile) -> None:
    memory.append("one")
    before = memory.whole()
    memory.append("two")
    with pytest.raises(MemoryProblem, match="changed meanwhile"):
        memory.rewrite(b"mine", before)
    memory.rewrite(b"mine", memory.whole())
    assert memory.undo().after == "one\ntwo\n"


def test_a_damaged_list_of_changes_is_said_and_nothing_is_overwritten(memory: MemoryFile) -> None:
    memory.append("one")
    (memory.folder / "history" / "log.json").write_text("{")
    with pytest.raises(MemoryProblem, match="damaged"):
        memory.append("two")
    assert memory.read().text == "one\n"


def _write_many(folder: str, name: str) -> None:
    for number in range(20):
        MemoryFile(Path(folder)).append(f"{name} {number}")


def test_two_processes_lose_nothing_of_each_other(memory: MemoryFile) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(str(memory.folder), name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    lines = memory.read().text.splitlines()
    assert sorted(lines) == sorted(f"{name} {number}" for name in "ab" for number in range(20))


def test_a_checkout_that_moved_finds_its_memory(tmp_path: Path) -> None:
    here, there = Workspace("/a", "c0ffee"), Workspace("/b", "c0ffee")
    assert memory_folder(tmp_path, here) == memory_folder(tmp_path, there)
    assert memory_folder(tmp_path, here) != memory_folder(tmp_path, Workspace("/a", None))


def test_a_memory_from_before_the_first_commit_goes_on_after_it(tmp_path: Path) -> None:
    MemoryFile(memory_folder(tmp_path, Workspace("/a", None))).append("begun early")
    after = MemoryFile(memory_folder(tmp_path, Workspace("/a", "c0ffee")))
    assert after.read().text == "begun early\n"
    assert after.undo().after == ""


def test_a_memory_that_cannot_be_moved_is_still_found(tmp_path: Path) -> None:
    MemoryFile(memory_folder(tmp_path, Workspace("/a", None))).append("begun early")
    with sealed(tmp_path / "memory"):
        assert MemoryFile(memory_folder(tmp_path, Workspace("/a", "c0ffee"))).read().text == "begun early\n"
