"""`loom search` as a person and a script run it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.records import TurnKind
from loom.state.pins import pin_meta
from tests.cli.test_main import loom


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A home with two workspaces, `here` with two sessions."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    store = await ConversationStore.open(home / "archive.db")
    for title, folder, text in (
        ("first", "here", "the kangaroo plan\x1b[31m with a bell \x07"),
        ("second", "here", "another kangaroo, 日本語のカンガルー 🦘"),
        ("third", "there", "the kangaroo elsewhere"),
    ):
        session = await store.create_session(tmp_path / folder, "offline", "", title=title)
        await store.append_turn(session, "user", text, created_at="2026-03-10T09:00:00.000000Z")
        await store.append_turn(session, "tool", f"{title} output wombat", tool_name="read_file")
    await store.close()
    return home


def search(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return loom("search", "-w", str(home.parent / "here"), *arguments, home=home)


def found(home: Path, *arguments: str) -> list[str]:
    """The contents of the hits."""
    done = search(home, "--json", *arguments)
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line)["content"] for line in done.stdout.splitlines()]


def test_the_scope_is_the_workspace_a_session_or_everything(home: Path) -> None:
    assert len(found(home, "kangaroo")) == 2
    assert len(found(home, "kangaroo", "--all")) == 3
    (hit,) = found(home, "kangaroo", "--session", "0")
    assert hit.startswith("another")
    assert len(found(home, "kangaroo", "--all", "--limit", "1")) == 1


def test_filters_quotes_and_a_minus_narrow_it(home: Path) -> None:
    assert found(home, "wombat role:user") == []
    assert len(found(home, "wombat role:tool tool:read_file")) == 2
    assert found(home, "kangaroo before:2026-03-09") == []
    assert len(found(home, "kangaroo after:2026-03 before:2026-04")) == 2
    assert len(found(home, "kangaroo -plan")) == 1
    assert len(found(home, "--", '-plan "another kangaroo"')) == 1
    assert len(found(home, "kangaroo session:third")) == 1
    assert len(found(home, "wombat tool:read")) == 2


def test_words_need_no_quotes_and_options_may_stand_between_them(home: Path) -> None:
    assert found(home, "kangaroo", "role:tool") == []
    assert len(found(home, "kangaroo", "--limit", "5", "session:first")) == 1


def test_behind_two_minuses_all_are_words(home: Path) -> None:
    assert len(found(home, "--limit", "5", "--", "-plan", "kangaroo")) == 1
    assert len(found(home, "kangaroo", "--", "-plan")) == 1
    assert search(home, "--", "--limit").returncode == 1, "no option"


@pytest.mark.parametrize("minus", ["-plan", "-heron", "-amazon"])
def test_a_minus_that_is_taken_for_an_option_is_told_where_it_goes(home: Path, minus: str) -> None:
    done = search(home, "kangaroo", minus)
    assert done.returncode == 2 and not done.stdout
    assert "loom search: error: " in done.stderr and "goes behind --" in done.stderr


def test_a_phrase_that_stands_nowhere_is_said_to(home: Path) -> None:
    done = search(home, '"plan kangaroo"')
    assert done.returncode == 0 and "kangaroo plan" in done.stdout
    assert done.stderr == "loom: Nothing has “plan kangaroo” word for word.\n"


async def test_pinned_words_are_found_as_a_pin(home: Path) -> None:
    store = await ConversationStore.open(home / "archive.db")
    session = (await store.list_sessions(str(home.parent / "here")))[0]
    meta = pin_meta("count in wallabies", None, "person")
    await store.append_turn(session.id, "system", "Pinned: count in wallabies", kind=TurnKind.NOTE, message_meta=meta)
    await store.close()
    head, snippet = search(home, "wallabies").stdout.splitlines()
    assert head.startswith(f"{session.reference} T3 pin ") and snippet == "    Pinned: count in wallabies"


def test_nothing_found_is_exit_code_1_and_a_line_on_stderr(home: Path) -> None:
    done = search(home, "aardvark")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "loom: nothing found in 4 turns. --all searches every workspace.\n"
    assert "Spelt nearly so, and there: wombat. --all" in search(home, "wombet").stderr
    done = search(home, "kangaroo tool:write_file")
    assert (done.returncode, done.stdout) == (1, "")
    said = "loom: nothing found in 4 turns. No turn there passes tool:write_file. Try tool:read_file."
    assert done.stderr == f"{said} --all searches every workspace.\n"
    assert search(home, "kangaroo tool:write_file", "--all").stderr == f"{said.replace('4', '6')}\n"
    assert loom("search", "x", "-w", str(home.parent), home=home.parent / "empty").returncode == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("kangaroo before:notadate", "before:notadate is no date"),
        ("after:2026-13", "after:2026-13 is no date"),
        ("kangaroo role:boss", "There is no role boss"),
        ("role:user,boss", "There is no role"),
        ('file:"" kangaroo', "file: has no value"),
        ("  ", "The query is empty"),
    ],
)
def test_what_means_nothing_is_said_with_exit_code_2(home: Path, query: str, said: str) -> None:
    done = search(home, query)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_only_looks_like_a_filter_is_searched_for(home: Path) -> None:
    for query in ("could not open file: kangaroo", '"a kangaroo role:boss"', "http://kangaroo before: lunch"):
        assert search(home, query).returncode in (0, 1), query


@pytest.mark.parametrize("limit", ["0", "-3", "1001", "ten"])
def test_a_limit_out_of_range_is_exit_code_2(home: Path, limit: str) -> None:
    assert search(home, "kangaroo", f"--limit={limit}").returncode == 2


@pytest.mark.parametrize("query", ["🦘" * 300, "kangaroo " * 11_000, '"' * 999, "(" * 999, "\udcff kangaroo", "%_*"])
def test_no_query_is_too_strange(home: Path, query: str) -> None:
    done = search(home, query)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


def test_a_pipe_gets_no_control_character_and_whole_lines(home: Path) -> None:
    done = search(home, "kangaroo plan", "--limit", "1")
    assert re.match(r"\w{4,} T1 user 2026-03-10 \d\d:00 [+-]\d\d:\d\d\n    the kangaroo plan", done.stdout)
    assert not set(done.stdout) & {"\x1b", "\x07"}


def test_times_are_the_readers_own_and_say_so_and_utc_in_json(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    assert " 2026-03-10 14:45 +05:45\n" in search(home, "kangaroo plan", "--limit", "1").stdout
    (line,) = search(home, "kangaroo plan", "--limit", "1", "--json").stdout.splitlines()
    assert json.loads(line)["created_at"] == "2026-03-10T09:00:00.000000Z"
    listed = loom("sessions", "-w", str(home.parent / "here"), home=home).stdout.splitlines()
    assert len(listed) == 2 and all(" +05:45  " in line for line in listed)


def test_a_list_that_is_cut_says_so(home: Path) -> None:
    here = str(home.parent / "here")
    cut, whole = (loom("sessions", "-w", here, "--limit", limit, home=home) for limit in ("1", "9" * 30))
    assert len(cut.stdout.splitlines()) == 1 and "more than 1 session: --limit N" in cut.stderr
    assert len(whole.stdout.splitlines()) == 2 and not whole.stderr


async def test_what_a_fork_copied_is_printed_once_with_where_else_it_is(home: Path) -> None:
    store = await ConversationStore.open(home / "archive.db")
    (first,) = [s for s in await store.list_sessions() if s.title == "first"]
    fork = await store.get_session(await store.fork_session(first.id))
    await store.close()
    assert fork is not None
    done = search(home, "kangaroo plan bell", "--limit", "1")
    assert done.stdout.splitlines()[0].startswith(f"{first.reference} T1 user ")
    assert done.stdout.splitlines()[0].endswith(f", also in {fork.reference}")
    assert len(found(home, "kangaroo")) == 2
    (line,) = search(home, "kangaroo plan bell", "--limit", "1", "--json").stdout.splitlines()
    assert json.loads(line)["also_in"] == [fork.reference]


@pytest.mark.parametrize("columns", [24, 200])
def test_a_terminal_gets_lines_that_fit(home: Path, columns: int) -> None:
    controller, terminal = pty.openpty()
    env = {**os.environ, "LOOM_HOME": str(home), "COLUMNS": str(columns), "LINES": "24"}
    command = [sys.executable, "-m", "loom", "search", "--all", "kangaroo"]
    done = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.PIPE, check=False
    )
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(controller, 65_536):
            shown += part
    except OSError:
        pass  # Linux says so when the other end is closed
    os.close(controller)
    assert done.returncode == 0, done.stderr
    lines = shown.decode().splitlines()
    assert "カンガルー" in "".join(line.strip() for line in lines)
    for line in lines:
        assert len(line) + sum(character > "\u3000" for character in line) <= columns


async def test_what_is_found_by_its_meaning_is_said_to_be(home: Path) -> None:
    store = await ConversationStore.open(home / "archive.db")
    session = await store.create_session(home.parent / "here", "offline", "")
    await store.append_turn(session, "user", "He plays the cello in the city orchestra.")
    await store.close()
    question = "which instrument did they perform on?"
    assert ", near in meaning\n    He plays the cello" in search(home, question).stdout
    (line,) = [line for line in search(home, "--json", question).stdout.splitlines() if "cello" in line]
    assert json.loads(line)["by_meaning"] is True


async def test_a_deleted_session_that_is_named_is_said_to_be_deleted(home: Path) -> None:
    store = await ConversationStore.open(home / "archive.db")
    (session,) = [each for each in await store.list_sessions(home.parent / "here") if each.title == "first"]
    await store.delete_session(session.id)
    await store.close()
    done = search(home, "kangaroo", "--session", session.reference)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == (
        f"loom: {session.reference} was deleted: it is not searched."
        f" `loom cowork --resume {session.reference}` brings it back."
    )
