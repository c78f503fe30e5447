"""Numbers side by side, for people."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def median(seconds: Sequence[float]) -> float:
    """Microseconds."""
    return statistics.median(seconds) * 1e6


def p99(seconds: Sequence[float]) -> float:
    """Microseconds."""
    return sorted(seconds)[int(len(seconds) * 0.99)] * 1e6


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    print(f"\n{title}\n")
    print(f"| {' | '.join(head)} |")
    print(f"|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
