"""Measures several looms that append to one archive at once: python -m tests.bench.together [--writers N].

Each writes through the public API, without a pause, with its indexer beside it. Rounds in which one of them indexes for
all take turns with rounds in which each does it for itself, as if there were no claim.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from loom.archive import ConversationStore
from loom.archive.search.claim import Claim
from tests.bench.corpus import Corpus
from tests.bench.table import p99, show

ONE, EACH = "one indexes", "each indexes"


async def write(path: Path, seconds: float) -> list[float]:
    """Seconds of each append of one writer."""
    corpus = Corpus(os.getpid())
    store = await ConversationStore.open(path)
    session = await store.create_session(path.parent, "bench", "")
    took = []
    text = corpus.prose(160)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        await store.append_turn(session, "assistant", text)
        took.append(time.perf_counter() - begun)
        text = corpus.prose(160)
    await store.close()
    return took


def together(path: Path, way: str, writers: int, seconds: float) -> list[list[float]]:
    """Seconds of each append, by writer."""
    command = [sys.executable, "-m", "tests.bench.together", "--write", str(path), way, str(seconds)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(writers)
    ]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    return [json.loads(child.communicate()[0]) for child in children]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk to measure (default: a temporary one)")
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if parsed.write is not None:
        path, way, seconds = parsed.write
        if way == EACH:
            Claim.take = lambda self, connection, *, insist=False: True  # type: ignore[method-assign]
        print(json.dumps(asyncio.run(write(Path(path), float(seconds)))))
        return
    rows: dict[str, list[list[str]]] = defaultdict(list)
    for _ in range(parsed.rounds):
        for way in (ONE, EACH):
            with tempfile.TemporaryDirectory(dir=parsed.folder) as folder:
                path = Path(folder) / "archive.db"
                asyncio.run(_make(path))
                took = together(path, way, parsed.writers, parsed.seconds)
            late = [p99(each) / 1000 for each in took]
            rows[way].append(
                [
                    way,
                    ", ".join(str(len(each)) for each in took),
                    f"{min(late):.0f} to {max(late):.0f}",
                    f"{max(max(each) for each in took) * 1000:.0f}",
                    f"{os.getloadavg()[0]:.0f}",
                ]
            )
    show(
        f"{parsed.writers} writers, {parsed.seconds:g} s",
        ["", "appends of each", "99th percentile, ms", "longest wait, ms", "load"],
        [row for way in (EACH, ONE) for row in rows[way]],
    )


async def _make(path: Path) -> None:
    await (await ConversationStore.open(path)).close()


if __name__ == "__main__":
    main()
