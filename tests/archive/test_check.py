"""A check says what is wrong, where it begins, and what to do; and changes nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ArchiveUnavailable, ConversationStore, Draft, Manifest, NewTurn
from loom.archive.backups import create_backup
from loom.archive.check import CheckReport, check
from loom.archive.database import connect
from loom.archive.reindex import reindex
from loom.archive.transactions import transaction
from tests.support.damage import find_bytes, overwrite
from tests.support.sealed import sealed
from tests.support.small_disk import fill_up, small_disk


async def _filled(path: Path, turns: int = 40) -> str:
    """The reference of a session with turns in a closed archive."""
    store = await ConversationStore.open(path)
    try:
        session = await store.create_session(path.parent, "offline", "You are loom.")
        for n in range(turns):
            await store.append_turn(session, "user" if n % 2 == 0 else "assistant", f"turn number {n + 1} " + "x" * 300)
        detail = await store.get_session(session)
        assert detail is not None
        return detail.reference
    finally:
        await store.close()


def _parts(report: CheckReport) -> set[str]:
    return {finding.part for finding in report.findings}


async def test_a_good_archive_is_sound(archive_path: Path) -> None:
    await _filled(archive_path)
    report = check(archive_path)
    assert report.sound, report.findings
    assert (report.sessions, report.turns) == (1, 40)
    assert {"structure", "chain", "numbering", "index", "leases", "space", "permissions"} <= set(report.checked)


async def test_a_check_runs_beside_a_writer_and_names_who_holds_a_session(
    store: ConversationStore, session: str
) -> None:
    await store.acquire_lease(session)
    await store.append_turn(session, "user", "hello")
    report = check(store.path)
    assert report.sound, report.findings
    assert any(f"process {os.getpid()}" in remark for remark in report.remarks)
    assert await store.append_turn(session, "assistant", "goes on") == 2


async def test_nobody_waits_for_a_check_and_it_waits_for_nobody(archive_path: Path) -> None:
    await _filled(archive_path)
    reindex(archive_path)
    with closing(connect(archive_path)) as stopped, transaction(stopped):
        stopped.execute("UPDATE cowork_sessions SET title = 'half'")
        report = check(archive_path)
    assert report.sound, report
    assert (report.unseen, report.standing, "index" in report.checked) == ((), {}, True)


async def test_a_damaged_index_is_found_where_nothing_can_be_written(archive_path: Path) -> None:
    await _filled(archive_path)
    reindex(archive_path)
    with closing(sqlite3.connect(archive_path)) as intruder:
        intruder.execute("UPDATE search_terms_data SET block = x'00ff00ff'")
        intruder.commit()
    with sealed(archive_path.parent):
        assert _parts(check(archive_path)) == {"index"}


@pytest.mark.parametrize("what", ["a log that is a link to itself", "an index that is a pipe"])
async def test_what_is_no_file_in_the_place_of_the_log_or_its_index_is_told(archive_path: Path, what: str) -> None:
    await _filled(archive_path)
    if what == "an index that is a pipe":
        place = archive_path.with_name(f"{archive_path.name}-shm")
        os.mkfifo(place, 0o600)
    else:
        place = archive_path.with_name(f"{archive_path.name}-wal")
        place.symlink_to(place.name)
    report = check(archive_path)
    assert report.unseen and not report.sound
    with pytest.raises(ArchiveUnavailable):
        create_backup(archive_path)
    place.unlink()
    assert check(archive_path).sound


async def test_an_archive_that_finds_no_room_to_be_read_is_not_called_damaged(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2_000_000):
        archive = tmp_path / "disk" / "archive.db"
        await _filled(archive)
        filler = fill_up(archive.parent)
        report = check(archive)
        assert _parts(report) == {"space"}
        (unseen,) = report.unseen
        assert "The disk is full" in unseen
        filler.unlink()


_CHECK_WITHOUT_ROOM = """
import resource, signal, sys
from pathlib import Path
from loom.archive.check import check

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.exit(f"sound: {check(Path(sys.argv[1])).sound}")
"""


async def test_where_no_temporary_file_can_be_written_a_check_goes_on(archive_path: Path) -> None:
    await _filled(archive_path)
    done = subprocess.run(
        [sys.executable, "-c", _CHECK_WITHOUT_ROOM, str(archive_path)], capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == "sound: False", done


async def test_an_index_that_is_behind_is_not_called_in_order(archive_path: Path) -> None:
    await _filled(archive_path)
    reindex(archive_path)
    assert check(archive_path).standing == {}
    with closing(connect(archive_path)) as connection:
        connection.execute("UPDATE search_progress SET watermark = watermark - 3")
    report = check(archive_path, quick=True)
    assert report.sound and report.standing == {"index": "behind"}
    assert any("is behind" in remark for remark in report.remarks)


async def test_the_first_changed_text_is_named_by_session_and_turn(archive_path: Path) -> None:
    reference = await _filled(archive_path)
    for number in (17, 23):
        words = f"turn number {number} ".encode()
        overwrite(archive_path, find_bytes(archive_path, words), words.upper())
    report = check(archive_path)
    (finding,) = [finding for finding in report.findings if finding.part == "chain"]
    assert f"Session {reference}: the text of T17 is not what was stored, and 1 more." in finding.what
    assert "numbering" not in _parts(report)


async def test_a_text_that_is_no_longer_utf8_is_a_changed_text(archive_path: Path) -> None:
    reference = await _filled(archive_path)
    overwrite(archive_path, find_bytes(archive_path, b"turn number 9 "), b"\xff\xfe")
    assert any(f"{reference}: the text of T9 " in finding.what for finding in check(archive_path).findings)


async def test_tokens_that_are_not_those_of_the_turns_are_noticed(archive_path: Path) -> None:
    reference = await _filled(archive_path)
    with closing(connect(archive_path)) as connection:
        connection.execute("UPDATE cowork_sessions SET turn_tokens = turn_tokens + 1")
    (finding,) = check(archive_path).findings
    assert finding.part == "numbering"
    assert f"Session {reference}: its turns have other tokens" in finding.what


async def test_an_exchange_that_begins_elsewhere_is_noticed(archive_path: Path) -> None:
    reference = await _filled(archive_path)
    with closing(connect(archive_path)) as connection:
        connection.execute("UPDATE exchanges SET tokens_before = tokens_before + 1 WHERE exchange = 3")
    (finding,) = check(archive_path).findings
    assert finding.part == "numbering"
    assert f"Session {reference}: its exchanges begin elsewhere" in finding.what


async def test_a_turn_that_is_gone_is_noticed(archive_path: Path) -> None:
    reference = await _filled(archive_path)
    with closing(connect(archive_path)) as connection:
        connection.execute("DROP TRIGGER turns_are_never_deleted")
        connection.execute("DELETE FROM conversation_turns WHERE turn_number IN (12, 40)")
    report = check(archive_path)
    said = [finding.what for finding in report.findings if finding.part == "numbering"]
    assert f"Session {reference}: T13 does not follow the turn before it." in said
    assert f"Session {reference} should end at T40 and ends at T39." in said
    assert any("T13" in finding.what for finding in report.findings if finding.part == "chain")


async def test_a_damaged_file_is_a_finding_and_no_crash(archive_path: Path) -> None:
    await _filled(archive_path, 200)
    size = archive_path.stat().st_size
    overwrite(archive_path, size // 2, b"\xaa" * 4096)
    report = check(archive_path)
    assert "structure" in _parts(report)


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be one" * 100])
def test_a_file_that_is_no_archive_is_a_finding(archive_path: Path, content: bytes) -> None:
    archive_path.parent.mkdir(mode=0o700)
    archive_path.touch(mode=0o600)
    archive_path.write_bytes(content)
    assert _parts(check(archive_path)) == {"structure"}
    assert archive_path.read_bytes() == content


def test_no_archive_at_all_is_told(archive_path: Path) -> None:
    with pytest.raises(ArchiveUnavailable):
        check(archive_path)


async def test_files_that_others_can_read_are_named(archive_path: Path) -> None:
    await _filled(archive_path)
    archive_path.parent.chmod(0o755)
    backups, unsent = archive_path.parent / "backups", archive_path.parent / "unsent"
    for file in (backups / "old.db", unsent / "new.txt"):
        file.parent.mkdir(mode=0o700)
        file.touch()
        file.chmod(0o644)
    said = [finding.remedy for finding in check(archive_path).findings if finding.part == "permissions"]
    assert f"chmod 700 {archive_path.parent}" in said
    assert f"chmod 600 {backups / 'old.db'}" in said
    assert f"chmod 600 {unsent / 'new.txt'}" in said


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o610])
async def test_a_single_right_of_others_is_named(archive_path: Path, mode: int) -> None:
    await _filled(archive_path)
    archive_path.chmod(mode)
    (finding,) = check(archive_path).findings
    assert (finding.part, finding.remedy) == ("permissions", f"chmod 600 {archive_path}")


async def test_a_count_of_exchanges_that_is_not_that_of_the_turns_is_noticed(archive_path: Path) -> None:
    reference = await _filled(archive_path)
    with closing(connect(archive_path)) as connection:
        connection.execute("UPDATE cowork_sessions SET exchange_count = exchange_count + 1")
    (finding,) = check(archive_path).findings
    assert finding.part == "numbering"
    assert f"Session {reference} should have 21 exchanges and has 20." in finding.what


async def test_a_note_of_used_ids_that_is_gone_is_noticed(archive_path: Path) -> None:
    await _filled(archive_path)
    reindex(archive_path)
    with closing(connect(archive_path)) as connection:
        connection.execute("DELETE FROM turn_ids")
    (finding,) = check(archive_path).findings
    assert (finding.part, finding.what) == ("structure", "What a purge notes of the ids of turns is gone.")


async def test_an_index_that_is_ahead_of_the_turns_is_noticed(archive_path: Path) -> None:
    await _filled(archive_path)
    reindex(archive_path)
    with closing(connect(archive_path)) as connection:
        connection.execute("UPDATE search_progress SET watermark = watermark + 1")
    (finding,) = check(archive_path).findings
    assert finding.part == "index" and "turns that never were" in finding.what


async def test_little_space_is_told(archive_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await _filled(archive_path)
    real = shutil.disk_usage(archive_path.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: real._replace(free=5_000_000))
    assert _parts(check(archive_path)) == {"space"}


async def test_an_index_without_its_turns_is_noticed_and_made_again(archive_path: Path) -> None:
    await _filled(archive_path)
    reindex(archive_path)
    assert check(archive_path).sound
    with closing(connect(archive_path)) as connection:
        connection.execute("DELETE FROM search_marks WHERE place & 67108863 = 5")
    report = check(archive_path)
    assert _parts(report) == {"index"}
    assert "--reindex" in report.findings[0].remedy
    assert reindex(archive_path) == 40
    assert check(archive_path).sound


async def test_a_quick_check_leaves_the_texts_alone(archive_path: Path) -> None:
    await _filled(archive_path)
    overwrite(archive_path, find_bytes(archive_path, b"turn number 9 "), b"TURN")
    report = check(archive_path, quick=True)
    assert report.sound
    assert "chain" not in report.checked


async def test_progress_is_told(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    await store.append_turns(session, [NewTurn(role="assistant", content=f"{n}") for n in range(2_500)])
    await store.close()
    seen: list[tuple[str, int, int]] = []
    check(archive_path, progress=lambda what, done, total: seen.append((what, done, total)))
    assert ("following the digest chains", 2_000, 2_500) in seen


@pytest.mark.skipif(os.geteuid() == 0, reason="root looks into everything")
@pytest.mark.parametrize("mode", [0, 0o400])
async def test_a_folder_that_may_not_be_looked_into_is_no_damage(archive_path: Path, mode: int) -> None:
    await _filled(archive_path)
    backups = archive_path.parent / "backups"
    backups.mkdir(mode=0o700)
    (backups / "old.db").touch(mode=0o600)
    backups.chmod(mode)
    try:
        report = check(archive_path)
    finally:
        backups.chmod(0o700)
    assert report.findings == ()
    assert report.unseen == (f"{backups} cannot be looked into: Permission denied.",)
    assert not report.sound
    assert "permissions" not in report.checked
    assert (report.sessions, report.turns) == (1, 40)


async def test_leases_that_cannot_be_looked_up_are_no_damage(archive_path: Path) -> None:
    await _filled(archive_path)
    leases = archive_path.parent / "leases"
    leases.mkdir(mode=0o700)
    with closing(connect(archive_path)) as connection:
        (session,) = connection.execute("SELECT id FROM cowork_sessions").fetchone()
    (leases / f"{session}.lease").touch(mode=0o600)
    (leases / "lock").symlink_to(leases / "lock")
    report = check(archive_path)
    assert report.findings == ()
    assert "Who has sessions open cannot be looked up" in report.unseen[0]
    assert "leases" not in report.checked


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
async def test_an_archive_that_may_only_be_read_is_not_called_damaged(archive_path: Path) -> None:
    await _filled(archive_path)
    archive_path.chmod(0o400)
    archive_path.parent.chmod(0o500)
    try:
        report = check(archive_path)
    finally:
        archive_path.parent.chmod(0o700)
    assert report.findings == ()
    assert "may not write" in report.unseen[0]
    assert (report.sessions, report.turns) == (None, None)


def test_a_folder_that_leads_to_itself_is_named(archive_path: Path) -> None:
    archive_path.parent.mkdir(mode=0o700)
    archive_path.touch(mode=0o600)
    backups = archive_path.parent / "backups"
    backups.symlink_to(backups)
    (unseen,) = check(archive_path).unseen
    assert f"{backups} cannot be looked into" in unseen


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        ("drafts SET turns = '[{'", "what was being written"),
        ("session_texts SET session_state = '{'", "its state"),
        ("cowork_sessions SET tags = 'k]'", "its tags"),
        ("manifests SET texts = '{' WHERE request = 2", "request 2 is damaged."),
        ("manifests SET recipe = '{'", "request 1 is damaged, and of 1 more"),
    ],
)
async def test_damage_in_what_no_digest_is_over_is_named(
    store: ConversationStore, session: str, damage: str, named: str
) -> None:
    await store.append_turn(session, "user", "hello")
    await store.save_draft(Draft(session_id=session, exchange=1, turns=(NewTurn(role="assistant", content="so"),)))
    for request in (1, 2):
        await store.add_manifest(
            Manifest(
                session_id=session,
                request=request,
                exchange=1,
                created_at="",
                model_name="offline",
                window_tokens=1,
                segments={},
                turns=(),
                texts={},
                estimated_tokens=1,
                reported_tokens=None,
            )
        )
    assert check(store.path).sound
    with closing(connect(store.path)) as connection:
        connection.execute(f"UPDATE {damage}")
    (finding,) = check(store.path).findings
    assert finding.part == "notes"
    assert named in finding.what
    assert check(store.path, quick=True).sound
