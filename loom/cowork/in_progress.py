"""What there is of an exchange and is not stored yet: the answer as it streams, the output of commands that run. All of
it goes into the draft, so that a crash costs half a second of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pydantic_ai.messages import AgentStreamEvent

from loom.archive import NewTurn
from loom.cowork.events import Event, Listener
from loom.cowork.live_output import LiveOutput
from loom.cowork.recorder import Recorder
from loom.cowork.streaming import StreamedAnswer
from loom.tools.watching import captured_by


class InProgress:
    """Of one exchange. Stored turns take the place of what is here, and of the draft."""

    def __init__(self, recorder: Recorder, exchange: int, listener: Listener, count: Callable[[str], int]) -> None:
        self.answer = StreamedAnswer()
        self._recorder = recorder
        self._exchange = exchange
        self._listener = listener
        self._count = count
        self._outputs: dict[str, LiveOutput] = {}
        self._drafted = False

    def take(self, event: AgentStreamEvent) -> Event | None:
        """Keep what the event adds to the answer; the event to draw, if it is words."""
        words = self.answer.take(event)
        if words is not None:
            self._more()
        return words

    @contextmanager
    def watching(self, call_id: str, tool_name: str, turn_number: int) -> Iterator[None]:
        """While a call runs, of which this turn holds the arguments: what its command writes is shown and drafted."""

        def begin(limit: int) -> LiveOutput:
            # Some local servers give ids of calls again: with the turn's number the key is of this call alone.
            key = f"output/{turn_number}/{call_id}"
            output = LiveOutput(limit, call_id, tool_name, key, self._listener, self._more)
            self._outputs[call_id] = output
            # On disk soon, also if it never writes anything: after a crash it is known that it may have run.
            self._more()
            return output

        with captured_by(begin):
            try:
                yield
            finally:
                if (output := self._outputs.get(call_id)) is not None:
                    output.show()

    def output_of(self, call_id: str) -> LiveOutput | None:
        """What the call's command has written; None if it ran none, or its result is stored."""
        return self._outputs.get(call_id)

    async def forget(self, *call_ids: str) -> None:
        """The results of these calls are stored: the draft needs them no more."""
        for call_id in call_ids:
            self._outputs.pop(call_id, None)
        await self._recorder.settle_draft()
        if self._drafted:
            self._drafted = False
            await self._recorder.save_draft(self._exchange, await self._turns() if self._outputs else ())

    async def forget_all(self) -> None:
        """Nothing runs any more, and all results are stored."""
        await self.forget(*self._outputs)

    def _more(self) -> None:
        self._recorder.draft(self._exchange, self._turns)

    async def _turns(self) -> Sequence[NewTurn]:
        self._drafted = bool(self._outputs)
        outputs = list(self._outputs.values())
        return [*self.answer.turns(), *[await output.cut_off(self._count) for output in outputs]]
