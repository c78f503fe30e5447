"""What is to be purged, and a purge in a process of its own that gets to a place and no further."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loom.archive.records import Manifest

_PURGE = """
import sys
from pathlib import Path
from loom.archive import purge

path, session, place, at = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])

def stop_here(*_):
    print("here", flush=True)
    sys.stdin.readline()

def said(what, done, total):
    if place == what and done >= at:
        stop_here()

if place == "the end":
    purge.take_row = stop_here
purge.purge(path, session, path.parent, said)
"""


@contextmanager
def held_up(archive: Path, session_id: str, place: str, at: int = 0) -> Iterator[None]:
    """A purge that stands still when it says that it is at `place`, at so many turns; or where only the session's row
    is left (`the end`). Its process is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", _PURGE, str(archive), session_id, place, str(at)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "here\n"
            yield
        finally:
            child.kill()


def manifest_of(session: str, request: int, state: str) -> Manifest:
    """What was noted of a request that had this state."""
    return Manifest(
        session_id=session,
        request=request,
        exchange=1,
        created_at="2026-01-02T03:04:05.000006Z",
        model_name="offline",
        window_tokens=200_000,
        segments={},
        turns=(),
        texts={"state": state},
        estimated_tokens=1,
        reported_tokens=None,
    )
