"""Make docs/tour-context.md: the window over a session, on the screen and on the command line.
`python docs/tour_context.py`.

The window is made small on purpose, so that something leaves it in a few minutes.
"""

from __future__ import annotations

from tour import START, Terminal, Tour, leave, record, say, send

READ = ("loom/context/window.py", "loom/context/fitting.py", "loom/context/meter.py", "loom/context/held.py")


def walk(terminal: Terminal, tour: Tour) -> None:
    send(terminal, START)
    terminal.wait("offline")
    terminal.wait("/9k")  # the gauge has been read: what is typed now is not queued
    say(terminal, "remember: never rename a setting")
    for path in READ:
        say(terminal, f"read {path} lines 1-90")
    say(terminal, "what did we say about the setting?")
    look(terminal, tour)
    leave(terminal)
    ask(terminal, "loom context 0 -w checkout", "expected")
    tour.step("On the command line", "`loom context REF`: the same, for pipes too.", terminal.settle())
    ask(terminal, "loom context 0 -w checkout --at T1", "loom-state")
    tour.step(
        "What the model saw", "`--at T1`: the request that answered T1. `--full` prints every word.", terminal.settle()
    )
    ask(terminal, "loom context 0 -w checkout --diff 10 11", "same beginning")
    tour.step("What changed", "`--diff A B`: what left, what came, what shrank.", terminal.settle())


def ask(terminal: Terminal, command: str, answer: str) -> None:
    """Run a command on an empty screen; wait until it has said `answer`."""
    send(terminal, f"clear; {command}")
    terminal.wait(answer)


def look(terminal: Terminal, tour: Tour) -> None:
    say(terminal, "/context")
    terminal.wait("Exchanges leave at")
    tour.step("The window", "By segment, with the mark at which exchanges leave.", terminal.settle())
    terminal.press("PageDown")
    tour.step(
        "Over the session",
        "Tokens a request, the mark, and where turns left; then what would leave next.",
        terminal.settle(),
    )
    terminal.press("Left")
    terminal.wait("as it was sent")
    tour.step("Time travel", "Left: the newest request, part by part, proved by its digest.", terminal.settle())
    terminal.press("Home")
    terminal.wait("Request 1 of")
    tour.step("The first request", "Home. Left and Right step, t goes to a request or a turn.", terminal.settle())
    terminal.press("t")
    terminal.wait("or a turn")
    terminal.type("10")
    terminal.press("Enter")
    terminal.wait("Request 10 of")
    terminal.press("d")
    terminal.wait("compared with")
    tour.step(
        "Compare", "d: what is different from the request before, or from the one marked with m.", terminal.settle()
    )
    terminal.press("Escape")
    terminal.settle()
    terminal.press("Escape")
    terminal.settle()


if __name__ == "__main__":
    record(
        "tour-context.md",
        "A tour of the window",
        "docs/tour_context.py",
        walk,
        LOOM_CONTEXT_WINDOW="9000",
        LOOM_OUTPUT_RESERVE="1000",
    )
