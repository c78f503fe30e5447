"""Measures recall over labelled questions: python -m tests.bench.recall FOLDER [--set NAME] [--misses] [--work].

FOLDER holds `*.json.gz` files, each `{"name", "sessions": {id: [turn…]}, "queries": [query…]}`; a turn has
`turn_number, role, content, created_at, tool_name`, a query `qid, session, query, evidence [turn_number…], category`
and sometimes `before` (only earlier turns count). The turns are stored in a fresh archive and asked for through
`ConversationStore.search_turns`, beside the ways in `tests.bench.baselines`, in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import math
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loom.archive import ConversationStore, NewTurn, TurnKind
from loom.archive.reindex import reindex
from tests.bench.baselines import Baselines, Search
from tests.bench.working import with_work

DEPTH = 10
DEEP = 60
"""Asked for where only turns before a given one count."""


@dataclass(frozen=True)
class Score:
    recall_5: float
    recall_10: float
    mrr: float
    ndcg: float


@dataclass(frozen=True)
class Asked:
    query: dict[str, Any]
    found: list[int]
    score: Score
    milliseconds: float


def score(found: list[int], evidence: list[int]) -> Score:
    wanted = set(evidence)
    first = next((i for i, turn in enumerate(found[:DEPTH]) if turn in wanted), None)
    gain = sum(1 / math.log2(i + 2) for i, turn in enumerate(found[:DEPTH]) if turn in wanted)
    ideal = sum(1 / math.log2(i + 2) for i in range(min(DEPTH, len(wanted))))
    return Score(
        recall_5=len(wanted & set(found[:5])) / len(wanted),
        recall_10=len(wanted & set(found[:DEPTH])) / len(wanted),
        mrr=0.0 if first is None else 1 / (first + 1),
        ndcg=gain / ideal,
    )


async def ask_all(queries: list[dict[str, Any]], search: Search) -> list[Asked]:
    asked = []
    for query in queries:
        before = query.get("before")
        begun = time.perf_counter()
        found = await search(query["session"], query["query"], DEEP if before else DEPTH)
        milliseconds = (time.perf_counter() - begun) * 1000
        found = [turn for turn in found if not before or turn < before][:DEPTH]
        asked.append(Asked(query, found, score(found, query["evidence"]), milliseconds))
    return asked


def heading() -> None:
    print(f"{'':<32}{'n':>5}{'R@5':>8}{'R@10':>8}{'MRR':>8}{'nDCG':>8}{'p50 ms':>9}{'p95':>8}")


def table(asked: Iterable[Asked], label: str, *, categories: bool) -> None:
    groups: dict[str, list[Asked]] = {label: list(asked)}
    if categories:
        by_category: defaultdict[str, list[Asked]] = defaultdict(list)
        for one in groups[label]:
            by_category["  " + one.query["category"]].append(one)
        groups.update(sorted(by_category.items()))
    for name, group in groups.items():
        scores = [one.score for one in group]
        figures = (
            statistics.fmean(getattr(score, field) for score in scores)
            for field in ("recall_5", "recall_10", "mrr", "ndcg")
        )
        times = sorted(one.milliseconds for one in group)
        print(
            f"{name:<32}{len(group):>5}"
            + "".join(f"{100 * figure:>8.1f}" for figure in figures)
            + f"{times[len(times) // 2]:>9.1f}{times[int(len(times) * 0.95)]:>8.1f}",
            flush=True,
        )


async def load(store: ConversationStore, sessions: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Stores the sessions; gives the store's id of each. Turn numbers stay what they are in the data."""
    ids = {}
    for name, turns in sessions.items():
        ids[name] = await store.create_session("/bench", "none", "")
        for start in range(0, len(turns), 500):
            batch = turns[start : start + 500]
            stored = await store.append_turns(ids[name], [new_turn(turn) for turn in batch])
            assert [turn.turn_number for turn in stored] == [turn["turn_number"] for turn in batch]
    return ids


def new_turn(turn: dict[str, Any]) -> NewTurn:
    moment = datetime.fromisoformat(turn["created_at"])
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return NewTurn(
        role=turn["role"],
        kind=TurnKind(turn.get("kind", "text")),
        content=turn["content"],
        tool_calls=turn.get("tool_calls"),
        tool_name=turn.get("tool_name"),
        created_at=moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    )


async def measure(data: dict[str, Any], *, misses: bool, alone: bool, categories: bool = False) -> None:
    """Prints the figures of one set: those of the baselines unless `alone`, by category if wanted, and loom's."""
    with tempfile.TemporaryDirectory() as folder:
        store = await ConversationStore.open(Path(folder) / "archive.db")
        ids = await load(store, data["sessions"])
        await store.search("settle")

        async def engine(session: str, query: str, limit: int) -> list[int]:
            return [hit.turn_number for hit in await store.search_turns(ids[session], query, limit)]

        if not alone:
            for name, search in Baselines(store.path, Path(folder), ids).all().items():
                table(await ask_all(data["queries"], search), f"{data['name']}: {name}", categories=categories)
        # So that the index is measured and not the scan behind it.
        await asyncio.to_thread(reindex, store.path)
        asked = await ask_all(data["queries"], engine)
        table(asked, f"{data['name']}: loom", categories=True)
        if misses:
            for one in asked:
                if one.score.recall_10 < 1:
                    print(f"    {one.query['category']}: {one.query['query'][:100]!r} wants {one.query['evidence']}")
        await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", default="", help="only the sets whose file name begins so")
    parser.add_argument("--misses", action="store_true", help="list the questions that were not fully answered")
    parser.add_argument("--alone", action="store_true", help="without the baselines")
    parser.add_argument("--work", action="store_true", help="with calls and their results between what is said")
    parsed = parser.parse_args()
    heading()
    for file in sorted(parsed.folder.glob("*.json.gz")):
        if file.name.startswith(parsed.set):
            with gzip.open(file) as packed:
                data = json.load(packed)
            data = with_work(data) if parsed.work else data
            asyncio.run(measure(data, misses=parsed.misses, alone=parsed.alone))


if __name__ == "__main__":
    main()
