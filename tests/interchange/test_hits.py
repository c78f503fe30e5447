"""What a search found, as a file."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loom.archive.records import SearchHit, TurnKind, TurnStatus
from loom.interchange.export import ExportError
from loom.interchange.hits import export_hits, hits_page
from loom.text import UNSAFE
from tests.support.zone import reading_in

WHEN = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
HOSTILE = "</pre><script>alert(1)</script> \x1b[31m \u202e ```` [x](javascript:y) \x00"


def hit(number: int, content: str, **changes: Any) -> SearchHit:
    values: dict[str, Any] = {
        "session_id": "0190-session",
        "session_reference": "k3f9",
        "session_title": "Fix the login timeout",
        "turn_number": number,
        "exchange": 1,
        "role": "user",
        "kind": TurnKind.TEXT,
        "status": TurnStatus.COMPLETE,
        "tool_name": None,
        "created_at": "2026-03-04T10:00:00.000000Z",
        "score": 1.0,
        "content": content,
        "snippet": content[:100],
        "highlights": (),
    }
    return SearchHit(**{**values, **changes})


def test_every_hit_is_cited_and_whole() -> None:
    long = "line\n" * 300
    found = (hit(7, "never use an ORM"), hit(9, long, role="tool", kind=TurnKind.TOOL_RESULT, tool_name="read_file"))
    with reading_in("Asia/Kathmandu"):
        page = "".join(hits_page("ORM [x]", found, WHEN))
    assert page.startswith("# ORM \\[x\\]\n\n2 hits, 2026-03-04T17:45:00+05:45.\n")
    said = "Fix the login timeout, 2026-03-04T15:45:00+05:45\n\n> never use an ORM\n"
    assert f"## k3f9 T7 user\n\n{said}" in page
    assert "## k3f9 T9 tool read\\_file" in page
    assert page.count("line\n") >= 300


def test_hostile_text_is_made_safe_and_cannot_end_its_fence() -> None:
    found = (hit(1, HOSTILE, session_title=HOSTILE), hit(2, HOSTILE, kind=TurnKind.TOOL_CALL, role="assistant"))
    page = "".join(hits_page(HOSTILE, found, WHEN))
    assert not UNSAFE.search(page.replace("\n", " "))
    assert "`````\n" in page
    assert "> \\</pre>\\<script>" in page


def test_the_file_is_private_and_never_in_the_place_of_another(tmp_path: Path) -> None:
    with reading_in("Asia/Kathmandu"):
        first = export_hits(tmp_path / "exports", "the /flag?", (hit(1, "one"),), WHEN)
        second = export_hits(tmp_path / "exports", "the /flag?", (hit(2, "two"),), WHEN)
    assert (first.name, second.name) == ("the-flag-20260304-174500.md", "the-flag-20260304-174500-2.md")
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    assert "> one" in first.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "exports").write_text("a file", encoding="utf-8")
    with pytest.raises(ExportError, match="cannot be written"):
        export_hits(tmp_path / "exports", "x", (hit(1, "one"),), WHEN)


def test_what_was_found_by_its_meaning_is_said_to_be() -> None:
    page = "".join(hits_page("x", (hit(1, "a", by_meaning=True), hit(2, "b")), WHEN))
    assert page.count(", near in meaning\n") == 1


def test_a_link_of_the_same_name_stays_even_if_it_leads_nowhere(tmp_path: Path) -> None:
    with reading_in("UTC"):
        first = export_hits(tmp_path, "flag", (hit(1, "one"),), WHEN)
        first.unlink()
        first.symlink_to(tmp_path / "away")
        second = export_hits(tmp_path, "flag", (hit(2, "two"),), WHEN)
    assert first.is_symlink() and second != first
    assert not (tmp_path / "away").exists()
