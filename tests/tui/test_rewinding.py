"""Going back in the conversation, by the command and by the key; the message from there is there to be changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widget import Widget

from loom.cowork.events import StateChanged
from loom.locations import Locations
from loom.tui.widgets.blocks import block_turn
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.message import AssistantMessage, UserMessage
from loom.tui.widgets.transcript import Transcript
from tests.support.seat import Seat, seated
from tests.support.turns import session_record, turn
from tests.tui.conftest import ChatApp, settled


def notes(seat: Seat) -> list[str]:
    return [line.source for line in seat.chat.query(ReceiptLine)]


def errors(seat: Seat) -> str:
    return "\n".join(block.source for block in seat.chat.query(ErrorBlock))


async def test_the_last_message_comes_back_to_be_changed_and_sent_again(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("list .")
        await seat.talk("read README.md")
        await seat.say("/rewind")
        composer = seat.chat.query_one(Composer)
        await seat.until(lambda: composer.text == "read README.md")
        assert notes(seat)[-1].startswith("Rewound to before T6: T6–T10 are out of the window, kept in the archive")
        assert len(seat.chat.query(UserMessage)) == 2, "what was said can still be read"
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert seat.chat.draft == "read README.md", "it was not sent again, so it is still being written"
        await seat.pilot.press("ctrl+c")
        await seat.say("/unrewind")
        await seat.until(lambda: any("was taken back" in note for note in notes(seat)))


def marked(seat: Seat) -> list[int]:
    """The turns that are drawn as rewound past."""
    return [block_turn(block) for block in seat.chat.query_one(Transcript).children if block.has_class("-rewound")]


async def test_what_was_rewound_past_is_marked_until_it_is_put_back(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("list .")
        await seat.talk("read README.md")
        transcript = seat.chat.query_one(Transcript)
        drawn = [block_turn(block) for block in transcript.children if block_turn(block)]
        assert marked(seat) == []
        await seat.say("/rewind")
        await seat.until(lambda: marked(seat))
        assert marked(seat) == [turn for turn in drawn if turn >= 6]
        seat.chat.query_one(Composer).put("")
        await seat.talk("list .")
        assert marked(seat) == [turn for turn in drawn if turn >= 6], "what is said from now on counts"
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert marked(seat) == [turn for turn in drawn if turn >= 6]
        await seat.say("/unrewind")
        await seat.until(lambda: not marked(seat))


LONG = [turn(n, "user" if n % 2 else "assistant", f"Number {n}. " + "many words " * 30) for n in range(1, 41)]


@pytest.mark.parametrize("width", [120, 60])
async def test_nothing_moves_when_turns_are_marked(width: int) -> None:
    app = ChatApp(turns=LONG, session=session_record())
    async with app.run_test(size=(width, 24)) as pilot:
        transcript = app.chat.query_one(Transcript)
        while not transcript.max_scroll_y:
            await pilot.pause()
        transcript.release_anchor()
        transcript.scroll_to(y=transcript.max_scroll_y // 2, animate=False, immediate=True)
        await pilot.pause()
        places = [(block, block.virtual_region, transcript.scroll_y) for block in transcript.children]
        # The words of a block, too: their lines break where they broke.
        inside = transcript.query("Static, MarkdownBlock").results(Widget)
        words = [(each, each.region.size) for each in inside]
        for rewound in (((5, 30),), ((1, 40),), ()):
            app.service.state = replace(app.service.state, rewound=rewound)
            app.service.tell(StateChanged(app.service.state))
            await settled(pilot, app)
            assert len(transcript.query(".-rewound")) == sum(last - first + 1 for first, last in rewound)
            assert [(block, block.virtual_region, transcript.scroll_y) for block in transcript.children] == places
            assert [(each, each.region.size) for each, _ in words] == words


async def test_an_older_page_has_the_marks_too() -> None:
    app = ChatApp(turns=[replace(each, turn_number=n) for n, each in enumerate(LONG * 4, 1)], session=session_record())
    app.service.state = replace(app.service.state, rewound=((20, 59),))
    async with app.run_test(size=(100, 24)) as pilot:
        transcript = app.chat.query_one(Transcript)
        assert not transcript.query(".-rewound")
        transcript.focus()
        while transcript.oldest_turn > 1:
            await pilot.press("home")
            await settled(pilot, app)
        assert [block_turn(block) for block in transcript.query(".-rewound")] == list(range(20, 60))


async def test_words_in_the_composer_stay_and_the_message_is_in_its_history(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("list .")
        await seat.talk("read README.md")
        composer = seat.chat.query_one(Composer)
        composer.put("words of mine")
        seat.chat.query(UserMessage).first().focus()
        await seat.until(lambda: isinstance(seat.app.focused, UserMessage))
        await seat.pilot.press("z")
        await seat.until(lambda: any("Rewound to before T1:" in note for note in notes(seat)))
        await seat.idle()
        assert composer.text == "words of mine"
        composer.focus()
        await seat.pilot.press("up")
        await seat.until(lambda: composer.text == "list .")
        await seat.pilot.press("down")
        await seat.until(lambda: composer.text == "words of mine")


async def test_the_key_is_for_messages_of_the_person(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("list .")
        seat.chat.query(AssistantMessage).last().focus()
        await seat.until(lambda: isinstance(seat.app.focused, AssistantMessage))
        await seat.pilot.press("z")
        await seat.until(lambda: seat.chat.query_one(Composer).text == "z")
        assert not any("Rewound" in note for note in notes(seat))


async def test_wrong_arguments_are_said_in_words(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("/rewind")
        await seat.until(lambda: "Nothing has been said yet." in errors(seat))
        await seat.talk("list .")
        for wrong, words in {
            "/rewind yesterday": "yesterday names no turn.",
            "/rewind T99": "There is no turn T99 here.",
            "/rewind T0": "T0 names no turn.",
            "/unrewind": "Nothing was rewound past that could be put back.",
            "/unrewind T1": "/unrewind takes no words.",
        }.items():
            await seat.say(wrong)
            await seat.until(lambda words=words: words in errors(seat))  # type: ignore[misc]
            seat.chat.query_one(Composer).put("")
        assert not any("Rewound" in note for note in notes(seat))
