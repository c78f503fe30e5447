"""The program on a real terminal that takes nothing out of what is pasted: a paste is text, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.test_screen_typed_ahead import Place

UNREAD = "\N{REPLACEMENT CHARACTER}"
START, END = "\x1b[200~", "\x1b[201~"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    "begins",
    [
        pytest.param("\x1b\x7f", id="an escape, and a backspace, so that the composer is empty again"),
        pytest.param(END, id="the end of a paste"),
    ],
)
async def test_what_follows_in_a_paste_is_no_keys(place: Place, begins: str) -> None:
    with place.loom() as loom:
        loom.ready()
        loom.say("read README.md")
        loom.until("T5")
        # A command of the shell, and Enter.
        loom.press(f"{START}{begins}!>ran\rlist files\r{'x' * 40}{END}")
        loom.until("cannot be seen")
        loom.press(" the end")
        loom.until("the end")
        loom.press("\x11")
        assert loom.wait() == 0
    assert not (place.workspace / "ran").exists()
    assert await place.said() == ["read README.md"]


async def test_a_paste_in_another_encoding_is_written_as_far_as_it_can_be_read(place: Place) -> None:
    with place.loom() as loom:
        loom.ready()
        loom.press(f"{START}list the ".encode() + b"\xe9\xff" + END.encode())
        loom.until(f"list the {UNREAD}{UNREAD}")
        loom.press(b"\xff files\r")
        loom.until("T1")
        loom.press("\x11")
        assert loom.wait() == 0
    assert await place.said() == [f"list the {UNREAD}{UNREAD}{UNREAD} files"]
