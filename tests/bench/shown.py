"""Measures what the model is shown: python -m tests.bench.shown FOLDER [--set NAME].

For each labelled question (see `tests.bench.recall`) `conversation_recall` is called as a model calls it, and the
turns that answer it are looked for in what comes back: among the first 8,000 and 32,000 characters, and in all of it,
which is `recall_tokens` at most.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loom.archive import ConversationStore, Session
from loom.archive.reindex import reindex
from loom.config import Settings
from loom.context.tokens import TokenCounter
from loom.cowork.recall_source import ArchiveRecall
from loom.tools.recall import Recall
from tests.bench.recall import load

HEAD = re.compile(r"^\[Turn (\d+)\]", re.MULTILINE)
WITHIN = (8_000, 32_000)
"""Characters."""


@dataclass(frozen=True)
class Shown:
    shares: tuple[float, ...]
    """Of the turns that answer the question, in each of `WITHIN` and in all."""
    characters: int
    tokens: int


def shown(answer: str, evidence: list[int], tokens: int) -> Shown:
    """A turn counts where its head ends within the characters: what is said begins there."""
    begins = {int(head[1]): head.end() for head in reversed(list(HEAD.finditer(answer)))}
    shares = [
        sum(begins.get(turn, most) < most for turn in evidence) / len(evidence) for most in (*WITHIN, len(answer))
    ]
    return Shown(tuple(shares), len(answer), tokens)


def recall_of(store: ConversationStore, session: Session, counter: TokenCounter) -> Recall:
    # The exchange that asks comes behind all that was said.
    asking = replace(session, exchange_count=session.exchange_count + 1)
    source = ArchiveRecall(store, "/bench", lambda: asking, lambda: "", lambda: (), lambda turn: True)
    return Recall(source, Settings(), counter.count)


async def measure(data: dict[str, Any], counter: TokenCounter) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = await ConversationStore.open(Path(folder) / "archive.db")
        ids = await load(store, data["sessions"])
        await store.search("settle")
        await asyncio.to_thread(reindex, store.path)
        recalls = {name: recall_of(store, await store.get_session(id_), counter) for name, id_ in ids.items()}
        by_category: defaultdict[str, list[Shown]] = defaultdict(list)
        for query in data["queries"]:
            answer = await recalls[query["session"]].conversation_recall("search", query["query"])
            by_category["  " + query["category"]].append(
                shown(answer.content, query["evidence"], counter.count(answer.content))
            )
        await store.close()
    row(data["name"], [one for group in by_category.values() for one in group])
    for category, group in sorted(by_category.items()):
        row(category, group)


def row(name: str, group: list[Shown]) -> None:
    shares = (100 * statistics.fmean(column) for column in zip(*(one.shares for one in group), strict=True))
    print(
        f"{name:<32}{len(group):>5}{''.join(f'{share:>8.1f}' for share in shares)}"
        f"{middle(one.characters for one in group):>12,}{middle(one.tokens for one in group):>8,}",
        flush=True,
    )


def middle(figures: Iterable[int]) -> int:
    return int(statistics.median(figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", default="", help="only the sets whose file name begins so")
    parsed = parser.parse_args()
    counter = TokenCounter()
    counter.load()
    print(f"{'':<32}{'n':>5}{'8k':>8}{'32k':>8}{'all':>8}{'characters':>12}{'tokens':>8}")
    for file in sorted(parsed.folder.glob("*.json.gz")):
        if file.name.startswith(parsed.set):
            with gzip.open(file) as packed:
                asyncio.run(measure(json.load(packed), counter))


if __name__ == "__main__":
    main()
