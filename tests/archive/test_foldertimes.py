"""One look at a folder says whether names in it may have changed: it never says that they stand when one does not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loom.archive.foldertimes import SETTLED_SECONDS, FolderTime, notes_changes


class Names:
    """A file in a folder, and how often its name was looked up."""

    def __init__(self, folder: Path, *, is_noted: bool) -> None:
        self.file = folder / "file"
        self.file.write_text("words")
        self._inode = self.file.stat().st_ino
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self.time = FolderTime(self._descriptor, is_noted=is_noted)
        self.looks = 0

    def close(self) -> None:
        os.close(self._descriptor)

    def hold(self) -> bool:
        return self.time.holds(self._look)

    def _look(self) -> bool:
        self.looks += 1
        try:
            return self.file.lstat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def until_the_folder_says_it(self) -> None:
        before = -1
        while before != self.looks:
            before = self.looks
            assert self.hold()


@pytest.fixture
def names(tmp_path: Path) -> Iterator[Names]:
    if not notes_changes(tmp_path):
        pytest.skip("the file system of the temporary folder is not known to note changes at once")
    names = Names(tmp_path, is_noted=True)
    yield names
    names.close()


def _rename(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))


def _replace(file: Path) -> None:
    other = file.with_name("other")
    other.write_text("other words")
    other.replace(file)


def _put_a_link(file: Path) -> None:
    _rename(file)
    file.symlink_to(file.with_name("elsewhere"))


@pytest.mark.parametrize("harm", [Path.unlink, _rename, _replace, _put_a_link])
def test_a_name_that_is_lost_is_seen_at_once(names: Names, harm: Callable[[Path], None]) -> None:
    names.until_the_folder_says_it()
    harm(names.file)
    assert not names.hold()
    assert not names.hold()


def test_a_name_that_was_put_back_holds_again(names: Names) -> None:
    names.until_the_folder_says_it()
    elsewhere = names.file.rename(names.file.with_name("elsewhere"))
    assert not names.hold()
    elsewhere.rename(names.file)
    assert names.hold()


def test_what_happens_to_another_name_is_no_fault_and_is_forgotten_again(names: Names) -> None:
    names.until_the_folder_says_it()
    names.file.with_name("other").write_text("words")
    looks = names.looks
    assert names.hold()
    assert names.looks == looks + 1
    names.until_the_folder_says_it()


def test_what_is_written_to_the_file_changes_nothing(names: Names) -> None:
    names.until_the_folder_says_it()
    looks = names.looks
    names.file.write_text("other words")
    assert names.hold()
    assert names.looks == looks


def test_no_change_is_too_soon_after_another(names: Names) -> None:
    for _ in range(300):
        assert names.hold()
        elsewhere = names.file.rename(names.file.with_name("elsewhere"))
        assert not names.hold()
        elsewhere.rename(names.file)


def test_a_folder_that_has_just_changed_is_not_believed(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    names.until_the_folder_says_it()
    names.file.with_name("other").write_text("words")
    changed = names.file.parent.stat().st_ctime_ns
    for since, more in ((0, 1), (-5 * 10**9, 1), (int(SETTLED_SECONDS * 1e9) + 1, 1), (0, 0)):
        monkeypatch.setattr(time, "time_ns", lambda since=since: changed + since)
        looks = names.looks
        assert names.hold()
        assert names.looks == looks + more


def test_who_doubts_it_looks_the_names_up(names: Names) -> None:
    names.until_the_folder_says_it()
    looks = names.looks
    names.time.forget()
    assert names.hold()
    assert names.looks == looks + 1


def test_where_changes_are_not_noted_each_look_is_at_the_names(tmp_path: Path) -> None:
    names = Names(tmp_path, is_noted=False)
    begun = time.monotonic()
    while time.monotonic() - begun < 2 * SETTLED_SECONDS:
        looks = names.looks
        assert names.hold()
        assert names.looks == looks + 1
    names.close()
