"""Talks a long session over the loopback server: python -m tests.bench.long_session [--exchanges N]."""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from collections import Counter
from pathlib import Path

from tests.bench.table import show
from tests.support.checkout import make_checkout
from tests.support.long_session import BUILD, CONSTRAINT, SETTINGS, CountingModel, run, serve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exchanges", type=int, default=400)
    exchanges = parser.parse_args().exchanges
    with tempfile.TemporaryDirectory() as folder, serve(CountingModel()) as server:
        os.environ["OPENAI_BASE_URL"] = server.base_url
        workspace = make_checkout(Path(folder) / "checkout")
        came = asyncio.run(run(Path(folder) / "home", workspace, exchanges))
    stored = sum(turn.token_count for turn in came.turns)
    rows = [
        ("exchanges", f"{exchanges:,}: {dict(Counter(str(outcome) for outcome in came.outcomes))}"),
        ("turns, their tokens", f"{len(came.turns):,}, {stored:,}"),
        ("window, largest request", f"{SETTINGS.context_window:,}, {came.most_tokens:,} tokens"),
        ("times that something left", f"{came.trims:,}"),
        ("gauge against the server, median", f"{statistics.median(came.errors):.2%}"),
        ("gauge against the server, worst", f"{max(came.errors):.2%}"),
        ("requests put together again as they were sent", f"{came.put_together_again:.0%}"),
        ("the constraint of T1 is in the last state", str(CONSTRAINT.rstrip(".") in came.last_system)),
        ("the command of the second exchange was recalled exactly", str(BUILD in came.recalled)),
    ]
    show("A long session in a small window", ("", ""), rows)


if __name__ == "__main__":
    main()
