"""Nothing outside the workspace is reached, however it is spelled."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.text import UNSAFE
from loom.tools.outcome import ToolFailure
from loom.tools.paths import OutsideWorkspace, Place, Workspace, shown_name


def read(workspace: Workspace, path: str) -> str:
    with workspace.open(workspace.place(path)) as file:
        return file.read().decode()


@pytest.fixture(autouse=True)
def inside(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("inside\n")


@pytest.mark.parametrize("path", ["src/a.py", "./src//a.py", "src/../src/a.py", "src/./a.py"])
def test_a_relative_path_inside_is_read(workspace: Workspace, path: str) -> None:
    assert read(workspace, path) == "inside\n"


def test_an_absolute_path_inside_is_read(workspace: Workspace, root: Path) -> None:
    assert read(workspace, str(root / "src" / "a.py")) == "inside\n"


@pytest.mark.parametrize("path", ["../outside/secret.txt", "src/../../outside/secret.txt", "/etc/passwd", "/", ".."])
def test_a_path_that_leaves_the_workspace_is_refused(workspace: Workspace, path: str) -> None:
    with pytest.raises(OutsideWorkspace, match="outside the workspace"):
        workspace.place(path)


def test_a_folder_whose_name_begins_like_the_workspace_is_outside(workspace: Workspace, root: Path) -> None:
    other = root.with_name(root.name + "-other")
    other.mkdir()
    with pytest.raises(OutsideWorkspace):
        workspace.place(str(other / "x"))


@pytest.mark.parametrize("link", ["file", "folder/secret.txt", "chain/secret.txt"])
def test_a_symlink_that_leads_out_is_refused(workspace: Workspace, root: Path, outside: Path, link: str) -> None:
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    (root / "chain").symlink_to("folder")
    with pytest.raises(OutsideWorkspace):
        workspace.place(link)


def test_a_symlink_inside_leads_to_what_it_names(workspace: Workspace, root: Path) -> None:
    (root / "link").symlink_to("src/a.py")
    assert read(workspace, "link") == "inside\n"
    assert workspace.place("link").relative == "src/a.py"


def test_a_symlink_that_names_itself_is_refused(workspace: Workspace, root: Path) -> None:
    (root / "loop").symlink_to("loop")
    with pytest.raises(ToolFailure):
        read(workspace, "loop")


def test_a_file_swapped_for_a_symlink_after_the_check_is_not_followed(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    place = workspace.place("src/a.py")
    (root / "src" / "a.py").unlink()
    (root / "src" / "a.py").symlink_to(outside / "secret.txt")
    with pytest.raises(ToolFailure), workspace.open(place) as file:
        pytest.fail(f"opened {file}")


def test_a_folder_swapped_for_a_symlink_after_the_check_is_not_followed(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    place = Place(("src", "secret.txt"))
    (root / "src").rename(root / "old")
    (root / "src").symlink_to(outside)
    with pytest.raises(ToolFailure), workspace.open(place):
        pytest.fail("opened")
    with pytest.raises(ToolFailure), workspace.beside(place):
        pytest.fail("entered")
    with pytest.raises(ToolFailure), workspace.listing(Place(("src",))):
        pytest.fail("listed")


@pytest.mark.parametrize("path", [".state/loom", ".state/loom/archive.db", ".state/loom/new", "to-home/archive.db"])
def test_looms_own_home_is_refused(workspace: Workspace, root: Path, home: Path, path: str) -> None:
    (root / "to-home").symlink_to(home)
    with pytest.raises(OutsideWorkspace, match="belongs to loom"):
        workspace.place(path)


def test_another_name_of_looms_own_file_is_refused(workspace: Workspace, root: Path, home: Path) -> None:
    os.link(home / "archive.db", root / "innocent.txt")
    with pytest.raises(OutsideWorkspace, match="belongs to loom"):
        read(workspace, "innocent.txt")


def test_an_ordinary_hard_link_is_read(workspace: Workspace, root: Path) -> None:
    os.link(root / "src" / "a.py", root / "b.py")
    assert read(workspace, "b.py") == "inside\n"


def test_a_named_pipe_is_refused_without_waiting_for_a_writer(workspace: Workspace, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(ToolFailure, match="named pipe"):
        read(workspace, "pipe")


def test_a_socket_is_refused(workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        with pytest.raises(ToolFailure, match="socket"):
            read(workspace, "socket")


def test_a_device_is_refused(root: Path) -> None:
    with pytest.raises(ToolFailure, match="device"):
        read(Workspace(Path("/dev")), "null")


def test_a_folder_is_not_read_as_a_file(workspace: Workspace) -> None:
    with pytest.raises(ToolFailure, match=r"src is a folder.*list_directory"):
        read(workspace, "src")
    with pytest.raises(ToolFailure, match="folder"):
        read(workspace, ".")


def test_a_missing_file_is_said_to_be_missing(workspace: Workspace) -> None:
    with pytest.raises(ToolFailure, match=r"There is no src/b\.py"):
        read(workspace, "src/b.py")
    with pytest.raises(ToolFailure):
        read(workspace, "src/a.py/below")


@pytest.mark.parametrize("path", ["", "   ", "a\0b", "\ud800", "x" * 300, "/".join(["y" * 200] * 40)])
def test_a_path_that_no_file_can_have_is_refused_in_words(workspace: Workspace, path: str) -> None:
    with pytest.raises(ToolFailure):
        read(workspace, path)


@pytest.mark.parametrize(
    "name", ["two\nlines", "\x1b[31mred", "tab\there", 'quote"d', " spaces ", "-dash", "ünï", "\u202ertl"]
)
def test_a_strange_name_is_read_and_shown_on_one_harmless_line(workspace: Workspace, root: Path, name: str) -> None:
    (root / name).write_text("strange\n")
    assert read(workspace, name) == "strange\n"
    shown = workspace.place(name).shown
    assert "\n" not in shown
    assert not UNSAFE.search(shown)


def test_a_name_that_is_not_utf8_can_be_shown(root: Path) -> None:
    assert shown_name(os.fsdecode(b"caf\xe9.txt")) == '"caf\\udce9.txt"'


def test_a_workspace_that_is_given_through_a_symlink_is_its_real_folder(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    workspace = Workspace(tmp_path / "link")
    assert read(workspace, str(tmp_path / "link" / "src" / "a.py")) == "inside\n"


_PIECES = st.sampled_from(
    [".", "..", "a", "b", "up", "out", "self", "/", "//", "~", "etc", "\x1b", "\n", "\ud800", "\0"]
)


@given(st.lists(_PIECES, max_size=8).map("/".join) | st.text(max_size=30))
def test_whatever_is_asked_for_is_inside_or_refused(path: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "root"
        (root / "a" / "b").mkdir(parents=True)
        (root / "a" / "up").symlink_to("..")
        (root / "out").symlink_to("/etc")
        (root / "a" / "out").symlink_to("../..")
        (root / "self").symlink_to("self")
        workspace = Workspace(root)
        try:
            place = workspace.place(path)
        except ToolFailure:
            return
        assert ".." not in place.parts
        assert Path(os.path.realpath(workspace.path(place))).is_relative_to(root)
        assert not UNSAFE.search(place.shown)
