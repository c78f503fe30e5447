"""The full-screen app: start and stop, and the way from screen to screen. What a screen does stands in the screen."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.screen import Screen

from loom.archive.errors import AmbiguousReference, UnknownReference
from loom.archive.records import Session
from loom.config import Settings
from loom.cowork.past_requests import PastRequests
from loom.errors import LoomError
from loom.locations import Locations
from loom.models.suggesting import suggest_models
from loom.text import plural
from loom.tui.age import utc_now
from loom.tui.choices import AttachTurn, ForkAt, JumpTo, NewSession, OpenSession, PickerResult, Quit
from loom.tui.commands import Call
from loom.tui.forking import fork_behind
from loom.tui.opening import open_workbench
from loom.tui.opening_keys import OpeningKeys
from loom.tui.palette import Entry, session_entries
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.chat_commands import Place
from loom.tui.screens.chat_help import chat_help
from loom.tui.screens.choose_model import ChooseModelScreen
from loom.tui.screens.confirm import ConfirmScreen, leaving_costs
from loom.tui.screens.held import Held
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.screens.usage import UsageScreen
from loom.tui.stage import Stage, Target
from loom.tui.terminal import Terminal, TerminalLost
from loom.tui.widgets.usage_table import uncounted, usage_report

if TYPE_CHECKING:
    from loom.cowork.workbench import Workbench

PALETTE_SESSIONS = 50
"""The newest sessions are found in the palette; the picker has them all."""
REST_SECONDS = 1.0
"""How often it is looked whether this is a pause, to look for garbage in."""
LOOK_SECONDS = 2.0
"""How often loom looks whether the terminal is still there; most that close say so themselves."""


class LoomApp(OpeningKeys):
    """loom on the whole screen, in one workspace."""

    def __init__(
        self,
        locations: Locations,
        settings: Settings,
        workspace: Path,
        *,
        wanted_model: str = "",
        resume: str | None = None,
        fork: bool = False,
        fresh: bool = False,
        trust_project: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`wanted_model` goes before the settings. `resume` is a session reference, to go on with or to `fork`; `fresh`
        starts a new session without asking; otherwise the picker opens if the workspace has sessions. `trust_project`
        lets the model read the project's instructions without asking. `clock` gives seconds, for the throbber and the
        key guard."""
        super().__init__(settings.theme, clock=clock)
        self._locations = locations
        self._settings = settings
        self._workspace = workspace
        self._resume = resume
        self._fork_resumed = fork
        self._fresh = fresh
        self._bench: Workbench | None = None
        self._stage = Stage(
            self,
            locations,
            settings,
            workspace,
            wanted_model=wanted_model or settings.model,
            trust_project=trust_project,
            clock=clock,
        )
        self._opening = asyncio.Lock()  # what is half open is opened to its end before the next one is
        self._shutting: asyncio.Task[None] | None = None
        self._exit_code = 0

    # --- start and stop --------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.garbage.begin()
        self.push_screen(self._stage.chat)
        # Everything heavy begins when the first picture is on the terminal.
        self._stage.chat.call_after_refresh(self._begin)
        self.set_interval(REST_SECONDS, self.garbage.rest)
        if isinstance(self._driver, Terminal):
            self.set_interval(LOOK_SECONDS, self._look_at_terminal)

    @work(group="open", exit_on_error=False)
    async def _begin(self) -> None:
        if isinstance(self._driver, Terminal):
            self._driver.hear()
        try:
            await self._stage.load_view()
            bench = await open_workbench(self._locations, self._settings)
            self._bench = bench
            bench.store.tell_of_files(lambda error: self.notify(str(error), severity="error", markup=False))
            self.run_worker(bench.back_up(), group="backup", exit_on_error=False)
            target = await self._first(bench)
            while target is not None and not await self._open_first(bench, target):
                target = await self._pick(bench)
            if target is None:
                await self.action_quit()
        except LoomError as error:
            await self._stage.chat.fail(str(error))
        except Exception as error:  # noqa: BLE001 - said on the screen; the program stays up to be read and left
            await self._stage.chat.fail(f"loom could not start: {type(error).__name__}: {error}")
        self.opened()

    async def _first(self, bench: Workbench) -> Target | None:
        """What to open first; None to leave."""
        if self._resume is not None:
            try:
                session = await bench.store.resolve_reference(self._resume, str(self._workspace))
            except (UnknownReference, AmbiguousReference) as error:
                return await self._pick(bench, error.what)
            return OpenSession(await bench.store.fork_session(session.id) if self._fork_resumed else session.id)
        if bench.only_read is None and (
            self._fresh or not await bench.store.list_sessions(str(self._workspace), limit=1)
        ):
            return NewSession()
        return await self._pick(bench)

    async def _open_first(self, bench: Workbench, target: Target) -> bool:
        """Open what was picked at the start; False when the person goes back to the picker, which says why when nothing
        new can be stored."""
        if bench.only_read is not None and isinstance(target, NewSession):
            return False
        async with self._opening:
            return await self._stage.open(bench, target)

    async def _pick(self, bench: Workbench, said: str = "") -> Target | None:
        """What the person picks; None to leave. `said` is why they are asked."""
        picked = await self.let_pick(self._picker(bench, said), self._stage.chat)
        return None if isinstance(picked, Quit) else await self._follow(bench, picked)

    async def action_quit(self) -> None:
        """Store what runs, give the session up, close the archive, leave; asks first where something would be lost."""
        lost = len(self._stage.in_memory_only)
        if lost and not self._exit_code and self.is_running:
            if not isinstance(self.screen, ConfirmScreen):
                self.push_screen(leaving_costs(lost, self._clock), self._quit_anyway)
            return
        await self._quit()

    def _quit_anyway(self, yes: bool | None) -> None:
        if yes:
            self.run_worker(self._quit(), group="end", exit_on_error=False)

    async def _quit(self) -> None:
        try:
            await self._shut()
        finally:
            self.exit(return_code=self._exit_code)

    def end(self, exit_code: int) -> None:
        """Leave with this exit code as soon as what runs is stored: nobody is asked and nothing can be answered."""
        self._exit_code = exit_code
        self._stage.chat.leaving()
        if self.is_running:
            self.run_worker(self._quit(), group="end", exit_on_error=False)
        else:
            self.call_later(self._quit)

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
        try:
            await self._stage.close()
        finally:
            if self._bench is not None:
                await self._bench.close()

    @property
    def unstored(self) -> tuple[str, ...]:
        """What could be stored nowhere, when everything is over."""
        return self._stage.in_memory_only

    @property
    def left(self) -> Session | None:
        """The session that was open last; None when nothing was said."""
        return self._stage.session.session if self._stage.session is not None else None

    @on(ChatScreen.DraftChanged)
    def _draft_changed(self) -> None:
        self._stage.draft_changed()

    # --- sessions --------------------------------------------------------------------------------------------

    @on(ChatScreen.PanelChosen)
    @work(group="view", exit_on_error=False)
    async def _panel_chosen(self, event: ChatScreen.PanelChosen) -> None:
        try:
            await self._stage.keep_panel(shown=event.shown)
        except OSError as error:
            self.notify(f"The panel is not remembered: {error.strerror or error}.", severity="warning", markup=False)

    @work(group="open", exit_on_error=False)
    async def _go(self, target: PickerResult | JumpTo) -> None:
        """Open what was picked. Nothing is interrupted by looking elsewhere."""
        if (bench := self._bench) is not None and not isinstance(target, Quit):
            async with self._opening:
                await self._go_now(bench, target)

    async def _go_now(self, bench: Workbench, target: PickerResult | JumpTo) -> None:
        try:
            if isinstance(target, ForkAt) and self._stage.chat.busy:
                # A fork would be made, and not be opened.
                raise LoomError("An exchange is running here.", "Esc interrupts it; then fork.")
            goal = await self._follow(bench, target)
            if goal is None:
                return
            if self._stage.shows(goal):
                if isinstance(goal, OpenSession) and goal.turn is not None:
                    await self._stage.chat.go_to_turn(goal.turn)
                return
            if self._stage.chat.busy:
                raise LoomError("An exchange is running here.", "Esc interrupts it; then go elsewhere.")
            if self._stage.in_memory_only:
                raise LoomError("What was said here is on no disk yet.", "Make room, press Ctrl+R, then go elsewhere.")
            await self._stage.open(bench, goal)
        except LoomError as error:
            await self._stage.chat.show_error(str(error))
        except Exception as error:  # noqa: BLE001 - said on the screen; the program goes on
            await self._stage.chat.show_error(f"This could not be opened: {type(error).__name__}: {error}")

    @on(ChatScreen.TakenAnswer)
    @work(group="open", exit_on_error=False)
    async def _answer_taken(self) -> None:
        if (bench := self._bench) is None:
            return
        try:
            held = await self._stage.ask_about_taken(bench)
            if held is Held.LEAVE:
                self.push_screen(self._picker(bench), self.visit)
            elif held is not Held.BACK:
                async with self._opening:
                    await self._stage.go_on(bench, held)
        except (LoomError, OSError) as error:
            await self._stage.chat.show_error(str(error))

    async def _follow(self, bench: Workbench, picked: PickerResult | JumpTo) -> Target | None:
        """What a choice in the picker or the archive opens; None when it opens nothing."""
        match picked:
            case NewSession() | OpenSession():
                return picked
            case JumpTo(session_id, turn):
                session = self._stage.session
                # A look at another session takes nothing from whoever writes it; one that is open stays as it is.
                elsewhere = session is not None and (session.session_id != session_id or session.read_only)
                return OpenSession(session_id, turn, read_only=elsewhere)
            case ForkAt(session_id, turn):
                return await fork_behind(bench.store, session_id, turn)
            case AttachTurn(session_id, turn):
                await self._attach_turn(bench, session_id, turn)
                # Attached from the first picker, there is no conversation yet that it could go along with.
                return NewSession() if self._stage.session is None else None
            case Quit():
                return None

    def _fork_open(self, turn_number: str) -> None:
        session = self._stage.session
        if session is not None and session.session_id is not None:
            self._go(ForkAt(session.session_id, int(turn_number)))

    async def _attach_turn(self, bench: Workbench, session_id: str, turn_number: int) -> None:
        turn = await bench.store.get_turn(session_id, turn_number)
        detail = await bench.store.get_session(session_id)
        if turn is None or detail is None:
            raise LoomError(f"T{turn_number} is not there any more.")
        self._stage.chat.attach_turn(turn, detail.reference)

    # --- the way to the other screens ------------------------------------------------------------------------

    async def go(self, place: Place, argument: str) -> None:
        """Where a key or a command leads."""
        if place == "help":
            await self.push_screen(HelpScreen(chat_help()))
        elif place == "quit":
            await self.action_quit()
        elif self._bench is None:
            self._stage.chat.say(self._stage.chat.failure, "warning")
        elif place == "new":
            self._go(NewSession())
        elif place == "sessions":
            await self.push_screen(self._picker(self._bench), self.visit)
        elif place == "archive":
            await self.push_screen(self._archive(self._bench, argument), self.visit)
        elif place == "fork":
            self._fork_open(argument)
        elif place == "model":
            self._choose_another()
        else:
            await self._show_usage(self._bench)

    def _picker(self, bench: Workbench, said: str = "") -> PickerScreen:
        open_id = session.session_id if (session := self._stage.session) is not None else None
        return PickerScreen(
            bench.store,
            str(self._workspace),
            search=bench.store,
            open_id=open_id,
            # Who read in it and looks for it in the list wants to go on with it.
            begin_at=open_id if session is not None and session.read_only else None,
            over=session is not None,
            key_clock=self._clock,
            said=said or (str(bench.only_read) if bench.only_read is not None else ""),
            help_groups=chat_help(),
        )

    def _archive(self, bench: Workbench, query: str) -> ArchiveScreen:
        session_id = self._stage.session.session_id if self._stage.session is not None else None
        return ArchiveScreen(bench.store, session_id=session_id, workspace=str(self._workspace), query=query)

    def visit(self, result: PickerResult | JumpTo | None) -> None:
        """Open what was chosen in the picker or the archive; None stays here."""
        if result is not None:
            self._go(result)

    async def entries(self, screen: Screen[Any]) -> Sequence[Entry]:
        """The sessions of this workspace too, over a conversation."""
        entries = await super().entries(screen)
        if self._bench is None or not isinstance(screen, ChatScreen):
            return entries
        try:
            sessions = await self._bench.store.list_sessions(str(self._workspace), limit=PALETTE_SESSIONS)
        except LoomError:
            # The picker says what is wrong with the archive; commands and keys are here.
            return entries
        open_id = self._stage.session.session_id if self._stage.session is not None else None
        others = [session for session in sessions if session.id != open_id]
        return [*entries, *session_entries(others, lambda chosen: self._go(OpenSession(chosen)))]

    def _choose_another(self) -> None:
        """Let the person choose a model; the chat screen's own command changes it."""
        if self._stage.session is None:
            return

        def chosen(name: str | None, chat: ChatScreen = self._stage.chat) -> None:
            if name is not None:
                chat.run_command(Call("model", name))

        names = suggest_models(self._settings, os.environ)
        self.push_screen(ChooseModelScreen(self._stage.session.choice.name, names), chosen)

    @on(ArchiveScreen.ExportHits)
    @work(group="export", exit_on_error=False)
    async def _export_hits(self, event: ArchiveScreen.ExportHits) -> None:
        from loom.interchange.hits import export_hits  # not needed to paint

        try:
            path = await asyncio.to_thread(export_hits, self._locations.exports, event.query, event.hits, utc_now())
        except LoomError as error:
            self.notify(str(error), severity="error", markup=False, timeout=15)
            return
        self.notify(f"{plural(len(event.hits), 'hit')} written to {path}", markup=False, timeout=15)

    async def _show_usage(self, bench: Workbench) -> None:
        session = self._stage.session
        if session is None or session.usage is None:
            self.notify(uncounted(session is None or session.problem is None), markup=False)
            return
        contents = await session.window_contents()
        past = PastRequests(bench.store, bench.counter, session.session_id) if session.session_id else None
        self.push_screen(UsageScreen(usage_report(session.usage, session.choice.name, contents), past))
