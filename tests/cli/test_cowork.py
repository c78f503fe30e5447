"""What is to be said as loom starts: variables that nobody knows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import make_checkout
from tests.support.pty_program import PtyProgram, environment_for


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


def test_without_a_screen_it_is_one_line_on_standard_error_and_no_failure(workspace: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loom", "cowork", "-w", str(workspace), "-p", "read README.md"],
        env=environment_for(workspace.parent / "home", LOOM_MODEL="offline", LOOM_MODLE="x"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    said = [line for line in done.stderr.splitlines() if line.startswith("loom:")]
    assert said == ["loom: LOOM_MODLE is no setting of loom's and does nothing (is LOOM_MODEL meant?)."]


def test_on_the_screen_it_is_said_in_passing(workspace: Path) -> None:
    environment = environment_for(workspace.parent / "home", LOOM_MODEL="offline", LOOM_XYZ="x")
    with PtyProgram(["cowork", "-w", str(workspace)], environment) as loom:
        loom.until("LOOM_XYZ is no setting")
        loom.press("read README.md\r")
        loom.until("A small program")
        loom.press("\x11")
        assert loom.wait() == 0
