"""How the events of a conversation come to stand on its screen."""

from __future__ import annotations

from loom.cowork import events as ev
from loom.text import show_line
from loom.tui.passing import Severity
from loom.tui.screens.chat_pages import PagedScreen
from loom.tui.widgets.approval_place import ApprovalPlace
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.gauge import Gauge
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.notice_bar import Notice
from loom.tui.widgets.status import StatusLine
from loom.tui.widgets.transcript import Transcript
from loom.tui.widgets.welcome import Welcome

SEVERITIES: dict[str, Severity] = {"error": "error", "warning": "warning"}

_NEWER = ev.TurnStored | ev.ToolFinished | ev.TextDelta | ev.ThinkingDelta

TAKEN_WORDS = (
    "Another loom took this session over. Whatever ran here was stopped; nothing more is stored.\n"
    "Ctrl+T: follow it, fork and go on, take it back, or leave. What you write is kept."
)


class EventDrawing:
    """Draws one event after the other on a screen."""

    def __init__(self, screen: PagedScreen) -> None:
        self._screen = screen

    async def draw(self, event: ev.Event) -> None:
        screen = self._screen
        transcript = screen.query_one(Transcript)
        follows = screen.service is not None and screen.service.read_only
        if transcript.newer_dropped and follows and isinstance(event, _NEWER):
            return  # the person reads far up; what is newer is loaded on the way down
        if transcript.newer_dropped and isinstance(event, ev.TurnStored | ev.ToolStarted):
            await screen.show_newest()
        if await transcript.draw(event):
            return
        match event:
            case ev.ApprovalAsked():
                transcript.tool_asking(event.call_id, asking=True)
                await screen.query_one(ApprovalPlace).ask(event, writing=screen.writing)
                screen.show_queue()
            case ev.ApprovalAnswered(call_id):
                transcript.tool_asking(call_id, asking=False)
                if await screen.query_one(ApprovalPlace).withdraw(call_id, writing=screen.writing):
                    screen.query_one(Composer).focus()
                screen.show_queue()
            case ev.ExchangeStarted():
                # The first message has given the session its title by now.
                screen.show_info()
                screen.query_one(StatusLine).start()
                await screen.show_unanswered()
                screen.refresh_bindings()
            case ev.ExchangeEnded():
                await self._end_exchange(event)
            case _:
                self._draw_around(event)

    def _draw_around(self, event: ev.Event) -> None:
        """What is drawn beside the transcript."""
        screen = self._screen
        match event:
            case ev.SessionOpened(_, reference, title):
                screen.query_one(StatusLine).show_title(title, reference)
            case ev.TitleChanged():
                screen.show_info()
            case ev.UsageChanged(usage):
                screen.query_one(Gauge).show_usage(usage)
            case ev.StateChanged(state):
                screen.show_state()
                transcript = screen.query_one(Transcript)
                transcript.show_pins(pin.turn for pin in state.pins)
                transcript.show_rewound(state.rewound)
            case ev.Compacting(words):
                screen.query_one(StatusLine).show_word(words)
                screen.refresh_bindings()
            case ev.QueueChanged():
                screen.show_queue()
            case ev.Notice(severity, text):
                if not self._welcome_says(text):
                    screen.say(text, SEVERITIES.get(severity, "information"))
            case ev.InstructionsUnasked(paths) if screen.service is None or not screen.service.read_only:
                screen.ask_about_instructions(paths)
            case ev.SaveFailed(what, remedy, message):
                words = f"Not saved: {what} {remedy}".rstrip()
                kept = f"“{show_line(message, 60)}”" if message else "The text"
                screen.stand(Notice.UNSAVED, f"{words}\n{kept} is kept. Ctrl+R writes it again.")
            case ev.TakenOver():
                screen.stand(Notice.TAKEN, TAKEN_WORDS)
                screen.show_queue()
                screen.show_info()

    def _welcome_says(self, text: str) -> bool:
        """Whether the welcome stands there and says this already."""
        service = self._screen.service
        if service is None or not self._screen.query(Welcome):
            return False
        return text == (str(service.problem) if service.problem is not None else service.choice.note)

    async def _end_exchange(self, event: ev.ExchangeEnded) -> None:
        screen = self._screen
        screen.query_one(StatusLine).stop()
        transcript = screen.query_one(Transcript)
        await transcript.end_exchange(complete=event.outcome is ev.Outcome.COMPLETE)
        # That another loom has it is said already, above the composer.
        taken = screen.service is not None and screen.service.taken
        if event.outcome is ev.Outcome.FAILED and event.error and not taken:
            await transcript.add_line(ErrorBlock(event.error))
        elif event.outcome is ev.Outcome.INTERRUPTED and not taken and not transcript.shows_interruption:
            # Of what has no answer, the line behind this one speaks.
            nothing_came = screen.service is not None and screen.service.unanswered is not None
            kept = "" if nothing_came else " What had arrived is kept."
            await transcript.add_line(ReceiptLine(f"Interrupted.{kept}"))
        await screen.show_unanswered()
        screen.show_info()
        screen.refresh_bindings()

    async def failed(self, error: Exception) -> None:
        """An event could not be drawn: the exchange ends, the program does not."""
        screen = self._screen
        if not screen.is_attached:
            return
        screen.action_interrupt()
        text = f"This could not be drawn, and the exchange was stopped: {type(error).__name__}: {error}"
        await screen.query_one(Transcript).add_line(ErrorBlock(f"{text}\nEverything is in the archive."))
