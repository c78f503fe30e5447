"""A folder to work in, with something beside it that must stay out of reach; and a talk to recall from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.config import Settings
from loom.tools.paths import Workspace
from loom.tools.toolbox import Toolbox, build_toolbox
from tests.support.checkout import make_checkout
from tests.support.zone import reading_in
from tests.tools.nothing_said import KEPT, NothingSaid
from tests.tools.talk import Talk


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the workspace, with a secret in it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("the secret\n")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty workspace."""
    folder = tmp_path / "work space"
    folder.mkdir()
    return folder


@pytest.fixture
def home(root: Path) -> Path:
    """loom's own home, inside the workspace, as when the workspace is the person's home."""
    folder = root / ".state" / "loom"
    folder.mkdir(parents=True)
    (folder / "archive.db").write_text("loom's own database\n")
    return folder


@pytest.fixture
def workspace(root: Path, home: Path, outside: Path) -> Workspace:
    return Workspace(root, [home])


@pytest.fixture
def tools(workspace: Workspace, home: Path) -> Toolbox:
    """All tools over the empty workspace."""
    return build_toolbox(workspace.root, Settings(shell_timeout=60), NothingSaid(), len, **KEPT, forbidden=[home])


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real git checkout with one commit; only its own configuration counts."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "checkout"
    folder.mkdir()
    return make_checkout(folder)


@pytest.fixture
def git_tools(checkout: Path) -> Toolbox:
    """All tools over the checkout."""
    return build_toolbox(checkout, Settings(shell_timeout=60), NothingSaid(), len, **KEPT)


@pytest.fixture
async def talk(tmp_path: Path, root: Path) -> AsyncIterator[Talk]:
    """A session in which nothing was said yet, of somebody whose time is UTC."""
    store = await ConversationStore.open(tmp_path / "archive" / "archive.db")
    talk = Talk(store, root)
    await talk.begin()
    with reading_in("UTC"):
        yield talk
    await store.close()
