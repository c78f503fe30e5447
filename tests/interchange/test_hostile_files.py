"""Whatever stands in a file, it gives a session that the archive takes, or a refusal in words."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom.archive import ConversationStore
from loom.interchange import source as sources
from loom.interchange.session_file import read_session as read_source
from loom.interchange.session_file import sessions_in
from loom.interchange.source import ImportFailed, Source, opened
from tests.cli.test_main import loom
from tests.interchange import homes, test_claude_code, test_codex
from tests.interchange.reading_text import read_session, source_of, whole
from tests.interchange.test_other_agents import GPTSH
from tests.interchange.wild import VALUES, count_stored, places_of, replaced


def _made(home: Callable[[Path, Path], Path], name: str = "") -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        made = home(Path(folder), Path(folder)) / name
        return [json.loads(line) for line in made.read_text().splitlines() if line.endswith("}")]


_TALKS: list[list[dict[str, Any]]] = [
    test_claude_code.TALK,
    test_codex.TALK,
    _made(homes.gemini_home),
    [GPTSH],
]
_FOLDERS = {
    "wire.jsonl": _made(homes.kimi_home, "wire.jsonl"),
    "context.jsonl": _made(homes.kimi_context, "context.jsonl"),
    "messages.jsonl": _made(homes.vibe_home, "messages.jsonl"),
}


@st.composite
def _files(draw: st.DrawFn, talks: list[list[dict[str, Any]]] = _TALKS) -> str:
    """The lines of a real session, some of them with something else in some place, among others that are anything."""
    lines: list[object] = list(draw(st.sampled_from(talks)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] = replaced(lines[at], draw(st.sampled_from(list(places_of(lines[at])))), draw(VALUES))
    for line in draw(st.lists(VALUES, max_size=3)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    return "\n".join(json.dumps(line) for line in lines)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_files())
def test_any_lines_give_a_session_or_a_refusal(text: str) -> None:
    try:
        read = read_session(text)
    except ImportFailed:
        return
    assert read.turns and read.exchanges[-1] >= 0
    assert len({turn.append_key for turn in read.turns}) == len(read.turns)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(_FOLDERS)), st.data())
def test_any_lines_in_the_folder_of_a_session_give_one_or_a_refusal(name: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / name).write_text(data.draw(_files([_FOLDERS[name]])))
        for beside in ("meta.json", "state.json"):
            (folder / beside).write_text(json.dumps(data.draw(VALUES)))
        for read in sessions_in(folder):
            if not isinstance(read, ImportFailed):
                assert whole(read).turns


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([homes.opencode_home, homes.crush_home, homes.goose_home]),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), VALUES), max_size=8),
)
def test_any_values_in_a_database_give_sessions_or_refusals(
    home: Callable[[Path, Path], Path], changes: list[tuple[int, int, object]]
) -> None:
    with tempfile.TemporaryDirectory() as made:
        path = home(Path(made), Path(made))
        connection = sqlite3.connect(path)
        columns = [
            (table, column)
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall()
        ]
        for at, row, value in changes:
            table, column = columns[at % len(columns)]
            is_plain = isinstance(value, float | None) or (type(value) is int and abs(value) < 2**63)
            bound = value if is_plain else json.dumps(value)
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (bound, row))
        connection.commit()
        connection.close()
        for read in sessions_in(path, sub_agents=True):
            if not isinstance(read, ImportFailed):
                assert whole(read).turns


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=_files())
async def test_what_is_read_of_any_lines_the_archive_takes(tmp_path: Path, text: str) -> None:
    try:
        read = read_source(source_of(text))
    except ImportFailed:
        return
    assert await count_stored(tmp_path, read) == read.turn_count


@pytest.mark.parametrize("text", [b"\xff\xfe\0", b"\0" * 5000, b"[" * 1_000_000, b'{"a":' * 200_000, b"1" * 5000])
def test_what_is_no_session_is_refused(text: bytes) -> None:
    with pytest.raises(ImportFailed):
        read_session(text)


def test_arguments_that_are_nested_without_end_stay_text() -> None:
    line = test_codex.item("function_call", name="f", call_id="c", arguments='{"a":' * 900 + "1" + "}" * 900)
    (call,) = read_session(test_codex.text_of(*test_codex.TALK, line)).turns[-1].tool_calls or []
    assert call["arguments"].startswith('{"a":{"a":')


def test_numbers_that_are_none_are_words() -> None:
    line = test_codex.item("function_call", name="f", call_id="c", arguments='{"a": NaN, "b": 1e999}')
    (call,) = read_session(test_codex.text_of(*test_codex.TALK, line)).turns[-1].tool_calls or []
    assert call["arguments"] == {"a": "NaN", "b": "1e999"}


def test_a_line_that_is_too_long_costs_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 10_000)
    lines = test_codex.text_of(*test_codex.TALK[:-1], test_codex.message("user", "x" * 30_000), test_codex.TALK[-1])
    read = read_session(lines)
    assert read.turns[-1].content == "Nothing." and read.skipped["a line that is too long"] == 1


class _Repeated(io.RawIOBase):
    """A file of many exchanges that nobody holds."""

    def __init__(self, head: bytes, exchange: bytes, times: int) -> None:
        self.head, self.exchange, self.size, self.place = head, exchange, len(head) + len(exchange) * times, 0

    def seek(self, place: int, whence: int = 0) -> int:
        self.place = place
        return place

    def tell(self) -> int:
        return self.place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.place < len(self.head):
            data = self.head[self.place :]
        else:
            data = self.exchange[(self.place - len(self.head)) % len(self.exchange) :]
        data = data[: min(len(buffer), self.size - self.place)]
        buffer[: len(data)] = data
        self.place += len(data)
        return len(data)


def test_memory_does_not_grow_with_the_file() -> None:
    def most(times: int) -> int:
        exchange = test_codex.text_of(
            test_codex.message("user", "What is here? " * 200), test_codex.message("assistant", "One file. " * 2_000)
        )
        raw = _Repeated(test_codex.text_of(*test_codex.TALK[:5]).encode(), exchange.encode(), times)
        read = read_source(Source(io.BufferedReader(raw), raw.size))
        tracemalloc.start()
        for batch in read.batches():
            assert batch
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert read.turn_count == 2 * times + 1
        return peak

    assert most(2_000) < most(100) + 200_000


def test_a_line_that_would_fill_the_memory_is_left_out() -> None:
    line = json.dumps(test_codex.TALK[0])
    swollen = f'{{"type": "x", "a": [{"[]," * 5_000_000}[]]}}'
    read = read_session("\n".join([line, swollen, json.dumps(test_codex.message("user", "[{" * 10))]))
    assert [turn.content for turn in read.turns] == ["[{" * 10]
    assert read.skipped == {"a line that is not whole": 1}


def test_a_pipe_is_read_to_its_end_and_a_device_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(test_codex.text_of(*test_codex.TALK)))
    writer.start()
    with opened(pipe) as source:
        assert whole(read_source(source)).turns[-1].content == "Nothing."
    writer.join()
    for other in ("/dev/zero", str(tmp_path)):
        with pytest.raises(ImportFailed, match="cannot be read"), opened(Path(other)):
            pass


def test_what_is_compressed_is_told_how_to_be_read(tmp_path: Path) -> None:
    file = tmp_path / "rollout.jsonl.zst"
    file.write_bytes(b"\x28\xb5\x2f\xfd....")
    with pytest.raises(ImportFailed, match="zstd -dc FILE"), opened(file):
        pass


@pytest.mark.parametrize("own", [False, True])
async def test_an_import_that_is_killed_in_the_middle_goes_on(tmp_path: Path, own: bool) -> None:
    home, folder, file = tmp_path / "home", tmp_path / "work", tmp_path / "rollout.jsonl"
    folder.mkdir()
    talk = [{**test_codex.TALK[0], "payload": {"id": test_codex.SESSION, "cwd": str(folder)}}]
    for number in range(400):
        talk += [test_codex.message("user", f"question {number}"), test_codex.message("assistant", f"answer {number}")]
    file.write_text(test_codex.text_of(*talk))
    if own:
        assert loom("import", str(file), home=tmp_path / "there").returncode == 0
        written = loom("export", "0", "-w", str(folder), "--format", "json", home=tmp_path / "there").stdout
        file = tmp_path / "talk.json"
        file.write_text(written)
    home.mkdir(mode=0o700)
    await (await ConversationStore.open(home / "archive.db")).close()
    env = {**os.environ, "LOOM_HOME": str(home)}
    process = subprocess.Popen([sys.executable, "-m", "loom", "import", str(file)], env=env, stdout=subprocess.PIPE)
    store = await ConversationStore.open(home / "archive.db", readonly=True)
    while process.poll() is None:
        if await store.get_turn_count(test_codex.SESSION) > 100:
            process.kill()
            break
    process.communicate()
    assert 100 < await store.get_turn_count(test_codex.SESSION) < 800, "it was over before it was killed"
    await store.close()
    done = loom("import", str(file), home=home)
    assert done.returncode == 0, done.stderr
    store = await ConversationStore.open(home / "archive.db", readonly=True)
    stored = await store.get_range(test_codex.SESSION, 1, 1_000)
    await store.close()
    pairs = [(f"question {number}", f"answer {number}") for number in range(400)]
    assert [turn.content for turn in stored] == [words for pair in pairs for words in pair]
    assert [turn.exchange for turn in stored] == [1 + number // 2 for number in range(800)]
    assert loom("check", home=home).returncode == 0
