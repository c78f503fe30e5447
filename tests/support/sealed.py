"""A folder in which nothing can be written, not even by root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def sealed(folder: Path) -> Iterator[None]:
    """While it lasts the folder is read-only: by its mode, or for root, whom no mode stops, by a mount. Skips the test
    where root may not mount."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(0o700)
        return
    with mounted_readonly(folder, folder):
        yield


@contextmanager
def mounted_readonly(folder: Path, place: Path) -> Iterator[None]:
    """While it lasts the folder can be read, and not written, at `place` too. Skips the test where none may mount."""
    try:
        subprocess.run(["mount", "--bind", str(folder), str(place)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no read-only mount can be made here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True, capture_output=True)
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)
