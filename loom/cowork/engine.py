"""What answers: the agent, its window, and the way from a stored prompt to the end of its exchange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic_ai import Agent, CancellationToken
from pydantic_ai.messages import ModelRequest, UserPromptPart

from loom.archive import NewTurn, SearchHit, Session, Turn
from loom.context.budget import budget_for
from loom.context.framing import fenced
from loom.context.hint import RecallHint
from loom.context.messages import turns_from_request
from loom.context.outlook import Outlook
from loom.context.pins import Pinned
from loom.context.usage import WindowUsage
from loom.context.window import Window
from loom.cowork.agent import build_agent, build_tools
from loom.cowork.approvals import Approvals
from loom.cowork.beside import Beside, BesideText
from loom.cowork.circles import Circles
from loom.cowork.contents import ExchangeInWindow
from loom.cowork.events import Listener, Notice, Outcome, UsageChanged
from loom.cowork.exchange import Exchange
from loom.cowork.gate import Gate
from loom.cowork.in_progress import InProgress
from loom.cowork.provider_count import ProviderCount
from loom.cowork.recorder import Recorder
from loom.cowork.requests import RequestLog
from loom.cowork.summarising import Summariser
from loom.cowork.typed import MARK
from loom.cowork.window_rows import ArchivedRows
from loom.cowork.windowing import Windowing
from loom.cowork.workbench import Workbench
from loom.cowork.writethrough import WriteThrough
from loom.errors import LoomError
from loom.models.building import build_model
from loom.models.choice import ModelChoice, ModelUnavailable
from loom.models.windows import refine
from loom.state import SessionState
from loom.state.prose import own_words
from loom.text import storable
from loom.tools.permissions import Permissions
from loom.tools.toolbox import Toolbox

STATE_HEADING = "## Session state (kept by loom, from results; not the person's words)"


@dataclass(frozen=True, slots=True)
class Answered:
    """An exchange that is over."""

    outcome: Outcome
    error: str
    turns: list[Turn]
    """What came after the prompt, ascending."""


class Engine:
    """One model over one session's window. Build it in a thread, use it on the event loop."""

    def __init__(
        self,
        agent: Agent[None, str],
        choice: ModelChoice,
        window: Window,
        summariser: Summariser,
        toolbox: Toolbox,
        bench: Workbench,
        permissions: Permissions,
        approvals: Approvals,
        recorder: Recorder,
        listener: Listener,
        provider_count: ProviderCount | None,
    ) -> None:
        self.choice = choice
        self.provider_count = provider_count
        """None unless the settings ask for it."""
        self._agent = agent
        self.window = window
        self.summariser = summariser
        self._toolbox = toolbox
        self._store = bench.store
        self._request_limit = bench.settings.request_limit
        self._repeat_limit = bench.settings.repeat_limit
        self._count = bench.counter.count
        self._log_fault = bench.log_fault
        self._permissions = permissions
        self._approvals = approvals
        self._recorder = recorder
        self._listener = listener
        self._requests = RequestLog(bench.store, listener)
        self._hint = RecallHint(bench.counter.count, own_words)
        self._beside = BesideText()
        self._token = CancellationToken()

    async def load(self, session_id: str) -> None:
        """Fill the window from the archive, as far as it goes; costs the same for every length of session."""
        last = await self._requests.open(session_id)
        if last is not None and last.reported_tokens and last.model_name == self.choice.name:
            self.window.learn(last.estimated_tokens, last.reported_tokens)
        await self.window.load(ArchivedRows(self._store, session_id))

    async def learn_scale(self) -> None:
        """Count as this model's provider did the last time, in whatever session that was."""
        report = await self._store.get_newest_report(self.choice.name)
        if report is not None:
            self.window.learn(*report)

    async def run(self, prompt: Turn, state: str, session: Session | None, *, goes_on: bool = False) -> Answered:
        """Answer a prompt that is stored already; `goes_on`: from the results that its exchange has so far. See
        `Exchange.run` for what it raises."""
        await self._requests.open(prompt.session_id)
        self.window.set_state(_state_block(state))
        if not goes_on and not self.window.holds(prompt.turn_number):
            # One that is asked about once more stands there already, and all that came of it.
            self.window.add([prompt])
        await self._set_hint(prompt)
        progress = InProgress(self._recorder, prompt.exchange, self._listener, self._count)
        cost = session.cost_usd if session else 0.0
        writer = WriteThrough(
            self._recorder, self._listener, self.window, self._count, progress, lambda: self._measured(writer, cost)
        )
        exchange = Exchange(
            agent=self._agent,
            choice=self.choice,
            listener=self._listener,
            writer=writer,
            windowing=Windowing(
                self.window,
                self.summariser,
                self._recorder,
                self._requests,
                self._count,
                self._listener,
                prompt.exchange,
                self.choice.name,
            ),
            gate=Gate(
                self._toolbox.by_name,
                self._permissions,
                self._approvals,
                writer.running,
                Circles(self._repeat_limit),
                writer.turns,
            ),
            progress=progress,
            request_limit=self._request_limit,
            log_fault=self._log_fault,
            token=self._token,
        )
        beside = "\n\n".join(text for text in (self._beside.memory, self._beside.project) if text)
        outcome, error = await exchange.run(prompt.content or "", beside)
        return Answered(outcome, error, writer.turns)

    def begin(self) -> None:
        """An exchange is about to be stored and run: what is cancelled from here on is that one."""
        self._token = CancellationToken()

    def cancel(self) -> None:
        """Stop the exchange that was begun, as soon as it runs if it does not yet."""
        self._token.cancel()

    async def _set_hint(self, prompt: Turn) -> None:
        """Look up what the message may refer to. Without the hint the exchange goes on all the same."""

        async def search(query: str, limit: int) -> Sequence[SearchHit]:
            # A message does not wait for a hint.
            own = prompt.session_id
            page = await self._store.search(query, session_id=own, at_hand=own, limit=limit, patience=0)
            return page.hits

        if self._hint.reference(prompt.content or "") is None:
            # Most messages refer to nothing, and looking ahead takes as long as making a full window fit.
            self.window.set_hint("")
            return
        hint = None
        # What leaves with this very message, the model does not see either.
        sight = self.window.sight(leave_to=self.summariser.wanted_to(self.window))
        try:
            hint = await self._hint.find(
                prompt.content or "",
                search,
                asked=prompt.turn_number,
                left_to=sight.left_to,
                holds=lambda turn: not sight.may_recall(turn),
            )
        except LoomError as error:
            self._log_fault(error)
            self._listener(Notice("warning", f"The archive could not be searched for a hint: {error}"))
        self.window.set_hint(hint or "")

    def usage(self, state: str, session: Session | None) -> WindowUsage:
        """The gauge's reading between exchanges, before the first message too."""
        self.window.set_state(_state_block(state))
        return self._reading(session.cost_usd if session else 0.0)

    def _reading(self, cost_usd: float) -> WindowUsage:
        return self.window.usage(cost_usd=cost_usd, cache_read_share=self._requests.cache_read_share)

    def _measured(self, writer: WriteThrough, cost_before: float) -> None:
        spent = sum(turn.cost_usd or 0.0 for turn in writer.turns)
        self._listener(UsageChanged(self._reading(cost_before + spent)))

    def exchanges(self) -> tuple[ExchangeInWindow, ...]:
        """The exchanges that the model sees, oldest first."""
        said: dict[int, str] = {}
        for row in self.window.rows:
            if row.role == "user":
                command = row.person_command
                said.setdefault(row.exchange, f"{MARK}{command}" if command else row.content or "")
        return tuple(
            ExchangeInWindow(size.exchange, size.first_turn, size.last_turn, size.tokens, said.get(size.exchange, ""))
            for size in self.window.exchanges
        )

    def outlook(self) -> Outlook:
        """What would leave the window next."""
        return self.window.outlook()

    def set_beside(self, beside: Beside) -> None:
        """What goes behind the static instructions, from the next exchange on."""
        self._beside = beside.text(self.window.budget.window)
        self.window.set_beside(memory=self._beside.memory, project=self._beside.project)

    @property
    def pin_room(self) -> int:
        """The most tokens that pins may take together."""
        return self.window.budget.pin_room

    @property
    def recall_room(self) -> int:
        """The most tokens that one recall may take."""
        return self.window.budget.recall_room

    def pins_need(self, pins: Sequence[Pinned]) -> int:
        """Tokens that these pins would take if all of their turns had left the window."""
        return self.window.pins_need(pins)

    def set_pins(self, pins: Sequence[Pinned]) -> None:
        """These stand in the window from the next request on."""
        self.window.set_pins(pins)

    def take(self, turns: Sequence[Turn]) -> None:
        """Take in turns that were stored outside of an exchange."""
        self.window.add(turns)


