"""Sessions that go wrong in every way, for the tests of what holds in all of them."""

from __future__ import annotations

from hypothesis import strategies as st

from loom.archive.records import NewTurn, TurnKind
from loom.context.budget import WindowTooSmall
from loom.context.window import Assembly, Window
from tests.support.window_rows import Rows, words

happenings = st.lists(
    st.tuples(
        st.sampled_from(
            ["ask", "ask", "run", "answer", "call", "result", "call", "result", "orphan", "note", "report", "overflow"]
        ),
        st.integers(1, 500) | st.integers(500, 16_000),
    ),
    min_size=10,
    max_size=60,
)
"""What happens and how large it is (characters, about), in the order of time."""


def play(events: list[tuple[str, int]], window: Window, rows: Rows) -> list[tuple[Assembly, str]]:
    """Run a session that goes wrong in every way; the requests that were made, with the newest wish."""
    made: list[tuple[Assembly, str]] = []
    wish, open_call = "", ""
    for at, (what, size) in enumerate([("ask", 10), *events]):
        if what == "ask":
            wish, open_call = f"wish {at} " + "x " * (size // 2), ""
            window.add(rows.ask(wish))
        elif what == "run":
            wish, open_call = f"make {at}", ""
            window.add(rows.run(wish, "out\n" * size))
            continue
        elif what == "answer":
            window.add(rows.answer(f"answer {at} " + "y" * (size // 4)))
            continue
        elif what == "call":
            open_call = f"c{at}" if size % 5 else "call_0"
            window.add(rows.call(open_call, path="p" * (size % 90)))
            continue
        elif what in ("result", "orphan"):
            outcome = ("success", "failed", "denied")[size % 3]
            window.add(rows.result(open_call if what == "result" else "nobody", "r\n" * size, outcome=outcome))
        elif what == "note":
            window.add(rows.append([NewTurn(role="system", kind=TurnKind.NOTE, content="n")]))
            continue
        elif what == "report" and made:
            window.report(made[-1][0].tokens * (70 + size % 80) // 100)
            continue
        elif what == "overflow" and size % 7 == 0:
            window.overflowed()
            continue
        try:
            assembly = window.assemble()
        except WindowTooSmall:
            continue
        made.append((assembly, wish))
        if assembly.receipt:
            window.add(rows.append([assembly.receipt.turn(words)]))
    return made
