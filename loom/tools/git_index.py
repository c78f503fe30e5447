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


@contextlib.asynccontextmanager
async def copy_of_index(index: Path) -> AsyncIterator[Path]:
    """A copy for as long as the call runs, in a folder that only this user may enter. Where there is no index, there
    is no copy either, which git takes for an empty one.

    Raises:
        OSError: The index cannot be read, or there is no room for the copy.
    """
    with tempfile.TemporaryDirectory(prefix="loom-git-") as folder:
        copy = Path(folder) / "index"
        await in_thread(lambda: _copy(index, copy))
        yield copy


def _copy(index: Path, copy: Path) -> None:
    if index.is_file():
        shutil.copyfile(index, copy)
