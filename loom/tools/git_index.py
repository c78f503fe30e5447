"""A copy of a repository's index, for a git call that would write into the index though it only reads.

`git diff` stores what it found out about files whose time changed and whose content did not, whatever
GIT_OPTIONAL_LOCKS says. While it does, a commit that a person makes elsewhere fails on `index.lock`. Switching that off
(`diff.autoRefreshIndex=false`) makes `--name-only` name files that did not change.
"""

import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from loom.tools.offloop import in_thread

LARGEST = 256 * 1024 * 1024
"""Bytes of an index that is copied: that of two million files."""


@contextlib.asynccontextmanager
async def copy_of_index(index: Path) -> AsyncIterator[Path | None]:
    """A copy for as long as the call runs, in a folder that only this user may enter; None where none can be made: git
    then takes the index itself, and says what is wrong with it."""
    with contextlib.ExitStack() as stack:
        try:
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loom-git-"))) / "index"
            made = await in_thread(lambda: _copied(index, copy))
        except OSError:
            made = False
        yield copy if made else None


def _copied(index: Path, copy: Path) -> bool:
    if not index.is_file() or index.stat().st_size > LARGEST:
        return False
    # With its time: by that git knows which files changed in the second in which the index was written.
    shutil.copy2(index, copy)
    return True
