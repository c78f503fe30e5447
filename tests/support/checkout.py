"""A real git checkout, small enough to read."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

FILES = {
    "README.md": "# Sample\n\nA small program to work on.\n",
    "src/auth.py": (
        "def login(name: str) -> str:\n"
        '    """Give a token."""\n'
        '    return "token-" + name\n\n\n'
        "def refreshToken(token: str) -> str:\n"
        "    return token[::-1]\n"
    ),
    "tests/test_auth.py": (
        "import sys\n"
        'sys.path.insert(0, "src")\n'
        "from auth import login\n\n\n"
        "def test_login():\n"
        '    assert login("ann") == "token-ann"\n'
    ),
    ".gitignore": "ignored/\n",
    "ignored/secret.txt": "not for searching\n",
}


def git(folder: Path, *arguments: str) -> str:
    """What git prints; its identity is fixed, its configuration only the checkout's."""
    done = subprocess.run(
        ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def make_checkout(folder: Path) -> Path:
    """The folder, made into a checkout with one commit: a copy of one that git made once for all tests."""
    shutil.copytree(_made().name, folder, symlinks=True, dirs_exist_ok=True)
    return folder


@cache
def _made() -> TemporaryDirectory[str]:
    """Five processes of git, once; it goes when the tests end."""
    made = TemporaryDirectory(prefix="loom-checkout-")
    folder = Path(made.name)
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return made
