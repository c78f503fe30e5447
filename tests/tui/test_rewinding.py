"""Going back in the conversation, by the command and by the key; the message from there is there to be changed."""

from __future__ import annotations

from pathlib import Path

from loom.locations import Locations
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.message import AssistantMessage, UserMessage
from tests.support.seat import Seat, seated


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
