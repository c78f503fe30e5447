"""What table a salvaged row is of, by its columns alone: the tables' names may be what is damaged."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from loom.archive.cells import Row, Value
from loom.archive.chains import holds
from loom.archive.digests import GENESIS
from loom.archive.records import TurnKind, TurnStatus
from loom.archive.references import is_half_purged, is_unfinished, known_reference

_ROLES = frozenset(("user", "assistant", "tool", "system"))
_KINDS = frozenset(kind.value for kind in TurnKind)
_STATUSES = frozenset(status.value for status in TurnStatus)
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REFERENCE = re.compile(r"[0-9a-z]{4,12}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

# One letter a column: t text, T text or NULL, i whole number, I whole number or NULL, r, R real, n the row id.
_TURN = "ntiitttTTTTiTTTRTtt"
_SESSION = "tttttt" + "Ttttiiiiiir" + "TIii"
_TEXTS = "ttt"
_DRAFT = "titt"
_MANIFEST = "ntiittitttiI"


@dataclass(slots=True)
class Salvage:
    """The rows that were found, each once."""

    turns: dict[str, dict[int, tuple[Any, ...]]] = field(default_factory=dict)
    """By session and number: the DIGESTED columns, append_key, digest."""
    sessions: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    drafts: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    manifests: dict[tuple[str, int], tuple[Any, ...]] = field(default_factory=dict)
    purged: set[str] = field(default_factory=set)
    """The sessions of which something was purged when the file was left as it is."""

    @property
    def turn_count(self) -> int:
        return sum(len(turns) for turns in self.turns.values())

    def take(self, row: Row) -> None:
        """Keep the row if it is one of ours."""
        _, columns = row
        # A later version may have added columns, always behind these.
        for shape, keep in (
            (_SESSION, self._session),
            (_TURN, self._turn),
            (_MANIFEST, self._manifest),
            (_DRAFT, self._draft),
            (_TEXTS, self._text),
        ):
            if len(columns) >= len(shape) and _fits(shape, columns) and keep(columns):
                return

    def _turn(self, columns: tuple[Any, ...]) -> bool:
        session, number, exchange, role, kind, status = columns[1:7]
        *_, created, chained = columns[: len(_TURN)]
        good = (
            _ID.fullmatch(session)
            and number >= 1
            and exchange >= 0
            and role in _ROLES
            and kind in _KINDS
            and status in _STATUSES
            and _MOMENT.fullmatch(created)
            and _DIGEST.fullmatch(chained)
        )
        if not good:
            return False
        cost = None if columns[15] is None else float(columns[15])
        kept = (*columns[2:15], cost, created, columns[16], chained)
        known = self.turns.setdefault(session, {})
        # Of two images of one turn, the one whose text is what was stored; without the turn before, the first.
        if number not in known or (not self._holds(session, known[number]) and self._holds(session, kept)):
            known[number] = kept
        return True

    def leave_out_halves(self) -> None:
        """Forget the sessions that were being purged, and the forks that were still being made, where all that they had
        is in the session that they are copies of."""
        for session in self.purged:
            self.sessions.pop(session, None)
            self.turns.pop(session, None)
        for session, record in list(self.sessions.items()):
            source = self.turns.get(record[17], {})
            copied = self.turns.get(session, {})
            if is_unfinished(record[1]) and all(
                number in source and source[number][-1] == turn[-1] for number, turn in copied.items()
            ):
                del self.sessions[session]
                self.turns.pop(session, None)

    def _holds(self, session: str, turn: tuple[Any, ...]) -> bool:
        number = turn[0]
        before = self.turns[session].get(number - 1)
        previous = GENESIS if number == 1 else None if before is None else before[-1]
        return previous is not None and holds(previous, turn[-1], turn[:-2])

    def _session(self, columns: tuple[Any, ...]) -> bool:
        session, reference = columns[:2]
        moments = columns[8:10]
        good = (
            _ID.fullmatch(session)
            and (_REFERENCE.fullmatch(known_reference(reference)) or is_unfinished(reference))
            and columns[4].startswith("[")
            and all(_MOMENT.fullmatch(moment) for moment in moments)
            and columns[20] in (0, 1)
            and (columns[17] is None or _ID.fullmatch(columns[17]))
        )
        if not good:
            return False
        if is_half_purged(reference):
            self.purged.add(session)
        known = self.sessions.get(session)
        if known is None or _age(columns) > _age(known):
            self.sessions[session] = columns[:21]
        return True

    def _text(self, columns: tuple[Any, ...]) -> bool:
        session, prompt, state = columns[:3]
        if len(columns) != len(_TEXTS) or not _ID.fullmatch(session) or not state.startswith("{"):
            return False
        self.texts.setdefault(session, (prompt, state))
        return True

    def _draft(self, columns: tuple[Any, ...]) -> bool:
        session, _, turns, updated = columns[:4]
        if len(columns) != len(_DRAFT) or not _ID.fullmatch(session):
            return False
        if not turns.startswith("[") or not _MOMENT.fullmatch(updated):
            return False
        known = self.drafts.get(session)
        if known is None or updated > known[3]:
            self.drafts[session] = columns[:4]
        return True

    def _manifest(self, columns: tuple[Any, ...]) -> bool:
        session, request = columns[1:3]
        texts = columns[7:10]
        if not _ID.fullmatch(session) or [text[:1] for text in texts] != ["{", "[", "{"]:
            return False
        # Rows written before version 2 end here; reading one gives what the new columns stand at by default.
        cached, recipe = columns[12:14] if len(columns) >= 14 else (None, "{}")
        good = isinstance(recipe, str) and recipe.startswith("{") and (cached is None or isinstance(cached, int))
        self.manifests.setdefault((session, request), (*columns[1:12], *((cached, recipe) if good else (None, "{}"))))
        return True


def _age(session: tuple[Any, ...]) -> tuple[bool, int, str]:
    """The newest of several images has the most turns; a fork gets its reference in the end."""
    return not is_unfinished(session[1]), session[10], session[9]


def _fits(shape: str, columns: tuple[Value, ...]) -> bool:
    return all(_is(letter, value) for letter, value in zip(shape, columns, strict=False))


def _is(letter: str, value: Value) -> bool:
    if letter == "n":
        return value is None or isinstance(value, int)
    if value is None:
        return letter.isupper()
    wanted: dict[str, type | tuple[type, ...]] = {"t": str, "i": int, "r": (int, float)}
    return isinstance(value, wanted[letter.lower()])
