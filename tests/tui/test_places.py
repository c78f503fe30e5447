"""A session that was begun in another folder than the one it is opened in: another checkout, or one that is gone."""

from __future__ import annotations

import shutil
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive.database import connect
from loom.locations import Locations
from loom.tui.places import begun_in_words, is_gone, path_end
from loom.tui.screens import picker
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.line import ReceiptLine
from loom.tui.widgets.session_list import SessionList
from tests.support.browsing import screen_text
from tests.support.seat import Seat, seated


def clone(checkout: Path, name: str) -> Path:
    """Another checkout of the same history."""
    place = checkout.parent / name
    subprocess.run(["git", "clone", "--quiet", str(checkout), str(place)], check=True)
    return place


def notes(seat: Seat) -> list[str]:
    return [line.source for line in seat.chat.query(ReceiptLine)]


async def test_a_session_of_another_checkout_says_once_where_it_works_now(
    locations: Locations, workspace: Path
) -> None:
    other = clone(workspace, "clone")
    async with seated(locations, workspace) as seat:
        await seat.ready()
        assert not notes(seat)
        await seat.talk("read README.md")
        assert "begun_in" not in seat.chat.service.state_yaml()  # type: ignore[union-attr]
    async with seated(locations, other, resume="0", size=(60, 20)) as seat:
        await seat.ready()
        assert notes(seat) == [
            f"Written in {path_end(str(workspace))}; commands and edits now go to {path_end(str(other))}."
        ]
        service = seat.chat.service
        assert service is not None
        yaml = service.state_yaml()
        assert "begun_in: " in yaml and "tools work in the workspace" in " ".join(yaml.split())
        await seat.talk("list the files")
        assert len(notes(seat)) == 1
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert not notes(seat)


async def test_the_list_says_which_sessions_are_of_another_folder_and_which_folder_is_gone(
    locations: Locations, workspace: Path
) -> None:
    other, moved = clone(workspace, "second-clone"), clone(workspace, "third-clone")
    for place in (workspace, other, moved):
        async with seated(locations, place, fresh=True) as seat:
            await seat.ready()
            await seat.talk("read README.md")
    shutil.rmtree(moved)
    for size in ((60, 20), (130, 30)):
        async with seated(locations, workspace, size=size) as seat:
            await seat.until(lambda seat=seat: isinstance(seat.app.screen, PickerScreen) and len(seat.rows) == 4)
            rows = seat.app.screen.query_one(SessionList)
            await seat.until(lambda seat=seat: "clone (gone)" in screen_text(seat.app))
            assert rows.gone == {str(moved)}
            shown = screen_text(seat.app)
            assert "second-clone" in shown
            head, *rest = shown.splitlines()
            assert "checkout" in head and "checkout" not in "".join(rest), "that of this folder goes without saying"
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert ", which is not there any more; commands and edits now go to" in notes(seat)[0]


async def test_a_folder_that_is_found_to_be_gone_late_is_marked_in_rows_that_are_drawn(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = clone(workspace, "second-clone")
    async with seated(locations, moved, fresh=True) as seat:
        await seat.ready()
        await seat.talk("read README.md")
    shutil.rmtree(moved)
    drawn = threading.Event()
    monkeypatch.setattr(picker, "is_gone", lambda path: drawn.wait() and is_gone(path))
    async with seated(locations, workspace) as seat:
        await seat.until(lambda: "second-clone" in screen_text(seat.app))
        assert "(gone)" not in screen_text(seat.app)
        drawn.set()
        await seat.until(lambda: "second-clone (gone)" in screen_text(seat.app))


async def test_a_damaged_folder_name_keeps_nobody_from_the_list(locations: Locations, workspace: Path) -> None:
    other = clone(workspace, "clone")
    for place in (workspace, other):
        async with seated(locations, place, fresh=True) as seat:
            await seat.ready()
            await seat.talk("read README.md")
    with closing(connect(locations.archive)) as connection:
        connection.execute(
            "UPDATE cowork_sessions SET workspace_path = '/srv/a' || char(0) || 'b' WHERE workspace_path = ?",
            (str(other),),
        )
    async with seated(locations, workspace) as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and len(seat.rows) == 3)
        rows = seat.app.screen.query_one(SessionList)
        await seat.until(lambda: "(gone)" in screen_text(seat.app))
        assert rows.gone == {"/srv/a\0b"}


@pytest.mark.parametrize(
    ("path", "chars", "shown"),
    [
        ("/srv/shop", 200, "/srv/shop"),
        ("/srv/" + "deep/" * 100 + "shop", 12, "…p/deep/shop"),
        ("/srv/[/foo]\x1b[2J", 200, "/srv/[/foo]␛[2J"),
    ],
)
def test_the_end_of_a_path_is_what_is_shown(path: str, chars: int, shown: str) -> None:
    assert path_end(path, chars) == shown


def test_the_home_folder_is_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert path_end("/home/ada") == "~"
    assert path_end("/home/ada/src/shop") == "~/src/shop"
    assert path_end("/home/adam/src") == "/home/adam/src"


def test_what_is_only_read_says_nothing_of_commands(tmp_path: Path) -> None:
    assert begun_in_words("/srv/a", "/srv/b", gone=False, read_only=True) == "Written in /srv/a."
    assert not is_gone(str(tmp_path)) and is_gone(str(tmp_path / "none"))
    assert is_gone("/srv/a\0b")
