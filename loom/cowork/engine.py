"""What answers: the agent, its window, and the way from a stored prompt to the end of its exchange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic_ai import Agent, AgentRunError, CancellationToken
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import Model

from loom.archive import NewTurn, SearchHit, Session, Turn
from loom.archive.records import TurnKind
from loom.context.budget import budget_for
from loom.context.compaction import CompactionFailed, shrank, summarise
from loom.context.edges import cleared_meta, compaction_meta
from loom.context.hint import RecallHint
from loom.context.messages import turns_from_request
from loom.context.pins import Pinned
from loom.context.usage import WindowUsage
from loom.context.window import Window
from loom.cowork.agent import build_agent, build_tools
from loom.cowork.approvals import Approvals
from loom.cowork.beside import Beside, BesideText
from loom.cowork.contents import ExchangeInWindow
from loom.cowork.events import Listener, Outcome, UsageChanged
from loom.cowork.exchange import Exchange
from loom.cowork.gate import Gate
from loom.cowork.recorder import Recorder
from loom.cowork.requests import RequestLog
from loom.cowork.streaming import StreamedAnswer
from loom.cowork.windowing import Windowing
from loom.cowork.workbench import Workbench
from loom.cowork.writethrough import WriteThrough
from loom.models.building import build_model
from loom.models.choice import OFFLINE, ModelChoice
from loom.models.errors import explain_error
from loom.models.windows import refine
from loom.text import storable
from loom.tools.permissions import Permissions
from loom.tools.toolbox import Toolbox

STATE_HEADING = "## Session state"


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
        model: Model,
        choice: ModelChoice,
        window: Window,
        toolbox: Toolbox,
        bench: Workbench,
        permissions: Permissions,
        approvals: Approvals,
        recorder: Recorder,
        listener: Listener,
    ) -> None:
        self.choice = choice
        self._agent = agent
        self._model = model
        self._window = window
        self._toolbox = toolbox
        self._store = bench.store
        self._request_limit = bench.settings.request_limit
        self._count = bench.counter.count
        self._log_fault = bench.log_fault
        self._permissions = permissions
        self._approvals = approvals
        self._recorder = recorder
        self._listener = listener
        self._requests = RequestLog(bench.store, listener)
        self._hint = RecallHint(bench.counter.count)
        self._beside = BesideText()
        self._token = CancellationToken()

    async def load(self, session_id: str) -> None:
        """Fill the window from the archive, as far as it goes; costs the same for every length of session."""
        last = await self._requests.open(session_id)
        if last is not None and last.reported_tokens:
            self._window.learn(last.estimated_tokens, last.reported_tokens)
        await self._window.load(
            lambda before, limit: self._store.get_exchange_sizes(session_id, before, limit),
            lambda first, last: self._store.get_exchanges(session_id, first, last),
        )

    async def run(self, prompt: Turn, state: str, session: Session | None) -> Answered:
        """Answer a prompt that is stored already. See `Exchange.run` for what it raises."""
        await self._requests.open(prompt.session_id)
        self._window.set_state(_state_block(state))
        self._window.add([prompt])
        await self._set_hint(prompt)
        answer = StreamedAnswer()
        cost = session.cost_usd if session else 0.0
        writer = WriteThrough(
            self._recorder, self._listener, self._window, self._count, answer, lambda: self._measured(writer, cost)
        )
        exchange = Exchange(
            number=prompt.exchange,
            agent=self._agent,
            choice=self.choice,
            recorder=self._recorder,
            listener=self._listener,
            writer=writer,
            windowing=Windowing(
                self._window,
                self._recorder,
                self._requests,
                self._count,
                self._listener,
                prompt.exchange,
                self.choice.name,
            ),
            gate=Gate(self._toolbox.by_name, self._permissions, self._approvals, writer.running),
            answer=answer,
            request_limit=self._request_limit,
            log_fault=self._log_fault,
            token=self._token,
        )
        beside = [text for text in (self._beside.memory, self._beside.project) if text]
        outcome, error = await exchange.run(prompt.content or "", "\n\n".join([*beside, _state_block(state)]))
        return Answered(outcome, error, writer.turns)

    def begin(self) -> None:
        """An exchange is about to be stored and run: what is cancelled from here on is that one."""
        self._token = CancellationToken()

    def cancel(self) -> None:
        """Stop the exchange that was begun, as soon as it runs if it does not yet."""
        self._token.cancel()

    async def _set_hint(self, prompt: Turn) -> None:
        async def search(query: str, limit: int) -> Sequence[SearchHit]:
            page = await self._store.search(query, session_id=prompt.session_id, limit=limit)
            return page.hits

        hint = await self._hint.find(prompt.content or "", search, self._window.left_to, self._window.holds)
        self._window.set_hint(hint or "")

    def usage(self, state: str, session: Session | None) -> WindowUsage:
        """The gauge's reading between exchanges, before the first message too."""
        self._window.set_state(_state_block(state))
        return self._reading(session.cost_usd if session else 0.0)

    def _reading(self, cost_usd: float) -> WindowUsage:
        return self._window.usage(cost_usd=cost_usd, cache_read_share=self._requests.cache_read_share)

    def _measured(self, writer: WriteThrough, cost_before: float) -> None:
        spent = sum(turn.cost_usd or 0.0 for turn in writer.turns)
        self._listener(UsageChanged(self._reading(cost_before + spent)))

    def exchanges(self) -> tuple[ExchangeInWindow, ...]:
        """The exchanges that the model sees, oldest first."""
        said: dict[int, str] = {}
        for row in self._window.rows:
            if row.role == "user":
                said.setdefault(row.exchange, row.content or "")
        return tuple(
            ExchangeInWindow(size.exchange, size.first_turn, size.last_turn, size.tokens, said.get(size.exchange, ""))
            for size in self._window.exchanges
        )

    def set_beside(self, beside: Beside) -> None:
        """What goes between the static instructions and the state, from the next exchange on."""
        self._beside = beside.text(self._window.budget.window)
        self._window.set_beside(memory=self._beside.memory, project=self._beside.project)

    @property
    def pin_room(self) -> int:
        """The most tokens that pins may take together."""
        return self._window.budget.pin_room

    def pins_need(self, pins: Sequence[Pinned]) -> int:
        """Tokens that these pins would take if all of their turns had left the window."""
        return self._window.pins_need(pins)

    def set_pins(self, pins: Sequence[Pinned]) -> None:
        """These stand in the window from the next request on."""
        self._window.set_pins(pins)

    def take(self, turns: Sequence[Turn]) -> None:
        """Take in turns that were stored outside of an exchange."""
        self._window.add(turns)

    # Emptying the window

    async def summary_turn(self, focus: str, last_turn: int) -> NewTurn:
        """The turn that stands for everything in the window, written by the model.

        Raises CompactionFailed, or a ModelError in words: then nothing has changed.
        """
        rows = self._window.rows
        if not rows:
            raise CompactionFailed("There is nothing in the window to sum up.")
        if self.choice.name == OFFLINE:
            raise CompactionFailed("The offline model cannot sum anything up.", "Choose another with /model.")
        try:
            summary = await summarise(
                self._model,
                rows,
                count=self._count,
                input_tokens=self._window.budget.window // 2,
                focus=focus,
                previous=self._window.summary,
            )
        except AgentRunError as error:
            raise explain_error(error, self.choice) from error
        tokens = self._count(summary.text)
        if not shrank(sum(row.token_count for row in rows), tokens):
            raise CompactionFailed("The summary is no shorter than what it stands for.", "The window stays as it was.")
        return NewTurn(
            role="system",
            kind=TurnKind.SUMMARY,
            content=summary.text,
            token_count=tokens,
            message_meta=compaction_meta(last_turn),
            usage={"input_tokens": summary.input_tokens, "output_tokens": summary.output_tokens},
            cost_usd=summary.cost_usd,
        )

    def cleared_turn(self, last_turn: int) -> NewTurn:
        """The turn behind which an emptied window begins."""
        words = "The window was cleared. Every turn is kept in the archive."
        return NewTurn(role="system", kind=TurnKind.NOTE, content=words, message_meta=cleared_meta(last_turn))


def _state_block(yaml: str) -> str:
    return f"{STATE_HEADING}\n{yaml}"


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
) -> Engine:
    """An engine for the chosen model. Takes a second or two: call it in a thread. Raises ModelUnavailable."""
    settings = bench.settings
    bench.counter.load()
    refined = refine(choice)
    tools = build_tools(toolbox.specs)
    model = build_model(refined, settings)
    agent = build_agent(model, instructions, tools)
    budget = budget_for(settings, refined.window, assumed=refined.window_assumed)
    window = Window(bench.counter.count, settings, budget)
    window.set_floor(
        tools=bench.counter.count_schema([tool.tool_def for tool in tools]),
        instructions=bench.counter.count(instructions),
    )
    return Engine(agent, model, refined, window, toolbox, bench, permissions, approvals, recorder, listener)
