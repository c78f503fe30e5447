"""The program on a real terminal while the clock is set back and forward: what was cut off comes back, and the list
says how long ago each session was used, never what lies ahead."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from loom.archive.check import check
from tests.crash.test_command_killed import SHELL, drafted
from tests.support.checkout import make_checkout
from tests.support.pty_program import PtyProgram, environment_for

_LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


@pytest.mark.skipif(_LIBRARY is None, reason="libfaketime is not installed")
@pytest.mark.parametrize(("killed_at", "found_at", "ago"), [("-30d", "+30d", "2 mo"), ("+30d", "-30d", "now")])
async def test_a_draft_comes_back_whatever_the_clock_says(
    tmp_path: Path, killed_at: str, found_at: str, ago: str
) -> None:
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    environment = environment_for(
        home,
        LOOM_MODEL="offline",
        LD_PRELOAD=str(_LIBRARY),
        FAKETIME_DONT_FAKE_MONOTONIC="1",
        # With it threads that wait for their turn spin, and a start takes three times as long.
        FAKETIME_FORCE_MONOTONIC_FIX="0",
    )
    with PtyProgram(["cowork", "-w", str(workspace)], environment | {"FAKETIME": killed_at}) as loom:
        loom.ready()
        loom.press("!")
        loom.until(SHELL)
        loom.say("echo begun; sleep 600")
        loom.until("running")
        await drafted(home, "begun")
        loom.send(signal.SIGKILL)
        loom.wait()
    with PtyProgram(["cowork", "-w", str(workspace)], environment | {"FAKETIME": found_at}) as loom:
        loom.until("1 turn")
        row = re.compile(rf"1 turn\s+{ago}\b")
        loom.until_so(lambda: row.search(loom.drawn) is not None, ago)
        loom.press("\x1b[B\r")
        loom.until("cut off: loom was ended while it ran")
        loom.press("\x11")
        assert loom.wait() == 0
    assert check(home / "archive.db").sound
