"""The full-screen app: screens, themes, start and stop. What a screen does stands in the screen."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.timer import Timer

from loom.archive.errors import AmbiguousReference, LeaseHeld, UnknownReference
from loom.archive.records import Session
from loom.archive.unsent import Unsent
from loom.config import Settings
from loom.cowork.events import Event, QueueChanged
from loom.cowork.past_requests import PastRequests
from loom.errors import LoomError
from loom.locations import Locations
from loom.models.suggesting import suggest_models
from loom.tools.mentions import without_files
from loom.tui.age import utc_now
from loom.tui.commands import Call
from loom.tui.drafts import KEEP_SECONDS, DraftKeeper, joined
from loom.tui.guard import TerminalGuard
from loom.tui.opening import Opener, open_workbench
from loom.tui.origin import origin_in_words
from loom.tui.screens.archive import ArchiveScreen, ForkAt, JumpTo, PinTurn
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.chat_commands import GoTo
from loom.tui.screens.chat_help import chat_help
from loom.tui.screens.choose_model import ChooseModelScreen
from loom.tui.screens.held import Held, HeldScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import NewSession, OpenSession, PickerResult, PickerScreen, Quit
from loom.tui.screens.trust import TrustScreen
from loom.tui.screens.usage import UsageScreen
from loom.tui.terminal import Terminal, TerminalLost
from loom.tui.themes import THEMES
from loom.tui.view import View, keep_view, load_view
from loom.tui.widgets.usage_table import usage_report

if TYPE_CHECKING:
    from loom.cowork.session import CoworkSession
    from loom.cowork.workbench import Workbench

Target = NewSession | OpenSession

QUIT_SECONDS = 2.0
"""Ctrl+C leaves when it comes twice within this."""
LOOK_SECONDS = 2.0
"""How often loom looks whether the terminal is still there; most that close say so themselves."""


class LoomLook(App[None]):
    """How everything looks, and the guard that every line passes on its way to the terminal."""

    # Whole: a subclass in another folder would look for it beside itself.
    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "loom"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", key_display="^Q", tooltip="Leave loom; everything is kept", priority=True)
    ]

    def __init__(self, theme: str = "loom-dark", *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(driver_class=Terminal)
        self._clock = clock
        self._quit_asked_at = -QUIT_SECONDS
        self._guard = TerminalGuard()
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme if theme in self.available_themes else "loom-dark"

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._guard]

    def action_help_quit(self) -> None:
        """Ctrl+C where nothing is selected that it could copy: clear what is being written, else stop what runs, else
        leave, when it comes twice."""
        screen = self.screen
        if isinstance(screen, ChatScreen) and screen.stop():
            return
        now = self._clock()
        if now - self._quit_asked_at < QUIT_SECONDS:
            self.run_worker(self.action_quit(), group="end", exit_on_error=False)
            return
        self._quit_asked_at = now
        self.notify("Press Ctrl+C again to quit.", markup=False, timeout=QUIT_SECONDS)


class LoomApp(LoomLook):
    """loom on the whole screen, in one workspace."""

    def __init__(
        self,
        locations: Locations,
        settings: Settings,
        workspace: Path,
        *,
        wanted_model: str = "",
        resume: str | None = None,
        fresh: bool = False,
        trust_project: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`wanted_model` goes before the settings. `resume` is a session reference; `fresh` starts a new session
        without asking; otherwise the picker opens if the workspace has sessions. `trust_project` lets the model read
        the project's instructions without asking. `clock` gives seconds, for the
        throbber and the key guard."""
        super().__init__(settings.theme, clock=clock)
        self._locations = locations
        self._settings = settings
        self._workspace = workspace
        self._wanted = wanted_model or settings.model
        self._resume = resume
        self._fresh = fresh
        self._trust_project = trust_project
        self._asked = False
        self._bench: Workbench | None = None
        self._session: CoworkSession | None = None
        self._chat = ChatScreen(workspace, clock=clock)
        self._unsent = Unsent(locations.unsent)
        self._keeper: DraftKeeper | None = None
        self._view = View()
        self._draft_timer: Timer | None = None
        self._draft_failed = False
        self._draft_kept: asyncio.Task[None] | None = None
        self._shutting: asyncio.Task[None] | None = None
        self._exit_code = 0

    # --- start and stop --------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.push_screen(self._chat)
        # Everything heavy begins when the first picture is on the terminal.
        self._chat.call_after_refresh(self._begin)
        if isinstance(self._driver, Terminal):
            self.set_interval(LOOK_SECONDS, self._look_at_terminal)

    @work(group="open", exit_on_error=False)
    async def _begin(self) -> None:
        try:
            self._view = await asyncio.to_thread(load_view, self._locations.view)
            self._chat.like_panel(self._view.state_panel)
            bench = await open_workbench(self._locations, self._settings)
            self._bench = bench
            self.run_worker(bench.back_up(), group="backup", exit_on_error=False)
            target = await self._first(bench)
            while target is not None and not await self._open_first(bench, target):
                target = await self._pick(bench)
            if target is None:
                await self.action_quit()
        except LoomError as error:
            await self._chat.fail(str(error))
        except Exception as error:  # noqa: BLE001 - said on the screen; the program stays up to be read and left
            await self._chat.fail(f"loom could not start: {type(error).__name__}: {error}")

    async def _first(self, bench: Workbench) -> Target | None:
        """What to open first; None to leave."""
        if self._resume is not None:
            try:
                session = await bench.store.resolve_reference(self._resume, str(self._workspace))
            except (UnknownReference, AmbiguousReference) as error:
                return await self._pick(bench, error.what)
            return OpenSession(session.id)
        if bench.newer is None and (self._fresh or not await bench.store.list_sessions(str(self._workspace), limit=1)):
            return NewSession()
        return await self._pick(bench)

    async def _open_first(self, bench: Workbench, target: Target) -> bool:
        """Open what was picked at the start; False when the person goes back to the picker, which says why when nothing
        new can be stored."""
        if bench.newer is not None and isinstance(target, NewSession):
            return False
        return await self._open(bench, target)

    async def _pick(self, bench: Workbench, said: str = "") -> Target | None:
        """What the person picks; None to leave. `said` is why they are asked."""
        picked = await self.push_screen_wait(self._picker(bench, said))
        return None if isinstance(picked, Quit) else await self._follow(bench, picked)

    async def action_quit(self) -> None:
        """Store what runs, give the session up, close the archive, leave."""
        try:
            await self._shut()
        finally:
            self.exit(return_code=self._exit_code)

    def end(self, exit_code: int) -> None:
        """Leave with this exit code as soon as what runs is stored: nobody is asked and nothing can be answered."""
        self._exit_code = exit_code
        self._chat.leaving()
        if self.is_running:
            self.run_worker(self.action_quit(), group="end", exit_on_error=False)
        else:
            self.call_later(self.action_quit)

    def _look_at_terminal(self) -> None:
        if isinstance(self._driver, Terminal) and not self._driver.is_there:
            self._driver.lose()

    @on(TerminalLost)
    def _terminal_lost(self) -> None:
        if not self._exit_code:
            self.end(128 + signal.SIGHUP)

    async def on_unmount(self) -> None:
        await self._shut()

    async def _shut(self) -> None:
        """Close everything, once; whoever asks later waits for the same end."""
        if self._shutting is None:
            self._shutting = asyncio.ensure_future(self._close_all_of_it())
        await asyncio.shield(self._shutting)

    async def _close_all_of_it(self) -> None:
        await self._keep_draft()
        try:
            if self._session is not None:
                await self._session.close()
                # A message that could not be stored any more stands there again.
                await self._keep_draft()
            await self._release_draft()
        finally:
            if self._bench is not None:
                await self._bench.close()

    @property
    def left(self) -> Session | None:
        """The session that was open last; None when nothing was said."""
        return self._session.session if self._session is not None else None

    # --- what is being written -------------------------------------------------------------------------------

    @on(ChatScreen.DraftChanged)
    def _draft_changed(self) -> None:
        if self._draft_timer is None and self._shutting is None:
            self._draft_timer = self.set_timer(KEEP_SECONDS, self._draft_due)

    def _draft_due(self) -> None:
        self._draft_timer = None
        # No worker: leaving must not cut it short.
        self._draft_kept = asyncio.ensure_future(self._keep_draft())

    async def _keep_draft(self) -> None:
        session, chat = self._session, self._chat
        if session is None or self._keeper is None or not chat.is_attached:
            return
        try:
            await self._keeper.keep(session.session_id, joined(session.sending, chat.draft))
        except OSError as error:
            if not self._draft_failed:
                self._draft_failed = True
                words = f"What you write cannot be kept on the disk until it is sent: {error.strerror or error}."
                self.notify(words, severity="warning", markup=False)

    async def _restore_draft(self, session: CoworkSession, chat: ChatScreen) -> None:
        keeper = DraftKeeper(self._unsent, session.session_id, str(self._workspace))
        try:
            texts = await keeper.restore()
        except OSError as error:
            chat.say(f"What was being written here cannot be read: {error.strerror or error}.", "warning")
            texts = []
        # loom was killed between storing the message and forgetting that it was being written.
        said = [without_files(turn.content or "") for turn in await session.transcript() if turn.role == "user"]
        chat.restore_draft(joined(*(text for text in texts if said[-1:] != [text.strip()])))
        # Not before: what is kept is to have what was restored in it.
        self._keeper = keeper
        self._draft_changed()

    async def _release_draft(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            await keeper.release()

    # --- sessions --------------------------------------------------------------------------------------------

    async def _open(self, bench: Workbench, target: Target) -> bool:
        """Show this session in the place of the one that is open; False when the person went back instead."""
        chat = self._chat if self._session is None else ChatScreen(self._workspace, clock=self._clock)
        opener = Opener(
            bench,
            self._workspace,
            self._settings,
            self._wanted,
            self._ask_about_held,
            trust_project=self._trust_project,
        )
        wanted = target if isinstance(target, OpenSession) else None
        session = await opener.open(
            wanted.session_id if wanted is not None else None,
            lambda event: self._hear(chat, event),
            read_only=wanted is not None and wanted.read_only,
        )
        if session is None:
            return False
        if self._session is not None:
            await self._leave(self._session, chat)
        self._session = session
        await self._restore_draft(session, chat)
        await self._say_origin(bench, session, chat)
        await chat.attach(session, wanted.turn if wanted is not None else None)
        if wanted is not None and wanted.read_only:
            chat.say("Open to read only. /sessions lists it, to go on with it.")
        await self._ask_about_project(session)
        return True

    def _hear(self, chat: ChatScreen, event: Event) -> None:
        chat.receive(event)
        if isinstance(event, QueueChanged) and chat is self._chat:
            self._draft_changed()

    async def _ask_about_project(self, session: CoworkSession) -> None:
        """Once in the life of the program, unless it was answered before: may the model read the project's
        instructions?"""
        if self._asked or session.read_only or session.beside.standing != "unasked":
            return
        self._asked = True
        answer = await self.push_screen_wait(TrustScreen(session.beside.project, clock=self._clock))
        if answer != "later":
            await session.beside.decide(answer)

    async def _ask_about_held(self, title: str, error: LeaseHeld) -> Held:
        return await self.push_screen_wait(HeldScreen(title, error, clock=self._clock))

    async def _leave(self, session: CoworkSession, chat: ChatScreen) -> None:
        """Close the open session, keep its draft, and put another chat screen in its place."""
        await self._keep_draft()
        await self._release_draft()
        self._session, self._chat = None, chat
        await self.switch_screen(chat)
        chat.like_panel(self._view.state_panel)
        await session.close()

    @on(ChatScreen.PanelChosen)
    @work(group="view", exit_on_error=False)
    async def _panel_chosen(self, event: ChatScreen.PanelChosen) -> None:
        self._view = View(state_panel=event.shown)
        try:
            await asyncio.to_thread(keep_view, self._locations.view, self._view)
        except OSError as error:
            self.notify(f"This is not remembered: {error.strerror or error}.", severity="warning", markup=False)

    @work(group="open", exclusive=True, exit_on_error=False)
    async def _go(self, target: PickerResult | JumpTo) -> None:
        """Open what was picked. Nothing is interrupted by looking elsewhere."""
        bench = self._bench
        if bench is None or isinstance(target, Quit):
            return
        try:
            goal = await self._follow(bench, target)
            if goal is None:
                return
            if (
                self._session is not None
                and isinstance(goal, OpenSession)
                and goal.session_id == self._session.session_id
                and (goal.read_only or not self._session.read_only)
            ):
                if goal.turn is not None:
                    await self._chat.go_to_turn(goal.turn)
                return
            if self._chat.busy:
                raise LoomError("An exchange is running here.", "Esc interrupts it; then go elsewhere.")
            await self._open(bench, goal)
        except LoomError as error:
            await self._chat.show_error(str(error))
        except Exception as error:  # noqa: BLE001 - said on the screen; the program goes on
            await self._chat.show_error(f"This could not be opened: {type(error).__name__}: {error}")

    async def _follow(self, bench: Workbench, picked: PickerResult | JumpTo) -> Target | None:
        """What a choice in the picker or the archive opens; None when it opens nothing."""
        match picked:
            case NewSession() | OpenSession():
                return picked
            case JumpTo(session_id, turn):
                session = self._session
                # A look at another session takes nothing from whoever writes it; one that is open stays as it is.
                elsewhere = session is not None and (session.session_id != session_id or session.read_only)
                return OpenSession(session_id, turn, read_only=elsewhere)
            case ForkAt(session_id, turn):
                return OpenSession(await self._fork(bench, session_id, turn))
            case PinTurn(session_id, turn):
                await self._pin(bench, session_id, turn)
                # Pinned from the first picker, there is no conversation yet that it could go along with.
                return NewSession() if self._session is None else None
            case Quit():
                return None

    async def _fork(self, bench: Workbench, session_id: str, turn_number: int) -> str:
        """The id of a fork that ends with the turn's exchange: half an exchange is nothing that a model can go on
        from."""
        turn = await bench.store.get_turn(session_id, turn_number)
        if turn is None:
            raise LoomError(f"T{turn_number} is not there any more.")
        last = (await bench.store.get_exchanges(session_id, turn.exchange, turn.exchange))[-1].turn_number
        if last != turn_number:
            self.notify(f"Forked after T{last}, the end of the exchange that T{turn_number} is in.", markup=False)
        return await bench.store.fork_session(session_id, last)

    async def _say_origin(self, bench: Workbench, session: CoworkSession, chat: ChatScreen) -> None:
        """Let the head of a fork's transcript say where it comes from."""
        record = session.session
        if record is None or record.fork_turn is None:
            return
        parent = await bench.store.get_session(record.parent_id) if record.parent_id is not None else None
        chat.say_origin(origin_in_words(parent.reference if parent is not None else "", record.fork_turn))

    async def _pin(self, bench: Workbench, session_id: str, turn_number: int) -> None:
        turn = await bench.store.get_turn(session_id, turn_number)
        detail = await bench.store.get_session(session_id)
        if turn is None or detail is None:
            raise LoomError(f"T{turn_number} is not there any more.")
        self._chat.pin(turn, detail.reference)

    # --- the way to the other screens ------------------------------------------------------------------------

    @on(GoTo)
    async def _go_to(self, event: GoTo) -> None:
        if event.place == "help":
            self.push_screen(HelpScreen(chat_help()))
        elif event.place == "quit":
            await self.action_quit()
        elif self._bench is None:
            self._chat.say(self._chat.failure or "The archive is still being opened.", "warning")
        elif event.place == "new":
            self._go(NewSession())
        elif event.place == "sessions":
            self.push_screen(self._picker(self._bench), self.visit)
        elif event.place == "archive":
            self.push_screen(self._archive(self._bench, event.argument), self.visit)
        elif event.place == "model":
            self._choose_another()
        else:
            await self._show_usage(self._bench)

    def _picker(self, bench: Workbench, said: str = "") -> PickerScreen:
        open_id = self._session.session_id if self._session is not None else None
        return PickerScreen(
            bench.store,
            str(self._workspace),
            search=bench.store,
            open_id=open_id,
            key_clock=self._clock,
            said=said or (str(bench.newer) if bench.newer is not None else ""),
            help_groups=chat_help(),
        )

    def _archive(self, bench: Workbench, query: str) -> ArchiveScreen:
        session_id = self._session.session_id if self._session is not None else None
        return ArchiveScreen(bench.store, session_id=session_id, workspace=str(self._workspace), query=query)

    def visit(self, result: PickerResult | JumpTo | None) -> None:
        """Open what was chosen in the picker or the archive; None stays here."""
        if result is not None:
            self._go(result)

    def _choose_another(self) -> None:
        """Let the person choose a model; the chat screen's own command changes it."""
        if self._session is None:
            return
        chat = self._chat

        def chosen(name: str | None) -> None:
            if name is not None:
                chat.run_command(Call("model", name))

        suggestions = suggest_models(self._settings, os.environ)
        self.push_screen(ChooseModelScreen(self._session.choice.name, suggestions), chosen)

    @on(ArchiveScreen.ExportHits)
    @work(group="export", exit_on_error=False)
    async def _export_hits(self, event: ArchiveScreen.ExportHits) -> None:
        from loom.interchange.hits import export_hits  # not needed to paint

        try:
            path = await asyncio.to_thread(export_hits, self._locations.exports, event.query, event.hits, utc_now())
        except LoomError as error:
            self.notify(str(error), severity="error", markup=False, timeout=15)
            return
        count = len(event.hits)
        self.notify(f"{count:,} hit{'' if count == 1 else 's'} written to {path}", markup=False, timeout=15)

    async def _show_usage(self, bench: Workbench) -> None:
        session = self._session
        if session is None or session.usage is None:
            self.notify("The window is still being counted.", markup=False)
            return
        contents = await session.window_contents()
        past = PastRequests(bench.store, bench.counter, session.session_id) if session.session_id else None
        self.push_screen(UsageScreen(usage_report(session.usage, session.choice.name, contents), past))
