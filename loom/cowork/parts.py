"""What a conversation is made of: each part, whom it knows, and what it tells the others."""

from __future__ import annotations

from pathlib import Path

from loom.context.usage import WindowUsage
from loom.cowork.answering import Answering
from loom.cowork.approvals import Approvals
from loom.cowork.beside import Beside
from loom.cowork.contents import usage_words
from loom.cowork.elsewhere import Claim
from loom.cowork.events import Event, Listener, Notice, StateChanged, TakenOver, TurnStored, UsageChanged
from loom.cowork.exchanges import Exchanges
from loom.cowork.opening import Opening
from loom.cowork.person_command import PersonCommand
from loom.cowork.pinning import ModelPins, PinBoard
from loom.cowork.recall_source import ArchiveRecall
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import Recorder
from loom.cowork.titling import Titling
from loom.cowork.window_moves import WindowMoves
from loom.cowork.workbench import Workbench
from loom.models.choice import ModelChoice
from loom.tools.mentions import Mentions
from loom.tools.paths import Workspace
from loom.tools.shell import Shell
from loom.tools.toolbox import build_toolbox


class SessionParts:
    """The parts of one conversation, joined. What a front end does with them stands in `loom.cowork.session`.

    Every method belongs to the event loop's thread. What happens is told to `listener`, in order.
    """

    def __init__(
        self,
        workbench: Workbench,
        workspace: Path,
        choice: ModelChoice,
        *,
        listener: Listener,
        trust_project: bool = False,
    ) -> None:
        """`trust_project` lets the model read the project's instructions without the person having been asked."""
        self._bench = workbench
        self._store = workbench.store
        self._tell = listener
        self.usage: WindowUsage | None = None
        self.read_only = False
        self.beside = Beside(
            workspace, workbench.locations, workbench.counter.count, self._beside_changed, trusted=trust_project
        )
        """Memory and project instructions: what a person reads, answers and edits of them."""
        self._record = SessionRecord(workbench, workspace)
        self._claim = Claim(workbench.store, self._lost, self._blind)
        self._recorder = Recorder(workbench.store, workbench.spool, self._listener, self._claim)
        self._approvals = Approvals(self._listener)
        self._titling = Titling(workbench.settings, self._record, self._recorder, workbench.log_fault, self._listener)
        place = Workspace(workspace, workbench.forbidden)
        self._mentions = Mentions(place)
        shell = Shell(place, workbench.settings)
        self._board = PinBoard(
            self._store, self._recorder, self._record, lambda: self._answering.engine, self._pins_changed
        )
        toolbox = build_toolbox(
            workspace,
            workbench.settings,
            ArchiveRecall(
                self._store,
                str(workspace),
                lambda: self._record.detail,
                self._state_yaml,
                lambda: self._record.state.rewound,
                self._sees,
            ),
            workbench.counter.count,
            pins=ModelPins(self._board),
            memory=self.beside.memory_file,
            window=lambda: usage_words(self.usage),
            recall_room=lambda: self._answering.recall_room,
            forbidden=workbench.forbidden,
        )
        self._answering = Answering(
            workbench,
            choice,
            self._record,
            self._recorder,
            self._board,
            self.beside,
            toolbox,
            self._approvals,
            self._listener,
            self._model_ready,
        )
        self._opening = Opening(
            self._store, self._claim, self._record, self._recorder, self._answering, self._listener, self._blind
        )
        self._exchanges = Exchanges(
            self._claim,
            self._record,
            self._recorder,
            self._answering,
            self._mentions,
            self._titling,
            lambda command: PersonCommand(
                command, shell, workbench.settings, self._recorder, workbench.counter.count, self._listener
            ),
            workbench.counter.count,
            workbench.log_fault,
            self._listener,
        )
        self._moves = WindowMoves(self._store, self._record, self._recorder, self._listener, self._answering.measure)

    def _listener(self, event: Event) -> None:
        if isinstance(event, UsageChanged):
            self.usage = event.usage
        elif isinstance(event, TurnStored):
            # In the order in which they were stored: a pin may come in the middle of an exchange.
            self._record.advance([event.turn])
        try:
            self._tell(event)
        except Exception as error:  # noqa: BLE001 - a front end that cannot draw must not cost the exchange a turn
            self._bench.log_fault(error)

    # What one part tells the others

    def _state_yaml(self) -> str:
        return self._answering.state_yaml()

    def _sees(self, turn: int) -> bool:
        return self._answering.sees(turn)

    def _model_ready(self) -> None:
        self._exchanges.start_next()

    def _lost(self) -> None:
        """Another loom took the session over: what runs is stopped, what waits is held."""
        self._listener(TakenOver())
        self._exchanges.lose()

    def _blind(self, error: Exception) -> None:
        """What other looms do with this session could not be looked at, for a reason that nobody thought of."""
        self._bench.log_fault(error)
        what = f"What other looms do with this session could not be looked at ({type(error).__name__}: {error})."
        self._listener(Notice("warning", f"{what} It is tried again; loom.log has the rest."))

    def _pins_changed(self) -> None:
        self._listener(StateChanged(self._record.state))
        if not self._exchanges.busy:
            # While an exchange runs, its own readings go on: the state that it was sent does not change.
            self._answering.measure()

    def _beside_changed(self) -> None:
        if not self._exchanges.busy:
            # While an exchange runs, what it was sent stands; the next one begins with what there is then.
            self._answering.beside_changed()
