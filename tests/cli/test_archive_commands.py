"""check, backup, recover and purge as a person runs them."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.database import connect
from tests.cli.test_main import loom
from tests.support.damage import find_bytes, overwrite
from tests.support.pty_program import PtyProgram, environment_for
from tests.support.purging import held_up
from tests.support.sealed import sealed


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A home with one session."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    store = await ConversationStore.open(home / "archive.db")
    session = await store.create_session(tmp_path, "offline", "")
    await store.append_turn(session, "user", "a title\nthe words that were stored here")
    await store.close()
    return home


async def test_the_list_says_which_session_is_open(home: Path) -> None:
    store = await ConversationStore.open(home / "archive.db")
    [session] = await store.list_sessions()
    assert "open in process" not in loom("sessions", "--all", home=home).stdout
    await store.acquire_lease(session.id)
    assert f", open in process {os.getpid()})" in loom("sessions", "--all", home=home).stdout
    # Beside it may stand that the index is behind.
    (note,) = [line for line in loom("check", home=home).stdout.splitlines() if "open in process" in line]
    assert re.search(
        rf"^note: .*open in process {os.getpid()} on .*, since \d{{4}}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d\.$", note
    )
    assert json.loads(loom("sessions", "--all", "--json", home=home).stdout)["open"]["pid"] == os.getpid()
    await store.close()
    assert json.loads(loom("sessions", "--all", "--json", home=home).stdout)["open"] is None


async def test_what_was_deleted_is_listed_by_itself(home: Path) -> None:
    assert loom("sessions", "--all", "--deleted", home=home).stdout == ""
    store = await ConversationStore.open(home / "archive.db")
    [session] = await store.list_sessions()
    await store.delete_session(session.id)
    await store.close()
    assert session.reference not in loom("sessions", "--all", home=home).stdout
    deleted = loom("sessions", "--all", "--deleted", home=home)
    assert deleted.stdout.startswith(f"{session.reference}  ") and "a title" in deleted.stdout
    assert "--resume REF" in deleted.stderr
    (line,) = loom("sessions", "--all", "--deleted", "--json", home=home).stdout.splitlines()
    assert json.loads(line)["is_active"] is False


@pytest.mark.parametrize("command", [("check",), ("backup",), ("purge", "0", "--yes")])
def test_without_an_archive_there_is_one_line_and_exit_code_2(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = loom(*command, home=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_check_says_that_all_is_well_and_then_what_is_not(home: Path) -> None:
    done = loom("check", home=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Everything is in order." in done.stdout
    overwrite(home / "archive.db", find_bytes(home / "archive.db", b"words that were stored"), b"WORDS")
    done = loom("check", home=home)
    assert done.returncode == 1
    assert "the text of T1 is not what was stored" in done.stdout
    assert loom("check", "--quick", home=home).returncode == 0


def test_check_keeps_what_it_could_not_see_apart_from_damage(home: Path) -> None:
    (home / "backups").symlink_to(home / "backups")
    done = loom("check", home=home)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"not seen: {home / 'backups'} cannot be looked into" in done.stdout
    assert "WRONG" not in done.stdout
    assert done.stdout.splitlines()[-1] == "Not everything could be looked into."


def test_backup_then_recover_gives_the_turns_back(home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    done = loom("backup", str(copy), home=home)
    assert done.returncode == 0
    assert "1 session, 1 turn," in done.stdout
    assert loom("backup", str(copy), home=home).returncode == 2
    os.truncate(copy, copy.stat().st_size - 100)
    done = loom("recover", str(copy), home=home)
    assert done.returncode == 0, done
    assert "1 turn of 1 session recovered" in done.stdout
    assert (tmp_path / "copy-recovered.db").exists()


def test_recover_refuses_what_is_no_archive(home: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("shopping")
    done = loom("recover", str(tmp_path / "notes.txt"), home=home)
    assert done.returncode == 2
    assert "Nothing of a loom archive" in done.stderr


def test_purge_asks_and_cannot_where_nobody_is(home: Path, tmp_path: Path) -> None:
    done = loom("purge", "0", "-w", str(tmp_path), home=home)
    assert done.returncode == 2
    assert "--yes" in done.stderr
    done = loom("purge", "0", "-w", str(tmp_path), "--yes", home=home)
    assert done.returncode == 0, done
    assert "nothing is left of it" in done.stdout
    assert find_bytes(home / "archive.db", b"words that were stored") == -1


async def test_purge_takes_nothing_but_the_reference_for_a_yes(home: Path, tmp_path: Path) -> None:
    store = await ConversationStore.open(home / "archive.db")
    [session] = await store.list_sessions()
    await store.close()
    for answer, code in (("y", 1), ("", 1), ("\x04", 1), (session.reference.upper(), 0)):
        with PtyProgram(["purge", "0", "-w", str(tmp_path)], environment_for(home)) as asked:
            asked.until(f"Type {session.reference} to purge it:")
            assert find_bytes(home / "archive.db", b"words that were stored") > 0
            asked.press(answer if answer == "\x04" else f"{answer}\r")
            assert asked.wait() == code, answer
    assert find_bytes(home / "archive.db", b"words that were stored") == -1


def test_purge_names_the_turn_that_was_damaged(home: Path, tmp_path: Path) -> None:
    overwrite(home / "archive.db", find_bytes(home / "archive.db", b"words that were stored"), b"WORDS")
    done = loom("purge", "0", "-w", str(tmp_path), "--yes", home=home)
    assert (done.returncode, done.stderr) == (1, "")
    assert "damaged: T1 held something else than what was stored" in done.stdout
    assert "nothing is left of it" in done.stdout
    assert find_bytes(home / "archive.db", b"that were stored") == -1


async def test_a_purge_that_was_cut_off_goes_on_without_a_question(home: Path, tmp_path: Path) -> None:
    store = await ConversationStore.open(home / "archive.db")
    [session] = await store.list_sessions()
    await store.close()
    with held_up(home / "archive.db", session.id, "the end"):
        done = loom("purge", session.reference, "-w", str(tmp_path), home=home)
        assert done.returncode == 2
        assert f"When that one is done with it, `loom purge {session.reference}` goes on." in done.stderr
    done = loom("check", home=home)
    assert done.returncode == 1
    assert f"The purge of session {session.reference} was cut off" in done.stdout
    assert loom("export", session.reference, "-w", str(tmp_path), home=home).returncode == 2
    done = loom("purge", session.reference.upper(), "-w", str(tmp_path), home=home)
    assert done.returncode == 1, done
    assert done.stderr == f"The purge of {session.reference} was cut off. It goes on.\n"
    assert "cut off: All of its turns had gone before." in done.stdout
    assert loom("purge", session.reference, "-w", str(tmp_path), home=home).returncode == 2
    assert loom("check", home=home).returncode == 0


@pytest.fixture
def newer_home(home: Path) -> Path:
    """A home whose archive a newer loom has."""
    with closing(connect(home / "archive.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    return home


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("sessions", "--all"), "a title"),
        (("search", "--all", "words"), "the words that were stored"),
        (("export", "0"), "the words that were stored here"),
    ],
)
def test_the_archive_of_a_newer_loom_is_read(
    newer_home: Path, tmp_path: Path, command: tuple[str, ...], said: str
) -> None:
    workspace = () if "--all" in command else ("-w", str(tmp_path))
    done = loom(*command, *workspace, home=newer_home)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done
    assert said in done.stdout
    assert "A newer loom wrote the archive" in done.stderr
    assert "It is only read." in done.stderr


def test_the_requests_of_a_newer_looms_archive_are_read_too(newer_home: Path, tmp_path: Path) -> None:
    done = loom("context", "0", "-w", str(tmp_path), home=newer_home)
    assert done.returncode == 2
    assert "It is only read." in done.stderr and "No request has been sent in session" in done.stderr


def test_where_there_is_no_session_a_line_says_so(home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = loom("sessions", "-w", str(tmp_path / "elsewhere"), home=home)
    assert (done.returncode, done.stdout) == (0, "")
    path = tmp_path / "elsewhere"
    assert done.stderr == f"loom: there is no session of {path} yet; --all lists those of every workspace\n"
    done = loom("sessions", "--all", "--json", home=tmp_path / "empty")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "loom: there is no session yet\n")


@pytest.mark.parametrize("command", [("cowork", "-p", "hello"), ("purge", "0", "--yes")])
def test_the_archive_of_a_newer_loom_is_not_written(newer_home: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = loom(*command, "-w", str(tmp_path), home=newer_home)
    assert done.returncode == 2
    assert "A newer loom wrote the archive" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


HOSTILE = {
    "no reference": ("export", "", "No reference was given"),
    "a reference that steers the terminal": ("purge", "\x1b[31m", "No session goes by `␛[31m`"),
    "a place far down the list": ("context", "9" * 30, "No session goes by"),
    "an export into the archive": ("export", "0", "HOME/archive.db", "--format", "json", "--force", "loom's own"),
    "an export into its log": ("export", "0", "HOME/archive.db-wal", "--format", "json", "loom's own"),
    "an export into a pipe": ("export", "0", "PLACE/pipe", "--format", "json", "--force", "is not a file"),
    "a backup over the archive": ("backup", "HOME/archive.db", "exists already"),
    "a backup over a link that leads nowhere": ("backup", "PLACE/link", "exists already"),
    "a backup where no folder can be": ("backup", "PLACE/notes/copy.db", "There is no folder"),
    "a backup where the log is looked for": ("backup", "HOME/archive.db-wal", "loom's own"),
    "a backup among the leases": ("backup", "HOME/leases/x.lease", "loom's own"),
    "a backup among the unsent words, by another way": ("backup", "HOME/backups/../unsent/copy.db", "loom's own"),
    "a backup where the settings are": ("backup", "HOME/config.toml", "loom's own"),
    "a backup where a log is set aside": ("backup", "HOME/archive.db-wal-replaced-1", "loom's own"),
    "a backup where the list of backups is": ("backup", "HOME/backups/elsewhere", "loom's own"),
    "a backup that would be removed in three days": (
        "backup",
        "HOME/backups/archive-auto-20200101T000000Z.db",
        "loom's own",
    ),
    "a recovery among the leases": ("recover", "HOME/archive.db", "-o", "HOME/leases/x.lease", "loom's own"),
    "a recovery where no folder is": (
        "recover",
        "HOME/archive.db",
        "-o",
        "PLACE/a/typo/saved.db",
        "There is no folder",
    ),
    "a recovery where the log is looked for": ("recover", "HOME/archive.db", "-o", "HOME/archive.db-wal", "loom's own"),
    "a recovery where its own log is looked for": ("recover", "PLACE/notes", "-o", "PLACE/notes-wal", "own files"),
    "a backup into a home that nobody has": ("backup", "~nobody-has-this-name/copy.db", "There is no home folder"),
    "a backup into a folder that is not there": ("backup", "PLACE/a/", "names no file"),
    "a recovery from a home that nobody has": ("recover", "~nobody-has-this-name/copy.db", "There is no home folder"),
    "a recovery of nothing": ("recover", "", "names no file"),
    "a recovery of a folder": ("recover", "PLACE", "is not a file"),
    "a recovery of a pipe": ("recover", "PLACE/pipe", "is not a file"),
    "a recovery over the archive": ("recover", "HOME/archive.db", "-o", "HOME/archive.db", "exists already"),
    "a recovery over a link": ("recover", "HOME/archive.db", "-o", "PLACE/link", "exists already"),
    "a search for nothing": ("search", "  ", "The query is empty"),
    "a filter that means nothing": ("search", "before:never", "before"),
    "a limit below one": ("sessions", "--limit", "0", "--limit"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_cannot_be_is_one_line_and_exit_code_2_and_changes_nothing(home: Path, tmp_path: Path, what: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    os.mkfifo(place / "pipe")
    (place / "notes").write_text("shopping")
    (place / "link").symlink_to(place / "none")
    *command, said = HOSTILE[what]
    before = {path: path.lstat() for path in (home / "archive.db", place, *place.iterdir())}
    arguments = [each.replace("HOME", str(home)).replace("PLACE", str(place)) for each in command]
    yes = ["--yes"] if command[0] == "purge" else []
    where = ["-w", str(tmp_path)] if command[0] not in ("backup", "recover") else []
    done = loom(*arguments, *yes, *where, home=home)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert said in done.stderr and len(done.stderr.strip().splitlines()) == 1, done
    assert not (home / "archive.db-wal").exists() and not (place / "a").exists()
    assert {path: path.lstat().st_ino for path in before} == {path: found.st_ino for path, found in before.items()}
    assert loom("check", home=home).returncode == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("sessions", "--all"), "a title"),
        (("search", "--all", "words"), "the words that were stored"),
        (("export", "0"), "the words that were stored here"),
        (("check",), "Everything is in order."),
    ],
)
def test_a_home_where_nothing_can_be_written_is_read(
    home: Path, tmp_path: Path, command: tuple[str, ...], said: str
) -> None:
    workspace = () if command[0] == "check" or "--all" in command else ("-w", str(tmp_path))
    with sealed(home):
        done = loom(*command, *workspace, home=home)
    assert done.returncode == 0, done
    assert said in done.stdout
    assert ("It is only read." in done.stderr) == (command[0] != "check")


@pytest.mark.parametrize("command", [("cowork", "-p", "hello"), ("purge", "0", "--yes")])
def test_a_home_where_nothing_can_be_written_is_not_written(
    home: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    with sealed(home):
        done = loom(*command, "-w", str(tmp_path), home=home)
    assert done.returncode == 2
    assert f"Nothing can be stored: {home} is read-only for you." in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
