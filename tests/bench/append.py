"""Measures one append, acknowledged, against what the disk itself takes: python -m tests.bench.append [--turns N …].

Everything takes turns in one loop on one disk, so that the ratios hold where the times do not: 1 kB to the end of a
file and fdatasync (the limit); the archive's own statement; the public async API; a line to a JSONL file with fsync;
and, after these, the whole session as one JSON file, rewritten. The archive's log has its length already, as it has
after the first few hundred turns of a program.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from loom.archive import ConversationStore, NewTurn
from loom.archive.appends import Appender
from loom.archive.database import connect
from tests.bench.filling import TEXT, fill
from tests.bench.table import median, p99, show

SIZE = 1_000
BLOCK = 5
"""So many of one way, and then the next way: as one session goes on, and not as two that take turns with each turn."""
MOST_JSON = 20_000
"""Beyond so many turns, rewriting a JSON file is not waited for."""


async def measure(folder: Path, turns: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of each append, by way, in an archive that has so many turns already."""
    path = folder / "archive.db"
    store = await ConversationStore.open(path)
    session = await store.create_session(folder, "bench", "")
    other = await store.create_session(folder, "bench", "")
    await asyncio.to_thread(fill, path, session, turns, SIZE)
    text = (TEXT * 20)[:SIZE]
    raw = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    lines = os.open(folder / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    record = {"role": "assistant", "content": text}
    whole = [record] * turns
    took: dict[str, list[float]] = defaultdict(list)

    def timed(way: str, work: Callable[[], object]) -> None:
        begun = time.perf_counter()
        work()
        took[way].append(time.perf_counter() - begun)

    def to_disk() -> None:
        os.write(raw, text.encode())
        os.fdatasync(raw)

    def to_jsonl() -> None:
        os.write(lines, json.dumps(record).encode() + b"\n")
        os.fsync(lines)

    def to_json() -> None:
        draft = folder / "whole-new"
        with draft.open("w") as file:
            json.dump(whole, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(folder / "whole")

    appender = Appender()
    with closing(connect(path)) as connection:
        for _ in range(rounds // BLOCK):
            for _ in range(BLOCK):
                timed("disk", to_disk)
            for _ in range(BLOCK):
                timed("statement", lambda: appender.append(connection, other, [NewTurn(**record)], None))
            for _ in range(BLOCK):
                begun = time.perf_counter()
                await store.append_turn(session, "assistant", text)
                took["api"].append(time.perf_counter() - begun)
            for _ in range(BLOCK):
                timed("jsonl", to_jsonl)
    # By itself: what it leaves the disk to do would be counted as the others' time.
    for _ in range(rounds // 20 if turns <= MOST_JSON else 0):
        timed("json", to_json)
    os.close(raw)
    os.close(lines)
    await store.close()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk to measure (default: a temporary one)")
    parsed = parser.parse_args()
    rows = []
    for turns in parsed.turns:
        with tempfile.TemporaryDirectory(dir=parsed.folder) as folder:
            took = asyncio.run(measure(Path(folder), turns, parsed.rounds))
        limit = median(took["disk"])
        row = [f"{turns:,}", f"{limit:.0f} / {p99(took['disk']):.0f}"]
        for way in ("statement", "api", "jsonl", "json"):
            seconds = took.get(way)
            row.append(
                f"{median(seconds):.0f} / {p99(seconds):.0f} (×{median(seconds) / limit:.1f})" if seconds else "—"
            )
        rows.append(row)
    show(
        "One append of 1 kB: median / p99 in µs (median as a multiple of the disk's own)",
        ["turns", "1 kB + fdatasync", "archive, statement", "archive, async API", "JSONL + fsync", "JSON rewritten"],
        rows,
    )


if __name__ == "__main__":
    main()
