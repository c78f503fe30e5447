"""What the slash commands of the chat screen do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from textual.message import Message

from loom.archive.records import Turn, TurnKind
from loom.context.usage import short_tokens
from loom.errors import LoomError, Stopped
from loom.text import plural, show_line
from loom.tui.commands import Call, likely
from loom.tui.named_turn import named_turn, named_turns
from loom.tui.screens.chat_frame import FramedScreen
from loom.tui.screens.memory import MemoryScreen
from loom.tui.screens.pins import PinsScreen
from loom.tui.screens.trust import TrustScreen
from loom.tui.service import ChatService
from loom.tui.tag_words import tags_in_words
from loom.tui.turn_text import turn_text
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.notice_bar import Notice
from loom.tui.widgets.status import StatusLine
from loom.tui.widgets.transcript import Transcript

Place = Literal["help", "context", "sessions", "new", "archive", "fork", "model", "quit"]


class GoTo(Message):
    """The person wants another screen; the app knows the way."""

    def __init__(self, place: Place, argument: str = "") -> None:
        super().__init__()
        self.place = place
        self.argument = argument


class CommandedScreen(FramedScreen):
    """A screen with a conversation and the commands on it: `command_<name>` for every entry of the list."""

    def conversation(self) -> ChatService:
        """The conversation. Raises LoomError while the archive is still being opened, and when it cannot be."""
        if self.service is None:
            raise (
                LoomError(self.failure)
                if self.failure
                else LoomError("The archive is still being opened.", "Try again in a moment.")
            )
        return self.service

    def action_interrupt(self) -> None:
        """Stop the exchange. What waited for its end is not sent behind the person's back: it is held."""
        if self.service is not None:
            self.service.interrupt()

    def _take_waiting(self) -> tuple[str, ...]:
        """What waited until now."""
        waiting, self._early = self.waiting, []
        while self.service is not None and self.service.take_back() is not None:
            pass
        self.show_queue()
        return waiting

    def run_command(self, call: Call) -> None:
        """Run a command off the key press that asked for it; a failure, as of one that is not in the list, is said in
        the transcript."""
        self.run_worker(self._run(call), group=f"command-{call.name}", exit_on_error=False)

    def _handler(self, call: Call) -> Callable[[str], Awaitable[None]]:
        """What the command does. Raises LoomError when there is no such command, or it is not called like this."""
        if call.command is None:
            meant = likely(call.name)
            guess = f"Did you mean /{meant.name}? " if meant is not None else ""
            raise LoomError(f"There is no /{show_line(call.name, 40)}.", f"{guess}/help lists the commands.")
        if call.argument and not call.command.args:
            # They may be meant for the model, or for another command: not to be lost, and nothing to be done unasked.
            raise LoomError(f"/{call.name} takes no words.", "Take away those behind it, or send them as a message.")
        handler: Callable[[str], Awaitable[None]] = getattr(self, call.command.handler)
        return handler

    async def _run(self, call: Call) -> None:
        composer = self.query_one(Composer)
        try:
            await self._handler(call)(call.argument)
        except Stopped as stopped:
            await self.query_one(Transcript).add_line(ReceiptLine(str(stopped)))
        except LoomError as error:
            await self.query_one(Transcript).add_line(ErrorBlock(str(error)))
        except Exception as error:  # noqa: BLE001 - whatever a command does wrong ends here, not the program
            await self.query_one(Transcript).add_line(
                ErrorBlock(f"/{call.name} failed: {type(error).__name__}: {error}")
            )
        else:
            return
        if (call.argument or (call.command is not None and call.command.needs_words)) and not composer.text:
            composer.put(f"/{call.name} {call.argument}")

    async def command_help(self, argument: str) -> None:
        self.post_message(GoTo("help"))

    async def command_context(self, argument: str) -> None:
        self.post_message(GoTo("context"))

    async def command_sessions(self, argument: str) -> None:
        self.post_message(GoTo("sessions"))

    async def command_new(self, argument: str) -> None:
        self.post_message(GoTo("new"))

    async def command_fork(self, argument: str) -> None:
        session = self.conversation().session
        if session is None:
            raise LoomError("There is nothing to fork yet.", "The session begins with your first message.")
        turn = named_turn(argument) if argument else session.turn_count
        if not 1 <= turn <= session.turn_count:
            raise LoomError(
                f"There is no turn {show_line(argument, 40)} here.", "/fork T12 forks after the exchange of that turn."
            )
        self.post_message(GoTo("fork", str(turn)))

    async def command_recall(self, argument: str) -> None:
        self.post_message(GoTo("archive", argument))

    async def command_quit(self, argument: str) -> None:
        self.post_message(GoTo("quit"))

    async def command_compact(self, argument: str) -> None:
        service = self.conversation()
        if service.busy:
            # Refused in its own words; what runs keeps its place in the title.
            await service.compact(argument)
            return
        status = self.query_one(StatusLine)
        status.start("summarising…")
        # The footer names the key that stops it once the conversation is at it.
        self.call_next(self.refresh_bindings)
        try:
            await service.compact(argument)
        finally:
            status.stop()
            self.refresh_bindings()

    async def command_uncompact(self, argument: str) -> None:
        await self.conversation().uncompact()

    async def command_clear(self, argument: str) -> None:
        await self.conversation().clear()

    async def command_unclear(self, argument: str) -> None:
        await self.conversation().unclear()

    async def command_pin(self, argument: str) -> None:
        service = self.conversation()
        if turns := named_turns(argument):
            for turn in turns:
                await service.pin_turn(turn)
        elif argument:
            await service.pin_text(argument)
        else:
            answer = await self._last_answer(service)
            if answer is None:
                raise LoomError("There is no answer to pin.", "/pin T12 pins a turn, /pin with words pins the words.")
            await service.pin_turn(answer.turn_number)

    @staticmethod
    async def _last_answer(service: ChatService) -> Turn | None:
        turns = reversed(await service.transcript(None, 100))
        return next((turn for turn in turns if turn.role == "assistant" and turn.kind is TurnKind.TEXT), None)

    async def command_unpin(self, argument: str) -> None:
        if not argument:
            await self.command_pins("")
            return
        service = self.conversation()
        for turn in named_turns(argument) or (0,):
            pin = next((pin for pin in service.state.pins if pin.turn == turn), None)
            if pin is None:
                named = f"T{turn}" if turn else show_line(argument, 40)
                raise LoomError(f"{named} is not pinned.", "/pins lists what is.")
            await service.unpin(pin)

    async def command_pins(self, argument: str) -> None:
        self.app.push_screen(PinsScreen(self.conversation()))

    async def command_memory(self, argument: str) -> None:
        service = self.conversation()
        self.app.push_screen(MemoryScreen(service, await service.beside.read_memory()))

    async def command_instructions(self, argument: str) -> None:
        beside = self.conversation().beside
        project = await beside.look()
        if not project.files:
            raise LoomError("There is no AGENTS.md, CLAUDE.md or .loom/instructions.md here.")
        answer = await self.app.push_screen_wait(TrustScreen(project, clock=self._clock))
        if answer != "later":
            await beside.decide(answer, project)
        self.stand(Notice.TRUST, "")

    def ask_about_instructions(self, paths: Sequence[str]) -> None:
        """Say that nobody has said yet whether the model reads these files, or, without any, no longer say so. No key
        that is typed answers it."""
        names = show_line(", ".join(paths), 200)
        are, them = ("is", "it") if len(paths) == 1 else ("are", "them")
        # One line in 60 columns: it stands there, as long as nobody answers, where questions need the room.
        words = f"{names} {are} not followed until you trust {them}: Ctrl+T asks."
        self.stand(Notice.TRUST, words if paths else "")

    async def command_history(self, argument: str) -> None:
        service = self.conversation()
        session, usage = service.session, service.usage
        if session is None:
            raise LoomError("Nothing has been said yet.")
        words = (
            f"{plural(session.turn_count, 'turn')} in {plural(session.exchange_count, 'exchange')}, all in the archive"
        )
        if usage is not None:
            words += f"; the window holds {short_tokens(usage.used)} of {short_tokens(usage.window)} tokens"
        await self.query_one(Transcript).add_line(ReceiptLine(f"{words}."))

    async def command_model(self, argument: str) -> None:
        service = self.conversation()
        if not argument:
            self.post_message(GoTo("model"))
            return
        status = self.query_one(StatusLine)
        status.show_word("changing the model…")
        try:
            await service.set_model(argument)
        finally:
            status.show_word("")
            self.show_info()
        choice = service.choice
        assumed = ", assumed" if choice.window_assumed else ""
        self.say(f"{choice.name} ({choice.reason}); window {choice.window:,} tokens{assumed}")

    async def command_retry(self, argument: str) -> None:
        await self.conversation().ask_again()

    async def command_copy(self, argument: str) -> None:
        service = self.conversation()
        if argument:
            number = named_turn(argument)
            turn = next((each for each in await service.transcript(number + 1, 1) if each.turn_number == number), None)
            if turn is None:
                raise LoomError(f"There is no turn {show_line(argument, 40)} here.", "/copy T12 copies that one.")
        elif (turn := await self._last_answer(service)) is None:
            raise LoomError("There is no answer yet.", "/copy T12 copies a turn.")
        text = turn_text(turn)
        self.app.copy_to_clipboard(text)
        self.say(f"T{turn.turn_number} copied, {plural(len(text), 'character')}.", fleeting=True)

    async def command_export(self, argument: str) -> None:
        path = await self.conversation().export(argument)
        await self.query_one(Transcript).add_line(ReceiptLine(f"Exported to {path}"))

    async def command_rename(self, argument: str) -> None:
        if not argument:
            raise LoomError("/rename needs the new title.", "Write it after the command.")
        await self.conversation().rename(argument)
        self.show_info()

    async def command_tag(self, argument: str) -> None:
        service = self.conversation()
        if argument:
            tags = await service.change_tags(add=argument.split())
        elif service.session is not None:
            tags = service.session.tags
        else:
            raise LoomError("Nothing has been said yet.", "The session begins with your first message.")
        self.say(
            f"Its tags: {tags_in_words(tags)}" if tags else "It has no tags. /tag auth puts one on.", fleeting=True
        )

    async def command_untag(self, argument: str) -> None:
        service = self.conversation()
        before = service.session.tags if service.session is not None else ()
        words = argument.split()
        if not words:
            raise LoomError("/untag needs the tags that go.", f"It has {tags_in_words(before) or 'none'}.")
        known = {tag.casefold() for tag in before}
        for word in words:
            if word.removeprefix("#").casefold() not in known:
                raise LoomError(f"{show_line(word, 40)} is no tag here.", f"It has {tags_in_words(before) or 'none'}.")
        tags = await service.change_tags(remove=words)
        self.say(f"Its tags: {tags_in_words(tags)}" if tags else "It has no tags any more.", fleeting=True)

    async def command_state(self, argument: str) -> None:
        self.toggle_state()
