"""On a real file system that is cut off in the middle of everything, nothing acknowledged is lost.

`LOOM_FILE_SYSTEMS` names them (`ext4,xfs`) and `LOOM_SHUTDOWNS` says how often each is cut off (20 times unless it is
set). For root only, by hand: it makes, mounts and shuts down file systems in files. A file system that is shut down
writes nothing more, neither its own log nor what programs wrote and did not sync: to its files that is a power cut.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import random
import signal
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash.test_kill import SEED, Said, _check, _kill_after, _make, _parse, _writer

KINDS = [kind for kind in os.environ.get("LOOM_FILE_SYSTEMS", "").split(",") if kind]
SHUTDOWNS = int(os.environ.get("LOOM_SHUTDOWNS", "20"))
FS_IOC_SHUTDOWN = 0x8004587D
WITHOUT_FLUSHING_THE_LOG = 2
SIZE = 600_000_000

pytestmark = pytest.mark.skipif(not KINDS, reason="LOOM_FILE_SYSTEMS names none")


@dataclass(frozen=True, slots=True)
class Disk:
    """A file system in a file, and where it goes."""

    image: Path
    place: Path

    @property
    def archive(self) -> Path:
        return self.place / "home" / "archive.db"

    @contextmanager
    def mounted(self) -> Iterator[None]:
        subprocess.run(["mount", "-o", "loop", str(self.image), str(self.place)], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", str(self.place)], check=True)

    def cut_off(self) -> None:
        descriptor = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, FS_IOC_SHUTDOWN, struct.pack("I", WITHOUT_FLUSHING_THE_LOG))
        except OSError as error:
            if error.errno == errno.ENOTTY:
                pytest.skip(f"this kernel cannot cut {self.place.name} off")
            raise
        finally:
            os.close(descriptor)


@pytest.fixture(params=KINDS)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    disk = Disk(tmp_path / f"{request.param}.img", tmp_path / request.param)
    disk.place.mkdir()
    disk.image.touch()
    os.truncate(disk.image, SIZE)
    subprocess.run([f"mkfs.{request.param}", "-q", str(disk.image)], check=True)
    return disk


def _cut(child: subprocess.Popen[bytes], disk: Disk) -> None:
    """Cut the child's disk off while it is at whatever it is at, and end it.

    It is stopped first, but for what it has in the kernel: a sync that the shutdown overtakes there may return as if
    it had synced (both ext4 and xfs take the shutdown's own end of its transaction for a commit). After a power cut
    nobody is there to hear that, and here nobody may be either.
    """
    child.send_signal(signal.SIGSTOP)
    tasks = Path(f"/proc/{child.pid}/task")
    while any(_state(task) not in "TtDZ" for task in tasks.iterdir()):
        pass
    disk.cut_off()
    child.send_signal(signal.SIGKILL)


def _state(task: Path) -> str:
    """R runs, S sleeps, D is in the kernel, T is stopped. The name before it may hold anything."""
    return (task / "stat").read_text().rpartition(")")[2].split()[0]


def _cut_again_and_again(disk: Disk, honesty: str) -> Iterator[None]:
    """Each step is one cut, and the check after it."""
    chance = random.Random(SEED)
    with disk.mounted():
        (session,) = asyncio.run(_make(disk.archive))
    said: list[Said] = []
    for cut in range(SHUTDOWNS):
        seed = SEED * 3_000_000 + cut
        with disk.mounted(), _writer(disk.archive, session, seed, honesty) as child:
            heard = _kill_after(
                child, chance.choice([1, 5, 20, 60]), chance.random() * 0.02, lambda child: _cut(child, disk)
            )
        said += _parse(heard, seed)
        with disk.mounted():
            _check(disk.archive, session, said)
        yield
    assert said


def test_what_was_acknowledged_is_there_after_a_cut(disk: Disk) -> None:
    assert len(list(_cut_again_and_again(disk, "honest"))) == SHUTDOWNS


def test_the_harness_catches_a_store_that_does_not_wait_for_the_disk(disk: Disk) -> None:
    with pytest.raises(AssertionError, match="is gone"):
        list(_cut_again_and_again(disk, "normal"))


def test_what_was_acknowledged_survives_a_kill_there(disk: Disk) -> None:
    chance = random.Random(SEED)
    said: list[Said] = []
    with disk.mounted():
        (session,) = asyncio.run(_make(disk.archive))
        for kill in range(SHUTDOWNS):
            seed = SEED * 4_000_000 + kill
            with _writer(disk.archive, session, seed) as child:
                said += _parse(_kill_after(child, chance.choice([1, 5, 20]), chance.random() * 0.02), seed)
            _check(disk.archive, session, said)
    assert said
