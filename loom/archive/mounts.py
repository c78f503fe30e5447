"""Which file system a folder is on: over a network the archive's locks and its shared memory do not hold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loom.archive.errors import ArchiveUnavailable

_MOUNTS = Path("/proc/self/mountinfo")

_NETWORK = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "ncpfs",
        "afs",
        "ceph",
        "lustre",
        "gpfs",
        "beegfs",
        "orangefs",
        "pvfs2",
        "coda",
        "davfs",
        "vboxsf",
        "prl_fs",
        "vmhgfs",
    ]
)
_NETWORK_FUSE = frozenset(
    [
        "sshfs",
        "glusterfs",
        "rclone",
        "davfs",
        "davfs2",
        "s3fs",
        "gcsfuse",
        "gcsfs",
        "ceph",
        "ceph-fuse",
        "smbnetfs",
        "curlftpfs",
        "vmhgfs-fuse",
        "juicefs",
        "seaweedfs",
        "moosefs",
        "mfs",
        "lizardfs",
        "onedrive",
        "google-drive-ocamlfuse",
        "goofys",
        "mount-s3",
        "blobfuse2",
    ]
)


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of mountinfo."""

    point: str
    kind: str
    """The file system's name: `ext4`, `nfs4`, `fuse.sshfs`."""
    options: str

    @property
    def is_network(self) -> bool:
        """True where other machines, or a host behind a guest, change the files too."""
        if self.kind.startswith("fuse."):
            return self.kind.removeprefix("fuse.") in _NETWORK_FUSE
        if self.kind == "9p":
            # Sandboxes have their root on it, and keep locks; a Windows drive or a TCP server does not.
            return "drvfs" in self.options or "trans=tcp" in self.options
        return self.kind in _NETWORK


def find_mount(path: Path, mounts: Path = _MOUNTS) -> Mount | None:
    """The mount that `path` is on; None where the system does not tell (no /proc)."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    place = str(path.resolve())
    best: Mount | None = None
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        fields, types = before.split(" "), after.split(" ", 2)
        if len(fields) < 5 or len(types) < 3:
            continue
        point = _unescaped(fields[4])
        # A later mount of the same point covers the earlier one.
        if _covers(point, place) and (best is None or len(point) >= len(best.point)):
            best = Mount(point, types[0], types[2])
    return best


def require_local(path: Path, mounts: Path = _MOUNTS) -> None:
    """Raises ArchiveUnavailable if the archive at `path` would be on a network file system."""
    mount = find_mount(path.parent, mounts)
    if mount is not None and mount.is_network:
        raise ArchiveUnavailable(
            f"{path.parent} is on a network file system ({mount.kind}), which cannot keep an archive safe.",
            "Set LOOM_HOME to a folder on a local disk.",
        )


def _covers(point: str, place: str) -> bool:
    return place == point or place.startswith(point.rstrip("/") + "/")


def _unescaped(field: str) -> str:
    """mountinfo writes space, tab, newline and backslash in octal."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field
