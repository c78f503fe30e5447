"""The command line: what is wrong is said in one line, with exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from loom import __version__
from loom.archive import ConversationStore
from loom.cli.main import build_parser


def loom(*arguments: str, home: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.endswith(("_API_KEY", "_BASE_URL"))}
    return subprocess.run(
        [sys.executable, "-m", "loom", *arguments],
        env={**env, "LOOM_HOME": str(home)},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_version_is_printed(tmp_path: Path) -> None:
    done = loom("--version", home=tmp_path)
    assert done.stdout.strip() == f"loom {__version__}"


def test_a_missing_folder_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = loom("cowork", "-w", str(tmp_path / "none"), home=tmp_path)
    assert done.returncode == 2
    assert "There is no folder" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_file_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    done = loom("cowork", "-w", str(path), home=tmp_path)
    assert done.returncode == 2
    assert "is a file" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    done = loom("cowork", "-w", str(folder), home=tmp_path)
    assert done.returncode == 2
    assert "cannot be read" in done.stderr


def test_without_a_terminal_the_screen_is_refused_in_words(tmp_path: Path) -> None:
    done = loom("cowork", "-w", str(tmp_path), home=tmp_path)
    assert done.returncode == 2
    assert "-p TEXT" in done.stderr


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("modle = 'x'")
    done = loom("cowork", "-w", str(tmp_path), "-p", "hello", home=tmp_path)
    assert done.returncode == 2
    assert "Unknown setting `modle`" in done.stderr


def test_without_a_command_options_are_those_of_cowork(tmp_path: Path) -> None:
    done = loom("-w", str(tmp_path), "-m", "offline", "-p", "count to 3", home=tmp_path / "home")
    assert done.returncode == 0 and done.stdout.endswith("1, 2, 3.\n")
    assert loom("--help", home=tmp_path).stdout.startswith("usage: loom [-h]")
    unknown = loom("--nonsense", home=tmp_path)
    assert unknown.returncode == 2 and "--nonsense" in unknown.stderr


def test_an_empty_prompt_is_refused(tmp_path: Path) -> None:
    done = loom("cowork", "-w", str(tmp_path), "-p", "-", home=tmp_path, stdin=" \n")
    assert done.returncode == 2
    assert "empty" in done.stderr


@pytest.mark.parametrize(
    "line",
    ["export k3f9 --format html out.html", "export k3f9 out.html --format html", "export --format html k3f9 out.html"],
)
def test_options_may_stand_anywhere(line: str) -> None:
    parsed = build_parser().parse_args(line.split())
    assert (parsed.session, parsed.format, parsed.file) == ("k3f9", "html", "out.html")


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, loom.cli\n"
        "try: loom.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'textual', 'pydantic_ai', 'tiktoken', 'sqlite3'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


async def test_what_searches_nothing_loads_no_search(tmp_path: Path) -> None:
    store = await ConversationStore.open(tmp_path / "archive.db")
    await store.append_turn(await store.create_session(tmp_path, "offline", ""), "user", "hello")
    await store.close()
    code = (
        "import sys, loom.cli\n"
        "for command in ['sessions'], ['export', '0']: assert loom.cli.main(command) == 0\n"
        "heavy = {'loom.archive.search', 'pydantic_ai', 'textual', 'tiktoken'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    environment = {**os.environ, "LOOM_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)


def test_a_project_nobody_trusted_is_named_and_not_read(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    asked = ("cowork", "-w", str(workspace), "-m", "offline", "-p", "list .", "--output", "json")
    done = loom(*asked, home=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == ["loom: AGENTS.md not read: nobody trusted it yet; --trust does."]
    assert "project" not in json.loads(done.stdout)["usage"]["segments"]
    trusted = loom(*asked, "--trust", home=tmp_path)
    assert trusted.returncode == 0 and trusted.stderr == ""
    assert json.loads(trusted.stdout)["usage"]["segments"]["project"] > 0
