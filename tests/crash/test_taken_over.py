"""Two looms on two terminals: one is stopped by the kernel, its session is taken over, and it wakes up."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

from loom.archive.check import check
from tests.support.checkout import make_checkout
from tests.support.pty_program import PtyProgram, environment_for

WORDS = "read README.md"
TAKEN = "took this session over"


def test_a_loom_that_wakes_up_is_told_and_goes_on_in_a_fork(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", make_checkout(tmp_path / "checkout")
    environment = environment_for(home, LOOM_MODEL="offline")
    arguments = ["cowork", "-w", str(workspace)]
    with PtyProgram(arguments, environment) as one:
        one.ready()
        one.say(WORDS)
        one.until("T5")
        one.send(signal.SIGSTOP)
        with PtyProgram([*arguments, "--resume", "0"], environment) as other:
            other.until("is open in another loom")
            before = len(other.drawn)
            other.answer("t")
            # The composer is drawn again when the question is gone; the turn number says that the session is there.
            other.until("T5", after=before)
            before = len(other.drawn)
            other.say("find def")
            other.until("T10", after=before)
            one.send(signal.SIGCONT)
            one.until(TAKEN)
            one.press("half a thought\x14")
            # The line above the composer names the answers too: this stands in the question alone.
            one.until("It stays on the screen")
            seen = len(one.drawn)
            one.answer("f")
            one.until("Fork of", after=seen)
            # Which of the two is drawn first is open; the draft is the fork's when both are there.
            one.until_so(lambda: _drafts(home).count("half a thought") == 1, "the draft of the fork")
            one.press("\x11")
            assert one.wait() == 0
            other.press("\x11")
            assert other.wait() == 0
    assert check(home / "archive.db").sound
    assert _drafts(home) == ["half a thought"]


def _drafts(home: Path) -> list[str]:
    kept: list[str] = []
    for path in (home / "unsent").glob("*.txt"):
        with suppress(FileNotFoundError):  # replaced by a newer one in this moment
            kept.append(path.read_text())
    return kept
