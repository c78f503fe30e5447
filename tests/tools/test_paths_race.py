"""Somebody puts links in the place of files and folders while tools use them: nothing outside is read or written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loom.tools.outcome import ToolFailure
from loom.tools.paths import Workspace
from loom.tools.replacing import read_whole, replace_file
from loom.tools.walk import walk

TRIES = 3_000
"""With the flags that follow no link taken away, a tenth of them sees what is outside."""

_SWAP = """
import os, shutil, sys
here, aside, link = sys.argv[1:]
def put(what):
    # Nothing has the name but a folder that was made there meanwhile.
    while True:
        try:
            return os.rename(what, here)
        except OSError:
            shutil.rmtree(here, ignore_errors=True)
print("begun", flush=True)
while True:
    os.rename(here, aside)
    put(link)
    os.rename(here, link)
    put(aside)
"""


@contextmanager
def swapping(here: Path, there: Path) -> Iterator[None]:
    """While it lasts `here` is what it was, then a link to `there`, and so on, as fast as it can be."""
    aside, link = here.with_name("aside"), here.with_name("link")
    link.symlink_to(there)
    with subprocess.Popen(
        [sys.executable, "-c", _SWAP, str(here), str(aside), str(link)], stdout=subprocess.PIPE
    ) as child:
        try:
            assert child.stdout is not None and child.stdout.readline() == b"begun\n"
            yield
        finally:
            child.kill()


@pytest.fixture
def inside(root: Path) -> Path:
    (root / "src").mkdir()
    (root / "src" / "secret.txt").write_text("inside\n")
    return root / "src"


def test_a_file_that_becomes_a_link_again_and_again_is_never_read_through_it(
    workspace: Workspace, inside: Path, outside: Path
) -> None:
    seen, refused, tries = set(), 0, 0
    with swapping(inside / "secret.txt", outside / "secret.txt"):
        while tries < TRIES or not seen or not refused:
            tries += 1
            try:
                with workspace.open(workspace.place("src/secret.txt")) as file:
                    seen.add(file.read())
            except ToolFailure:
                refused += 1
    assert seen == {b"inside\n"}


def test_a_folder_that_becomes_a_link_again_and_again_is_never_entered_through_it(
    workspace: Workspace, inside: Path, outside: Path
) -> None:
    (outside / "only-outside.txt").write_text("x")
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    read, found, refused, tries = set(), set(), 0, 0
    with swapping(inside, outside):
        while tries < TRIES or not read or not refused:
            tries += 1
            try:
                read.add(read_whole(workspace, workspace.place("src/secret.txt")))
                found.update(each.place.relative for each in walk(workspace, workspace.place("src")))
                replace_file(workspace, workspace.place("src/new.txt"), b"new", lambda: None)
            except ToolFailure:
                refused += 1
    assert read <= {b"inside\n", None}
    assert not any("only-outside" in name for name in found)
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
