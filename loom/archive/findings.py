"""What a check of an archive found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    part: str
    """structure, version, chain, numbering, notes (what no digest is over), index, purge, permissions, space, place."""
    what: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check saw."""

    path: Path
    sessions: int | None
    turns: int | None
    """None where they could not be counted."""
    size: int
    """Bytes of the database and its log."""
    checked: tuple[str, ...]
    """The parts that were looked at, in order; one that could not be is missing."""
    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]
    """What could not be looked into, and why: it may be sound or damaged."""
    remarks: tuple[str, ...]
    standing: Mapping[str, str]
    """Of a part that is neither wrong nor all in order: how it is (`behind`)."""

    @property
    def sound(self) -> bool:
        """Everything was seen, and nothing is wrong."""
        return not self.findings and not self.unseen
