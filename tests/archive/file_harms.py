"""What other programs do to the files of an archive while loom has them open, and what must be there afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from loom.archive import ConversationStore
from loom.archive.check import check

BEFORE = [f"before {n} " + "x" * 500 for n in range(30)]
AFTER = [f"after {n} " + "y" * 500 for n in range(30)]

Harm = Callable[[Path], None]


def log_of(archive: Path) -> Path:
    return archive.with_name(f"{archive.name}-wal")


def index_of(archive: Path) -> Path:
    return archive.with_name(f"{archive.name}-shm")


def remove_log(archive: Path) -> None:
    log_of(archive).unlink()


def rename_log(archive: Path) -> None:
    log_of(archive).rename(archive.with_name("elsewhere"))


def replace_log_with_a_copy(archive: Path) -> None:
    copy = archive.with_name("copy")
    shutil.copy(log_of(archive), copy)
    copy.replace(log_of(archive))


def replace_log_with_something(archive: Path) -> None:
    other = archive.with_name("other")
    other.write_bytes(b"something else" * 1000)
    other.replace(log_of(archive))


def remove_index(archive: Path) -> None:
    index_of(archive).unlink()


def remove_both(archive: Path) -> None:
    remove_log(archive)
    remove_index(archive)


def remove_all_beside_it(archive: Path) -> None:
    for file in archive.parent.glob(f"{archive.name}-*"):
        file.unlink()


def put_a_link_in_the_logs_place(archive: Path) -> None:
    rename_log(archive)
    log_of(archive).symlink_to(archive.with_name("elsewhere"))


def put_a_link_in_the_indexes_place(archive: Path) -> None:
    index_of(archive).rename(archive.with_name("elsewhere"))
    index_of(archive).symlink_to(archive.with_name("elsewhere"))


def put_folders_in_the_place_of_both(archive: Path) -> None:
    remove_both(archive)
    log_of(archive).mkdir()
    index_of(archive).mkdir()


HARMS = [
    remove_log,
    rename_log,
    replace_log_with_a_copy,
    replace_log_with_something,
    remove_index,
    remove_both,
    remove_all_beside_it,
    put_a_link_in_the_logs_place,
]
UNOPENABLE = [put_a_link_in_the_indexes_place, put_folders_in_the_place_of_both]
"""Nobody else can open the archive until the one that has it open has looked."""


async def texts_of(archive: Path, session: str) -> list[str | None]:
    """What is there, in an archive that is whole."""
    report = check(archive)
    assert report.sound, report
    store = await ConversationStore.open(archive)
    try:
        return [turn.content for turn in await store.get_turns(session, limit=1000)]
    finally:
        await store.close()
