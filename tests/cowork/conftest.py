"""A real home, a real checkout, a real session on the offline model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from loom.config import Settings
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from loom.models.choice import ModelChoice
from loom.models.choosing import choose_model
from tests.support.checkout import make_checkout
from tests.support.listening import Listening
from tests.support.provider import ScriptedProvider


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


@pytest.fixture
def locations(tmp_path: Path) -> Locations:
    return Locations(home=tmp_path / "home", config=tmp_path / "home" / "config.toml")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    """A provider on loopback, empty until a test adds replies; `chat()` speaks to it."""
    with ScriptedProvider() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


def chat(settings: Settings | None = None) -> ModelChoice:
    """The model of the loopback provider."""
    return choose_model("openai-chat:test", settings or Settings())


@dataclass
class Talk:
    """A session and what it said."""

    session: CoworkSession
    heard: Listening

    async def say(self, text: str) -> None:
        """Send a message and wait for the end of its exchange."""
        self.session.submit(text)
        await self.heard.ended()


Start = Callable[..., Awaitable[Talk]]


@pytest.fixture
async def bench(locations: Locations) -> AsyncIterator[Workbench]:
    workbench = await Workbench.open(locations, Settings())
    yield workbench
    await workbench.close()


@pytest.fixture
async def start(bench: Workbench, workspace: Path) -> AsyncIterator[Start]:
    """Start a session (`resume=` goes on with one); closed at the end."""
    open_talks: list[Talk] = []

    async def begin(
        *,
        resume: str | None = None,
        choice: ModelChoice | None = None,
        on: Workbench | None = None,
        trust_project: bool = False,
    ) -> Talk:
        heard = Listening()
        used = on or bench
        chosen = choice or choose_model("offline", used.settings)
        session = CoworkSession(used, workspace, chosen, listener=heard.take, trust_project=trust_project)
        if resume is not None:
            await session.resume(resume)
        await session.prepare()
        talk = Talk(session, heard)
        open_talks.append(talk)
        return talk

    yield begin
    for talk in open_talks:
        await talk.session.close()
