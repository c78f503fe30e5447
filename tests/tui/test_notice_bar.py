"""What stands above the composer can be read to its end."""

from __future__ import annotations

from textual.app import App, ComposeResult

from loom.tui.widgets.notice_bar import Notice, NoticeBar
from tests.support.browsing import screen_text

FULL = (
    "Not saved: The turns could not be kept in /home/ada/.local/state/loom/spool either (No space left on device): they"
    " are in memory only. Make room and retry before you leave.\nThe text is kept. Ctrl+R writes it again."
)


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield NoticeBar()


async def test_the_key_that_helps_is_in_view_in_a_narrow_terminal() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.query_one(NoticeBar).show_notice(Notice.UNSAVED, FULL)
        await pilot.pause()
        assert "Ctrl+R writes it again." in screen_text(app)
