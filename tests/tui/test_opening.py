"""How a conversation is opened, and what is left of one that is not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from loom.archive.errors import ArchiveUnavailable, LeaseHeld
from loom.config import Settings
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from loom.tui.opening import Opener
from loom.tui.screens.held import Held


async def _nobody_asks(_title: str, error: LeaseHeld) -> Held:
    raise error


async def test_an_opening_that_is_cancelled_half_way_leaves_no_lease(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = asyncio.Event()
    resume = CoworkSession.resume

    async def resume_half(self: CoworkSession, session_id: str, *, take_over: bool = False) -> None:
        await resume(self, session_id, take_over=take_over)
        half.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(CoworkSession, "resume", resume_half)
    settings = Settings(model="offline")
    bench, other = [await Workbench.open(locations, settings) for _ in range(2)]
    try:
        session = await bench.store.create_session(workspace, "offline", "")
        opener = Opener(bench, workspace, settings, "offline", _nobody_asks)
        opening = asyncio.ensure_future(opener.open(session, lambda event: None))
        await half.wait()
        assert await other.store.get_lease_holder(session) is not None
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert await other.store.get_lease_holder(session) is None
    finally:
        await bench.close()
        await other.close()


async def test_a_take_over_that_comes_to_nothing_takes_nothing(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resume_nothing(self: CoworkSession, session_id: str, *, take_over: bool = False) -> None:
        raise ArchiveUnavailable("It is gone.")

    async def take_over(_title: str, _error: LeaseHeld) -> Held:
        monkeypatch.setattr(CoworkSession, "resume", resume_nothing)
        return Held.TAKE_OVER

    settings = Settings(model="offline")
    bench, other = [await Workbench.open(locations, settings) for _ in range(2)]
    try:
        session = await other.store.create_session(workspace, "offline", "")
        await other.store.acquire_lease(session)
        with pytest.raises(ArchiveUnavailable):
            await Opener(bench, workspace, settings, "offline", take_over).open(session, lambda event: None)
        assert not await other.store.is_lease_lost(session)
    finally:
        await bench.close()
        await other.close()
