"""A session as a file: whole, private, and never a weapon."""

from __future__ import annotations

import html.parser
import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.archive.records import Session, Turn, TurnKind, TurnStatus
from loom.interchange.export import ExportError, export_session, form_of, render
from loom.interchange.markdown import fenced
from loom.locations import Locations
from tests.support.turns import call_turn, result_turn, session_record, turn
from tests.support.zone import reading_in

HERE = Locations(home=Path("/a/home"), config=Path("/a/home/config.toml"))
"""A home that is nowhere near."""
HOSTILE = "</pre><script>alert(1)</script> \x1b[31m \u202e ```` [x](javascript:y) \x00"


def conversation() -> tuple[Session, list[Turn]]:
    turns = [
        turn(1, "user", "fix the login"),
        turn(2, "assistant", "I look first.", TurnKind.THINKING),
        call_turn(3, "c1", "read_file", {"path": "src/auth.py"}),
        result_turn(4, "c1", "read_file", "def login(): ..."),
        turn(5, "assistant", "Half an ans", status=TurnStatus.INTERRUPTED),
    ]
    return session_record(turn_count=5), turns


def text_of(form: str, session: Session, turns: list[Turn]) -> str:
    return "".join(render(session, turns, form))  # type: ignore[arg-type]


def test_json_holds_every_column_of_every_turn_word_for_word() -> None:
    session, turns = conversation()
    data = json.loads(text_of("json", session, [*turns, turn(6, "user", HOSTILE)]))
    assert (data["format"], data["version"]) == ("loom-session", 1)
    assert data["session"]["reference"] == session.reference
    assert [t["turn_number"] for t in data["turns"]] == [1, 2, 3, 4, 5, 6]
    assert data["turns"][5]["content"] == HOSTILE
    assert all(set(t) == set(turns[0].keys()) for t in data["turns"])


def test_markdown_names_every_turn_and_how_it_ended() -> None:
    with reading_in("Asia/Kathmandu"):
        page = text_of("markdown", *conversation())
    assert "begun 2026-03-04T15:45:00+05:45 in `" in page
    for line in ("## T1 user", "## T3 assistant calls read\\_file", "## T4 tool read\\_file"):
        assert line in page
    assert "## T5 assistant, interrupted" in page
    assert '"path": "src/auth.py"' in page


def test_an_answer_that_ends_in_an_open_fence_swallows_nothing_and_forges_nothing() -> None:
    turns = [
        turn(1, "assistant", "```python\nprint(1)\n## T9 user", status=TurnStatus.INTERRUPTED),
        turn(2, "user", "# not a heading <script>x</script> and `<b>`"),
    ]
    page = text_of("markdown", session_record(), turns)
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert headings[1:] == ["## T1 assistant, interrupted", "## T2 user"]
    assert "> # not a heading \\<script>x\\</script> and `<b>`" in page


@given(st.text(alphabet="`~a\n", max_size=60))
def test_a_fence_is_longer_than_any_run_of_ticks_in_it(text: str) -> None:
    first, *middle, last = fenced(text).split("\n")
    assert first == last
    assert all(first not in line for line in middle)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_hostile_text_is_drawn_literally(form: str) -> None:
    session, _ = conversation()
    page = text_of(form, session, [turn(1, "user", HOSTILE), result_turn(2, "c", "x", HOSTILE)])
    assert not [c for c in page if ord(c) < 32 and c != "\n"]
    assert "\u202e" not in page


def test_the_page_runs_no_script_and_loads_nothing() -> None:
    session, _ = conversation()
    page = text_of("html", session_record(title=HOSTILE), [turn(1, "user", HOSTILE)])
    tags: list[str] = []

    class Tags(html.parser.HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)
            assert not {"src", "href", "onclick"} & {name for name, _ in attrs}

    Tags().feed(page)
    assert "script" not in tags
    assert tags.count("article") == 1
    assert session.reference in page


@pytest.mark.parametrize("form", ["markdown", "json", "html"])
def test_an_empty_session_is_a_valid_file(form: str, tmp_path: Path) -> None:
    path = export_session(tmp_path / "empty.txt", session_record(turn_count=0), [], locations=HERE, form=form)  # type: ignore[arg-type]
    assert path.read_text(encoding="utf-8").strip()
    if form == "json":
        assert json.loads(path.read_text())["turns"] == []


def test_the_file_is_private_under_any_umask_and_so_is_a_folder_of_looms_own(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = export_session(tmp_path / "a" / "b.md", *conversation(), locations=HERE, make_folder=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_there_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("mine")
    with pytest.raises(ExportError, match=r"there already.*--force"):
        export_session(path, *conversation(), locations=HERE)
    assert path.read_text() == "mine"
    export_session(path, *conversation(), locations=HERE, force=True)
    assert "T1 user" in path.read_text()


def test_a_failed_export_leaves_nothing_behind(tmp_path: Path) -> None:
    session, turns = conversation()

    def breaking() -> object:
        yield turns[0]
        raise RuntimeError("the disk went away")

    with pytest.raises(RuntimeError):
        export_session(tmp_path / "x.md", session, breaking(), locations=HERE)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made_by_accident(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="There is no folder"):
        export_session(tmp_path / "mistyped" / "out.md", session_record(), [], locations=HERE)
    assert not (tmp_path / "mistyped").exists()


def test_an_unknown_ending_is_refused_in_words() -> None:
    with pytest.raises(ExportError, match=r"\.md, \.json or \.html"):
        form_of(Path("x.docx"))


@pytest.mark.parametrize("name", ["archive.db", "archive.db-wal", "backups/x.db", "linked/archive.db", "config.toml"])
def test_no_export_takes_the_place_of_a_file_of_looms_own(tmp_path: Path, name: str) -> None:
    locations = Locations(home=tmp_path / "home", config=tmp_path / "home" / "config.toml")
    (tmp_path / "home" / "backups").mkdir(parents=True)
    (tmp_path / "home" / "linked").symlink_to(tmp_path / "home")
    (tmp_path / "home" / "archive.db").write_text("every session")
    with pytest.raises(ExportError, match="loom's own"):
        export_session(tmp_path / "home" / name, *conversation(), locations=locations, form="json", force=True)
    assert (tmp_path / "home" / "archive.db").read_text() == "every session"
    made = export_session(locations.exports / "a.md", *conversation(), locations=locations, make_folder=True)
    assert made.exists()


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_file_is_not_replaced(tmp_path: Path, force: bool) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "device.md").symlink_to("/dev/null")
    for path in tmp_path.iterdir():
        before = path.lstat()
        with pytest.raises(ExportError):
            export_session(path, *conversation(), locations=HERE, force=force)
        assert path.lstat() == before


def test_a_link_that_leads_nowhere_is_there_already(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(tmp_path / "none.md")
    with pytest.raises(ExportError, match="there already"):
        export_session(tmp_path / "link.md", *conversation(), locations=HERE)
