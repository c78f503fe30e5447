"""Turns as people, models and tools would have written them, in any number, always the same for the same number.

Words follow Zipf's law (as in written English, the n-th commonest has a share of 1/n); names, paths and error codes
are drawn from pools of their own, a few of them everywhere and most of them hardly ever.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from loom.archive import NewTurn

WORDS = 60_000
NAMES = 30_000
WORKSPACES = 20
LARGEST_SESSION = 0.05
"""Of all turns, those in the largest session; the n-th has `n ** -FALL` as many, down to `SMALLEST`."""
FALL = 0.7
SMALLEST = 40
TOGETHER = 4
"""Sessions that go on side by side."""
STEP = 20
"""Turns of one session before the next goes on."""

_START = datetime(2023, 1, 2, tzinfo=UTC)
_GLUE_WORDS = """
the of and to a in is that it for on with as this we you be are not have was from at can will if but
"""
_SUBJECT_WORDS = """
file error test build server branch release parser token cache client request timeout database index window session
folder change version plan budget design review screen message worker queue lock user report deploy
"""
_GLUE = _GLUE_WORDS.split()
_SUBJECTS = _SUBJECT_WORDS.split()
_KANJI = "日本語設定変更確認接続失敗成功検索会話履歴保存画面起動終了更新削除追加環境変数認証期限切再試行遅延"
_TOOLS = ("shell_execute", "read_file", "write_file", "search_files")


@dataclass(frozen=True)
class Line:
    """One session to be."""

    workspace: str
    turns: int


class Corpus:
    """The vocabulary, and turns made of it."""

    def __init__(self, seed: int = 20_260_101) -> None:
        self._random = random.Random(seed)

    @cached_property
    def words(self) -> list[str]:
        """From the commonest to the rarest."""
        made = {self._word(): None for _ in range(WORDS)}
        return [*_GLUE, *_SUBJECTS, *(word for word in made if len(word) > 2)]

    @cached_property
    def names(self) -> list[str]:
        """Identifiers and paths, from the commonest to the rarest."""
        plain = self.words[len(_GLUE) :]
        made: dict[str, None] = {}
        for i in range(NAMES):
            a, b, c = (self._random.choice(plain[:8_000]) for _ in range(3))
            forms = (f"{a}_{b}", f"{a}{b.capitalize()}", f"src/{a}/{b}_{c}.py", f"{a}.{b}", f"E{i:04d}", f"--{a}-{b}")
            made[forms[i % len(forms)]] = None
        return list(made)

    @cached_property
    def _word_weights(self) -> list[float]:
        return list(itertools.accumulate(1 / (n + 2) for n in range(len(self.words))))

    @cached_property
    def _name_weights(self) -> list[float]:
        return list(itertools.accumulate(1 / (n + 10) for n in range(len(self.names))))

    def _word(self) -> str:
        syllable = self._random.choice
        return "".join(syllable("bcdfghklmnprstvz") + syllable("aeiou") for _ in range(self._random.randint(2, 4)))

    def prose(self, count: int) -> str:
        """So many words, in sentences."""
        drawn = self._random.choices(self.words, cum_weights=self._word_weights, k=count)
        return ". ".join(" ".join(drawn[i : i + 12]) for i in range(0, count, 12)) + "."

    def name(self) -> str:
        """An identifier, path, flag or error code."""
        return self._random.choices(self.names, cum_weights=self._name_weights)[0]

    def japanese(self) -> str:
        """A sentence without spaces."""
        return "".join(self._random.choices(_KANJI, k=self._random.randint(8, 30))) + "。"

    def _said(self) -> str:
        text = self.prose(self._random.randint(6, 40))
        if self._random.random() < 0.3:
            text = f"{text} See {self.name()}?"
        elif self._random.random() < 0.02:
            text = f"Always use {self.name()}. {text}"
        return text if self._random.random() > 0.03 else f"{text} {self.japanese()}"

    def _answered(self) -> str:
        text = f"{self.prose(self._random.randint(20, 90))} It is in `{self.name()}`."
        if self._random.random() < 0.25:
            first, second = self.name(), self.name()
            code = f"def {first}(value: str) -> int:\n    return {second}(value) + {self._random.randrange(1000)}"
            text = f"{text}\n```\n{code}\n```"
        return text

    def _output(self) -> str:
        lines = (
            f"{self.name()}:{self._random.randrange(900)}: {self.prose(6)} 0x{self._random.getrandbits(32):08x}"
            for _ in range(self._random.randint(2, 9))
        )
        return "\n".join(lines)

    def turns(self, count: int, moment: datetime) -> Iterator[NewTurn]:
        """Turns of one conversation from a moment on: a question, some calls with their outputs, an answer."""
        for n in range(count):
            moment += timedelta(seconds=20) if n % 40 else timedelta(hours=7)
            at = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            place = n % 5
            if place in (1, 2):
                yield NewTurn(
                    role="tool", content=self._output(), tool_name=_TOOLS[self._random.randrange(4)], created_at=at
                )
            elif place == 0:
                yield NewTurn(role="user", content=self._said(), created_at=at)
            else:
                yield NewTurn(role="assistant", content=self._answered(), created_at=at)

    def lines(self, turns: int) -> list[Line]:
        """The sessions that so many turns are in: some large, most small."""
        lines: list[Line] = []
        left = turns
        while left:
            size = int(turns * LARGEST_SESSION * (len(lines) + 1) ** -FALL)
            count = min(left, max(SMALLEST, size))
            lines.append(Line(f"/workspace/{len(lines) % WORKSPACES}", count))
            left -= count
        return lines

    def schedule(self, lines: list[Line]) -> Iterator[tuple[int, list[NewTurn]]]:
        """Which session goes on with what: some at a time side by side, a few turns each."""
        moment = _START
        for first in range(0, len(lines), TOGETHER):
            going = {i: self.turns(lines[i].turns, moment) for i in range(first, min(first + TOGETHER, len(lines)))}
            moment += timedelta(hours=3)
            while going:
                for i, turns in list(going.items()):
                    step = list(itertools.islice(turns, STEP))
                    if step:
                        yield i, step
                    else:
                        del going[i]
