"""The program on a real terminal, and an editor that cannot be run."""

from __future__ import annotations

from pathlib import Path

from tests.support.checkout import make_checkout
from tests.support.pty_program import PtyProgram, environment_for


def test_an_editor_that_fails_gives_the_terminal_back(tmp_path: Path) -> None:
    workspace = make_checkout(tmp_path / "checkout")
    environment = environment_for(tmp_path / "home", LOOM_MODEL="offline", EDITOR="/no/such/editor", VISUAL="")
    with PtyProgram(["cowork", "-w", str(workspace)], environment) as loom:
        loom.ready()
        loom.until("k/200k")
        loom.say("/memory")
        loom.until("Nothing is noted yet")
        loom.press("e")
        loom.until("cannot be run")
        loom.press("\x11")
        assert loom.wait() == 0
