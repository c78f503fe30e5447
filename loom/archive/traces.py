"""Looks for a text in the bytes of every file of a folder, whatever is in them.

In a process of its own: opening a database's file beside SQLite cancels SQLite's locks.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loom.archive.errors import ArchiveUnavailable

SAMPLE = 32
"""Bytes in a sample of a text."""

SHORTEST = 16
"""A text of fewer bytes says too little to be looked for."""

EVERY = 400
"""A sample is taken at every so many bytes: no page of the smallest size could keep a part of the text that holds
none."""

_WORK = 20_000_000_000
"""Bytes to compare at most, all samples in all files: about half a minute."""

_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class Trace:
    """A file in which something of the text still stands."""

    path: Path
    samples: tuple[int, ...]
    """Which of the samples, by place."""


def samples_of(texts: Iterable[bytes]) -> list[bytes]:
    """Pieces of the texts (as they stand in files) that are long enough to mean them and nothing else, each once."""
    found: dict[bytes, None] = {}
    for data in texts:
        if SHORTEST <= len(data) < SAMPLE:
            found[data] = None
        for place in range(0, len(data) - SAMPLE + 1, EVERY):
            found[data[place : place + SAMPLE]] = None
    # What is one character over and over (a ruler, an indent) is nobody's text.
    return [sample for sample in found if len(set(sample)) > 6]


def look(files: Sequence[Path], samples: Sequence[bytes]) -> tuple[list[Trace], list[Path]]:
    """Where the samples stand, and which files could not be read. Raises ArchiveUnavailable if nobody can look."""
    question = {"files": [str(file) for file in files], "samples": [sample.hex() for sample in samples]}
    done = subprocess.run(
        [sys.executable, "-c", "from loom.archive.traces import answer; answer()"],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ArchiveUnavailable("The files could not be searched for what is left of the text.", done.stderr[-500:])
    said = json.loads(done.stdout)
    traces = [Trace(Path(file), tuple(places)) for file, places in said["found"]]
    return traces, [Path(file) for file in said["unread"]]


def answer() -> None:
    """The other process: a question on standard input, its answer on standard output."""
    question = json.load(sys.stdin)
    samples = [bytes.fromhex(sample) for sample in question["samples"]]
    found: list[tuple[str, list[int]]] = []
    unread: list[str] = []
    for file in question["files"]:
        try:
            places = _search(Path(file), samples)
        except OSError:
            unread.append(file)
            continue
        if places:
            found.append((file, places))
    json.dump({"found": found, "unread": unread}, sys.stdout)


def _search(path: Path, samples: Sequence[bytes]) -> list[int]:
    found: set[int] = set()
    with path.open("rb") as file:
        tail = b""
        while chunk := file.read(_CHUNK):
            data = tail + chunk
            found.update(place for place, sample in enumerate(samples) if place not in found and sample in data)
            tail = data[-SAMPLE + 1 :]
    return sorted(found)


def thinned(samples: Sequence[bytes], size: int) -> list[bytes]:
    """As many of the samples, evenly, as can be looked for in `size` bytes in good time; 50 at least."""
    most = max(50, _WORK // max(size, 1))
    if len(samples) <= most:
        return list(samples)
    return [samples[n * len(samples) // most] for n in range(most)]