def _state_block(yaml: str) -> str:
    return f"<loom-state>\n{STATE_HEADING}\n{fenced(yaml, 'loom-state').strip()}\n</loom-state>"


def prompt_turns(text: str, count: Callable[[str], int]) -> list[NewTurn]:
    """A person's message as turns."""
    return turns_from_request(ModelRequest(parts=[UserPromptPart(storable(text))]), count)


def build_engine(
    bench: Workbench,
    choice: ModelChoice,
    instructions: str,
    toolbox: Toolbox,
    permissions: Permissions,
    approvals: Approvals,
    recorder: Recorder,
    listener: Listener,
    state: Callable[[], SessionState],
) -> Engine:
    """An engine for the chosen model, over the session whose state is `state()`. Takes a second or two: call it in a
    thread. Raises ModelUnavailable."""
    if not choice.usable:
        raise ModelUnavailable(choice.note)
    settings = bench.settings
    bench.counter.load()
    refined = refine(choice)
    tools = build_tools(toolbox.specs)
    model = build_model(refined, settings, lambda words: listener(Notice("information", words)))
    agent = build_agent(model, instructions, tools)
    budget = budget_for(settings, refined.window, assumed=refined.window_assumed)
    window = Window(bench.counter.count, settings, budget)
    window.set_floor(
        tools=bench.counter.count_schema([tool.tool_def for tool in tools]),
        instructions=bench.counter.count(instructions),
    )
    summariser = Summariser(refined, model, settings, bench.counter.count, listener, state)
    counted = None
    if settings.counting == "provider":
        counted = ProviderCount(model, refined, instructions, [tool.tool_def for tool in tools], window, listener)
    return Engine(
        agent, refined, window, summariser, toolbox, bench, permissions, approvals, recorder, listener, counted
    )
