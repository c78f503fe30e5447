"""An archive on a network file system is refused in words, before anything is made there."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive import ArchiveUnavailable, ConversationStore, access, migrations
from loom.archive.mounts import find_mount, require_local

LOCAL = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"


def _table(tmp_path: Path, *lines: str) -> Path:
    table = tmp_path / "mountinfo"
    table.write_text(LOCAL + "".join(f"{line}\n" for line in lines))
    return table


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("nfs4", "rw,vers=4.2"),
        ("cifs", "rw"),
        ("fuse.sshfs", "rw"),
        ("9p", "rw,aname=drvfs;path=C:"),
    ],
)
def test_a_network_file_system_is_refused(tmp_path: Path, kind: str, options: str) -> None:
    home = tmp_path / "a home"
    home.mkdir()
    point = str(home).replace(" ", "\\040")
    table = _table(tmp_path, f"40 22 0:50 / {point} rw shared:1 - {kind} server:/x {options}")
    with pytest.raises(ArchiveUnavailable, match=f"network file system \\({kind}\\)"):
        require_local(home / "archive.db", table)
    require_local(tmp_path / "archive.db", table)


@pytest.mark.parametrize("readonly", [False, True])
async def test_a_store_does_not_open_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, readonly: bool) -> None:
    home = tmp_path / "home"
    store = await ConversationStore.open(home / "archive.db")
    await store.close()
    table = _table(tmp_path, f"40 22 0:50 / {home} rw - nfs4 server:/x rw")
    for module in (access, migrations):
        monkeypatch.setattr(module, "require_local", lambda path: require_local(path, table))
    with pytest.raises(ArchiveUnavailable, match="network file system"):
        await ConversationStore.open(home / "archive.db", readonly=readonly)


def test_the_mount_on_top_counts(tmp_path: Path) -> None:
    table = _table(tmp_path, f"40 22 0:50 / {tmp_path} rw - nfs s:/ rw", f"41 40 0:51 / {tmp_path} rw - tmpfs t rw")
    found = find_mount(tmp_path / "not" / "there" / "yet", table)
    assert found is not None
    assert found.kind == "tmpfs"


@pytest.mark.parametrize("kind", ["ext4", "btrfs", "overlay", "9p", "fuse.grpcfuse", "virtiofs", "fuseblk"])
def test_local_file_systems_are_taken(tmp_path: Path, kind: str) -> None:
    table = _table(tmp_path, f"40 22 0:50 / {tmp_path} rw - {kind} none rw")
    found = find_mount(tmp_path / "archive.db", table)
    assert found is not None and found.kind == kind
    require_local(tmp_path / "archive.db", table)


def test_a_system_that_does_not_tell_is_believed(tmp_path: Path) -> None:
    assert find_mount(tmp_path / "archive.db", tmp_path / "none") is None
    require_local(tmp_path / "archive.db", tmp_path / "none")
