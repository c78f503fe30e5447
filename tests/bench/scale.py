"""Measures what it costs that common words are not read to their end: python -m tests.bench.scale FOLDER.

FOLDER holds the labelled conversations of `tests.bench.recall`. All of them are stored in one archive, and the
questions about the oldest are asked of everything: once as it is, and with a share of what the product reads of each
word (`search/budget.py`), so that a few thousand turns stand for many times as many.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loom.archive import ConversationStore
from loom.archive.reindex import reindex
from loom.archive.search import budget, postings
from tests.bench.recall import ask_all, load
from tests.bench.table import show

SAME_TURNS = "plain"
"""In the name of a set that has the turns of another one, in other words."""
SHARES = (1, 4, 10, 25)
LIMITS = ("BUDGET", "FIRST", "LEAST_FIRST", "SUPPLEMENT", "MAX_ANCHORS")


@contextmanager
def divided(share: int) -> Iterator[None]:
    """So much less is read of each word."""
    kept = [
        (module, name, getattr(module, name))
        for module in (budget, postings)
        for name in LIMITS
        if hasattr(module, name)  # postings has some of them by name
    ]
    try:
        for module, name, value in kept:
            setattr(module, name, value // share)
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)


async def measure(sets: list[dict[str, Any]]) -> None:
    """Prints the table, a column for each set."""
    columns = [await _column(data, [other for other in sets if other is not data]) for data in sets]
    names = [f"{data['name']} (R@5 / R@10)" for data in sets]
    rows = [[as_of, *(column[as_of] for column in columns)] for as_of in columns[0]]
    show("Asked of everything, with the set that is asked about the oldest", ["as of turns", *names], rows)


async def _column(data: dict[str, Any], newer: list[dict[str, Any]]) -> dict[str, str]:
    """The figures of a set that was stored before the others, by how many turns it is as of."""
    with tempfile.TemporaryDirectory() as folder:
        store = await ConversationStore.open(Path(folder) / "archive.db")
        ids = await load(store, data["sessions"])
        for other in newer:
            await load(store, other["sessions"])
        turns = (await store.search("settle")).searched_turns
        await asyncio.to_thread(reindex, store.path)
        figures = {}
        for share in SHARES:
            with divided(share):
                figures[f"{turns * share:,}"] = await _figures(store, data, ids)
        await store.close()
    return figures


async def _figures(store: ConversationStore, data: dict[str, Any], ids: dict[str, str]) -> str:
    async def everywhere(session: str, query: str, limit: int) -> list[int]:
        hits = (await store.search(query, limit=limit)).hits
        return [hit.turn_number if hit.session_id == ids[session] else -place for place, hit in enumerate(hits, 1)]

    asked = await ask_all(data["queries"], everywhere)
    means = (statistics.fmean(getattr(one.score, field) for one in asked) for field in ("recall_5", "recall_10"))
    return " / ".join(f"{100 * mean:.1f}" for mean in means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    sets = []
    for file in sorted(parser.parse_args().folder.glob("*.json.gz")):
        if SAME_TURNS not in file.name:
            with gzip.open(file) as packed:
                sets.append(json.load(packed))
    asyncio.run(measure(sets))


if __name__ == "__main__":
    main()
