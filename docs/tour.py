"""Make docs/tour.md: loom itself in a real terminal, on a clone of this repository. `python docs/tour.py`.

Needs tmux and git. Uses the offline model, a home of its own and nothing of yours; takes about a minute.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 100, 32
ON_THE_WAY = ("opening…", "starting…", "counting the window…")
"""What stands on the screen while a conversation is made ready, which may take longer than a rest."""
PATIENCE = 60.0


class Terminal:
    """A tmux session of its own: keys in, screens out."""

    def __init__(self, folder: Path, env: dict[str, str], width: int = WIDTH, height: int = HEIGHT) -> None:
        self._socket = folder / "tmux.sock"
        self._env = {**os.environ, **env}
        self._tmux("new-session", "-d", "-s", "tour", "-x", str(width), "-y", str(height), "-c", str(folder), "sh")
        self._tmux("set-option", "-g", "status", "off")

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-f", "/dev/null", "-S", str(self._socket), *arguments]
        return subprocess.run(command, env=self._env, check=True, capture_output=True, text=True).stdout

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-t", "tour", "-l", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", "-t", "tour", *keys)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-t", "tour", "-p").rstrip()

    def wait(self, what: str | Callable[[str], bool]) -> str:
        """The screen once it shows `what`. Raises TimeoutError with the screen as it stood."""
        seen = what if callable(what) else lambda screen: what in screen
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            screen = self.screen()
            if seen(screen):
                return screen
            time.sleep(0.1)
        raise TimeoutError(f"the screen never showed {what!r}:\n{self.screen()}")

    def settle(self) -> str:
        """The screen once it has stopped changing for a second and nothing is on its way. Its first line tells the time
        of what runs."""
        last, since = self.screen(), time.monotonic()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.1)
            screen = self.screen()
            if screen.splitlines()[1:] != last.splitlines()[1:] or any(words in screen for words in ON_THE_WAY):
                last, since = screen, time.monotonic()
            elif time.monotonic() - since > 1.0:
                return screen
        raise TimeoutError(f"the screen never came to rest:\n{last}")

    def kill_program(self) -> None:
        """kill -9 what runs in the shell."""
        shell = self._tmux("display-message", "-t", "tour", "-p", "#{pane_pid}").strip()
        children = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout
        for pid in children.split():
            os.kill(int(pid), signal.SIGKILL)

    def close(self) -> None:
        self._tmux("kill-server")


class Tour:
    """The page as it grows."""

    def __init__(self, title: str, source: str) -> None:
        self._lines = [f"# {title}", "", f"Made by `{source}`: real screens of the real program.", ""]

    def step(self, title: str, words: str, screen: str) -> None:
        self._lines += [f"## {title}", "", words, "", "```text", *screen.splitlines(), "```", ""]
        print(f"- {title}", file=sys.stderr)

    def page(self) -> str:
        return "\n".join(self._lines).rstrip() + "\n"


START = "loom cowork -w checkout --model offline"


def walk(terminal: Terminal, tour: Tour) -> None:
    """A morning with loom."""
    work(terminal, tour)
    look_around(terminal, tour)
    come_back(terminal, tour)
    survive(terminal, tour)


def work(terminal: Terminal, tour: Tour) -> None:
    send(terminal, START)
    terminal.wait("Workspace")
    tour.step("Start", "No session here yet, so loom opens on a new one.", terminal.settle())

    say(terminal, 'search "def show_line" in loom')
    tour.step("Find", "Reading runs by itself; each call is a card.", terminal.settle())
    say(terminal, "read loom/text.py lines 40-60")
    tour.step("Read", "The result is folded; Enter on the card opens it.", terminal.settle())

    say(terminal, 'replace "that never forgets" with "that forgets nothing" in README.md')
    terminal.wait("always")
    tour.step("Edit", "An edit shows its diff, whole, and waits.", terminal.settle())
    terminal.press("End")  # a yes counts once the end has been seen
    terminal.settle()
    terminal.press("y")
    terminal.wait(lambda screen: "always" not in screen)
    tour.step("Edited", "After a y it is done.", terminal.settle())

    say(terminal, "run python -m pytest -q tests/test_text.py")
    terminal.wait("always")
    terminal.settle()
    terminal.press("y")
    terminal.wait("passed")
    tour.step("Test", "A command is shown as it will run, then runs.", terminal.settle())

    say(terminal, "run rm -rf docs")
    terminal.wait("always")
    question = terminal.settle()
    terminal.press("n")
    terminal.type("the docs stay")
    terminal.press("Enter")
    terminal.wait("the docs stay")
    tour.step("Refuse", "A dangerous command says why it is one. n, a reason, Enter.", question)
    tour.step("Refused", "The model reads the reason; nothing was run.", terminal.settle())

    say(terminal, "count to 9000", rest=False)
    terminal.wait(lambda screen: " 150, " in screen)
    terminal.press("Escape")
    terminal.wait("interrupted")
    tour.step("Interrupt", "Esc stops an answer. What had arrived is kept, and marked.", terminal.settle())


def look_around(terminal: Terminal, tour: Tour) -> None:
    say(terminal, "/context")
    tour.step("The window", "`/context`: what the model is sent, token by token.", terminal.settle())
    terminal.press("Escape")
    terminal.settle()
    terminal.press("C-f")
    terminal.settle()
    terminal.type("forgets nothing")
    tour.step("The archive", "Ctrl+F searches everything that was said, as you type.", terminal.settle())
    terminal.press("Escape")
    terminal.settle()
    leave(terminal)


def come_back(terminal: Terminal, tour: Tour) -> None:
    send(terminal, START)
    terminal.wait("New session")
    tour.step("The next day", "Started again, loom opens on the picker.", terminal.settle())
    terminal.press("Down")
    terminal.press("Enter")
    terminal.wait(" 150, ")
    tour.step("Resumed", "Everything is where it was.", terminal.settle())
    say(terminal, "what did we say about the docs?")
    tour.step("Recall", "What left the window, or another day, is one question away.", terminal.settle())


def survive(terminal: Terminal, tour: Tour) -> None:
    say(terminal, "count to 9000", rest=False)
    terminal.wait(lambda screen: " 300, " in screen)
    time.sleep(1.5)  # more than the half second that words may take to the disk
    terminal.kill_program()
    terminal.wait("Killed")
    # The terminal is as the program left it: it draws over the dead screen, and Enter ends no line.
    terminal.type("reset")
    terminal.press("C-j")
    terminal.wait(at_the_shell)
    send(terminal, f"{START} --resume")
    terminal.wait(lambda screen: " 300, " in screen and "interrupted" in screen)
    tour.step(
        "kill -9", "Killed in the middle of an answer: it is there, up to the last half second.", terminal.settle()
    )
    say(terminal, "git status")
    tour.step("And on", "The session goes on.", terminal.settle())
    terminal.press("C-q")


def send(terminal: Terminal, command: str) -> None:
    terminal.type(command)
    terminal.press("Enter")


def leave(terminal: Terminal) -> None:
    """Quit, back to the shell."""
    terminal.press("C-q")
    terminal.wait(at_the_shell)


def at_the_shell(screen: str) -> bool:
    """Whether the shell waits for a command."""
    return screen.endswith(("$", "#"))


def say(terminal: Terminal, text: str, *, rest: bool = True) -> None:
    """Type a message and send it; wait for the screen to come to rest after it, unless told not to."""
    terminal.settle()
    terminal.type(text)
    terminal.press("Enter")
    if rest:
        terminal.settle()


def record(page: str, title: str, source: str, walk: Callable[[Terminal, Tour], None], **environment: str) -> None:
    """Walk through loom on a fresh clone with an empty home, and write what was seen to docs/`page`."""
    folder = Path(tempfile.gettempdir()) / "loom-tour"  # always the same, since the screens show it
    folder.mkdir(mode=0o700)
    try:
        checkout = str(folder / "checkout")
        subprocess.run(["git", "clone", "-q", str(ROOT), checkout], check=True)
        # The same screens, whichever branch they are made on.
        subprocess.run(["git", "-C", checkout, "checkout", "-q", "-B", "main", "--no-track"], check=True)
        env = {
            "HOME": str(folder),
            "LOOM_HOME": str(folder / "home"),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PS1": "$ ",
            "TERM": "xterm-256color",
        }
        terminal, tour = Terminal(folder, env | environment), Tour(title, source)
        try:
            walk(terminal, tour)
        finally:
            terminal.close()
        (ROOT / "docs" / page).write_text(tour.page(), encoding="utf-8")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    record("tour.md", "A tour of loom", "docs/tour.py", walk, LOOM_OFFLINE_DELAY_MS="2")
