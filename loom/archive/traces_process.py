"""The search for pieces of a text in files: a process of its own, as opening a database's file beside SQLite cancels
SQLite's locks.

It is run as a program (`python -I -S traces_process.py`) and imports nothing of loom, nor anything from the folder that
loom was started in. A question on standard input, its answer on standard output, both JSON:

    {"files": [NAME, ...], "samples": [HEX, ...]}
    {"found": [[NAME, [PLACE OF A SAMPLE, ...]], ...], "unread": [NAME, ...]}
"""

import json
import sys
from collections.abc import Sequence

_CHUNK = 1 << 22


def search(name: str, samples: Sequence[bytes]) -> list[int]:
    """Which of the samples stand in the file, by place, ascending. Raises OSError."""
    found: set[int] = set()
    longest = max(map(len, samples), default=1)
    with open(name, "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than a small file to read
        tail = b""
        while chunk := file.read(_CHUNK):
            data = tail + chunk
            found.update(place for place, sample in enumerate(samples) if place not in found and sample in data)
            tail = data[-longest + 1 :] if longest > 1 else b""
    return sorted(found)


def answer() -> None:
    """Answer the one question."""
    question = json.load(sys.stdin)
    samples = [bytes.fromhex(sample) for sample in question["samples"]]
    found: list[tuple[str, list[int]]] = []
    unread: list[str] = []
    for name in question["files"]:
        try:
            places = search(name, samples)
        except OSError:
            unread.append(name)
            continue
        if places:
            found.append((name, places))
    json.dump({"found": found, "unread": unread}, sys.stdout)


if __name__ == "__main__":
    answer()
