"""Many exchanges in a small window: nothing fails, the gauge is right, what was said first still counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.cowork.events import Outcome
from tests.support.long_session import BUILD, CONSTRAINT, SETTINGS, CountingModel, run, serve


async def test_forty_exchanges_in_a_window_for_a_few(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(CountingModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        came = await run(tmp_path / "home", workspace, 42)
    assert came.outcomes == (Outcome.COMPLETE,) * 42
    assert came.trims == came.receipts >= 3
    assert came.most_tokens <= SETTINGS.context_window - SETTINGS.output_reserve
    assert max(came.errors) <= 0.05
    assert CONSTRAINT.rstrip(".") in came.last_system
    assert BUILD in came.recalled
    assert came.put_together_again == 1.0
