"""Looks for a text in the bytes of files, whatever is in them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loom.archive import traces_process
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
        [sys.executable, "-I", "-S", traces_process.__file__],
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


def thinned(samples: Sequence[bytes], size: int) -> list[bytes]:
    """As many of the samples, evenly, as can be looked for in `size` bytes in good time; 50 at least."""
    most = max(50, _WORK // max(size, 1))
    if len(samples) <= most:
        return list(samples)
    return [samples[n * len(samples) // most] for n in range(most)]
