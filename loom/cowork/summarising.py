"""Summaries: who writes them, what they must hold, and when that is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic_ai import AgentRunError
from pydantic_ai.models import Model

from loom.archive import NewTurn
from loom.archive.records import TurnKind
from loom.config import OFFLINE, Settings
from loom.context.compaction import CompactionFailed, Fact, shrank, summarise
from loom.context.edges import compaction_meta
from loom.context.measure import Count
from loom.context.window import Window
from loom.cowork.events import Compacting, Listener, Notice
from loom.errors import LoomError
from loom.models.building import build_model
from loom.models.choice import ModelChoice
from loom.models.choosing import choose_model
from loom.models.errors import explain_error
from loom.models.windows import refine
from loom.state import SessionState
from loom.text import storable

MOST_FAILURES = 3
"""So many failed summaries in a row, and the policy makes no more."""


class Summariser:
    """Writes the turn that stands for a part of the window. One for each model of a session."""

    def __init__(
        self,
        choice: ModelChoice,
        model: Model,
        settings: Settings,
        count: Count,
        listener: Listener,
        state: Callable[[], SessionState],
    ) -> None:
        self._settings = settings
        self._count = count
        self._listener = listener
        self._state = state
        self._session = choice, model
        self._own: tuple[ModelChoice, Model] | None = None
        self._failures = 0

    @property
    def automatic(self) -> bool:
        """Whether the policy is to sum up by itself, and has not failed too often."""
        return self._settings.policy == "summarise" and self._failures < MOST_FAILURES

    def wanted_to(self, window: Window) -> int:
        """The turn up to which the policy wants a summary now; 0 for none."""
        return window.crowded_to(self._settings.compress_threshold, self._settings.keep) if self.automatic else 0

    async def try_turn(self, window: Window, to_turn: int) -> NewTurn | None:
        """The summary that the policy wants; None if it failed, which is said. Cancel the task to stop it."""
        try:
            return await self.turn(window, to_turn)
        except LoomError as failure:
            self._failures += 1
            words = f"No summary was made: {failure.what} Exchanges leave without one; the archive keeps them."
            if self._failures == MOST_FAILURES:
                words += " That was the third failure in a row: no more are tried until /compact or /model is used."
            self._listener(Notice("warning", words))
            return None

    async def turn(self, window: Window, to_turn: int, focus: str = "") -> NewTurn:
        """The turn that stands for everything in the window up to `to_turn`, written by the model.

        Raises CompactionFailed, or a ModelError in words: then nothing has changed. Cancel the task to stop it.
        """
        rows = [row for row in window.rows if row.turn_number <= to_turn]
        if not rows:
            raise CompactionFailed("There is nothing in the window to sum up.")
        try:
            choice, model, size = await self._writer(window)
            summary = await summarise(
                model,
                rows,
                count=self._count,
                input_tokens=size * 2 // 3,
                focus=focus,
                previous=window.summary,
                facts=facts_of(self._state(), rows[0].turn_number, to_turn),
                progress=lambda words: self._listener(Compacting(words)),
            )
        except AgentRunError as error:
            raise explain_error(error, choice) from error
        finally:
            self._listener(Compacting(""))
        text = storable(summary.text)
        tokens, before = self._count(text), window.tokens_to(to_turn)
        if not shrank(before, tokens):
            spent = summary.input_tokens + summary.output_tokens
            raise CompactionFailed(
                f"The summary is no shorter than what it stands for ({spent:,} tokens were spent on it).",
                "The window stays as it was.",
            )
        self._failures = 0
        return NewTurn(
            role="system",
            kind=TurnKind.SUMMARY,
            content=text,
            token_count=tokens,
            message_meta=compaction_meta(window.beginning, to_turn, replaced_tokens=before),
            usage={"input_tokens": summary.input_tokens, "output_tokens": summary.output_tokens},
            cost_usd=summary.cost_usd,
        )

    async def _writer(self, window: Window) -> tuple[ModelChoice, Model, int]:
        """Who writes, and its context window in tokens. Raises ModelUnavailable or CompactionFailed."""
        (choice, model), size = self._session, window.budget.window
        if self._settings.summarization_model:
            if self._own is None:
                self._own = await asyncio.to_thread(self._build)
            (choice, model), size = self._own, self._own[0].window
        if choice.name == OFFLINE:
            raise CompactionFailed(
                "The offline model cannot sum anything up.", "Choose another with /model, or set summarization_model."
            )
        return choice, model, size

    def _build(self) -> tuple[ModelChoice, Model]:
        choice = refine(choose_model(self._settings.summarization_model, self._settings))
        return choice, build_model(choice, self._settings)


def facts_of(state: SessionState, first: int, last: int) -> tuple[Fact, ...]:
    """What the state knows of these turns and a summary of them must hold."""
    facts = [
        *(Fact("constraint", each.text, each.turn) for each in state.constraints),
        *(Fact("decision", each.text, each.turn) for each in state.key_decisions),
        *(Fact("file", each.path, each.turn) for each in state.files_touched),
        *(Fact("command", each.command, each.turn) for each in state.commands),
    ]
    return tuple(fact for fact in facts if first <= fact.turn <= last)
