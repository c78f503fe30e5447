"""Changes to the archive's files that no program should make: from another process, as this one's guard stands before
them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_CHANGE = """
import sys
path, place, data = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3])
with open(path, "r+b") as file:
    file.seek(place)
    file.write(data)
"""
_FIND = """
import sys
print(open(sys.argv[1], "rb").read().find(bytes.fromhex(sys.argv[2])))
"""
_WHICH = """
import pathlib, sys
traces = [bytes.fromhex(each) for each in sys.argv[2:]]
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    if file.is_file() and any(trace in file.read_bytes() for trace in traces):
        print(file.name)
"""
_COPY = "import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])"


def overwrite(path: Path, place: int, data: bytes) -> None:
    """Write over the bytes at `place`."""
    subprocess.run([sys.executable, "-c", _CHANGE, str(path), str(place), data.hex()], check=True)


def find_bytes(path: Path, data: bytes) -> int:
    """Where the bytes first stand in the file; -1 if they do not."""
    done = subprocess.run(
        [sys.executable, "-c", _FIND, str(path), data.hex()], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


def files_with(folder: Path, *traces: bytes) -> list[str]:
    """The names of the files, in the folder and all below it, that hold one of these."""
    done = subprocess.run(
        [sys.executable, "-c", _WHICH, str(folder), *(trace.hex() for trace in traces)],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def copy_file(source: Path, target: Path) -> None:
    subprocess.run([sys.executable, "-c", _COPY, str(source), str(target)], check=True)
