"""Make the pictures in docs/screens/: the program itself, under Textual's pilot, on the offline model.

`python docs/screens.py` from a checkout. Uses a small checkout and a home of its own, and nothing of yours.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from loom.archive import ConversationStore  # noqa: E402
from loom.locations import Locations  # noqa: E402 - the checkout's own
from loom.tui.screens.usage import UsageScreen  # noqa: E402
from loom.tui.widgets.approval import Approval  # noqa: E402
from loom.tui.widgets.completion import CompletionPopup  # noqa: E402
from loom.tui.widgets.hit_preview import HitPreview  # noqa: E402
from loom.tui.widgets.session_list import SessionList  # noqa: E402
from tests.support.checkout import make_checkout  # noqa: E402
from tests.support.long_talk import tell  # noqa: E402
from tests.support.seat import Seat, seated  # noqa: E402

SCREENS = ROOT / "docs" / "screens"
SIZE = (110, 34)


def _keep(seat: Seat, name: str) -> None:
    SCREENS.mkdir(exist_ok=True)
    (SCREENS / f"{name}.svg").write_text(seat.app.export_screenshot(title="loom"), encoding="utf-8")
    print(f"docs/screens/{name}.svg")


async def _conversation(seat: Seat) -> None:
    await seat.ready()
    await seat.talk("find refreshToken")
    await seat.talk("read src/auth.py")
    await seat.say('replace "token[::-1]" with "token.removeprefix(\'old-\')" in src/auth.py')
    await seat.until(lambda: seat.chat.query(Approval))
    await seat.chat.drawn()
    await seat.pilot.pause()
    _keep(seat, "conversation")
    # A yes counts only when it comes a moment after the question.
    seat.clock.advance(1.0)
    await seat.pilot.press("y")
    await seat.idle()


async def _context(seat: Seat) -> None:
    await seat.say("/context")
    await seat.until(lambda: isinstance(seat.app.screen, UsageScreen))
    await seat.pilot.pause(0.5)
    _keep(seat, "context")
    await seat.pilot.press("escape")


async def _archive(seat: Seat) -> None:
    await seat.pilot.press("ctrl+f")
    await seat.pilot.press(*"refresh")
    await seat.until(lambda: seat.app.screen.query(HitPreview))
    await seat.pilot.pause(1.0)
    _keep(seat, "archive")
    await seat.pilot.press("escape")


async def _long_ago(seat: Seat) -> None:
    """What was said 2,700 turns ago, and a filter that is being typed."""
    await seat.ready()
    await seat.say("/recall when are customers to be sent their invoice?")
    await seat.until(lambda: seat.app.screen.query(HitPreview) and seat.app.screen.query_one(HitPreview).page)
    # Once more when the index has caught up with a session that was written a moment ago.
    await seat.pilot.pause(5.0)
    await seat.pilot.press("space", "down")
    await seat.pilot.pause(1.0)
    _keep(seat, "recall")
    await seat.pilot.press("slash", "ctrl+u", *"limits file:par")
    popup = seat.app.screen.query_one(CompletionPopup)
    await seat.until(lambda: popup.is_open)
    await seat.pilot.pause(0.5)
    _keep(seat, "recall-filters")


async def _make_long_session(locations: Locations, workspace: Path) -> str:
    """Give the workspace a session of 3,000 turns; its reference."""
    store = await ConversationStore.open(locations.archive)
    session_id = await store.create_session(workspace, "offline", "", title="A session of three thousand turns")
    await tell(store, session_id)
    session = await store.get_session(session_id)
    await store.close()
    assert session is not None
    return session.reference


async def make(folder: Path) -> None:
    """Make every picture."""
    workspace = make_checkout(folder / "sample")
    home = folder / "home"
    locations = Locations(home=home, config=home / "config.toml")
    async with seated(locations, workspace, size=SIZE, fresh=True) as seat:
        await _conversation(seat)
        await _context(seat)
        await _archive(seat)
    async with seated(locations, workspace, size=SIZE) as seat:
        await seat.until(lambda: seat.app.screen.query(SessionList) and seat.rows)
        await seat.pilot.pause(0.5)
        _keep(seat, "picker")
    reference = await _make_long_session(locations, workspace)
    async with seated(locations, workspace, size=SIZE, resume=reference) as seat:
        await _long_ago(seat)


def main() -> None:
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    # The colours that most terminals have, whatever this one has.
    os.environ.pop("NO_COLOR", None)
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
    # Always the same name: it is in the pictures.
    folder = Path(tempfile.gettempdir(), "loom-screens")
    folder.mkdir(mode=0o700)
    try:
        asyncio.run(make(folder))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
