"""Measures the token counter against the tokenizer itself: python -m tests.bench.tokens.

By kind of text: how far loom's count is from o200k_base over the whole text, once its vocabulary is loaded (`counter`)
and until then (`estimate`), beside characters divided by four; and microseconds per 1,000 characters.
"""

from __future__ import annotations

import base64
import csv
import difflib
import io
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

from loom.context.estimate import estimate
from loom.context.o200k import load_o200k
from loom.context.tokens import WHOLE_CHARS, TokenCounter
from tests.bench.table import show

ROOT = Path(__file__).resolve().parent.parent.parent
CHARS = 100_000
_CHINESE = "会话中的每一轮对话都会在下一步发生之前写入磁盘,窗口里放不下的内容可以随时再找回来。"
_JAPANESE = "会話のすべてのターンは、次の処理が始まる前にディスクへ保存されます。忘れることはありません。"
_KOREAN = "대화의 모든 차례는 다음 단계가 시작되기 전에 디스크에 저장됩니다. 아무것도 잊지 않습니다."
_RUSSIAN = "Каждая реплика сохраняется на диск прежде, чем начнётся следующий шаг; ничего не теряется."


def samples() -> dict[str, str]:
    """Text of each kind, CHARS characters at most, the same at every run of one checkout."""
    chance = random.Random(11)
    code = "\n".join(path.read_text() for path in sorted((ROOT / "loom").rglob("*.py")))
    older = code[:CHARS].splitlines()
    newer = [line.replace("session", "conversation") for line in older if chance.random() > 0.03]
    kinds = {
        "prose (English)": "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("[a-s]*.md"))),
        "code (Python)": code,
        "diff": "\n".join(difflib.unified_diff(older, newer, "a.py", "b.py", lineterm="")),
        "log": _log(chance),
        "JSON": json.dumps([_record(chance, n) for n in range(900)], indent=1),
        "JSON, one line": json.dumps([_record(chance, n) for n in range(1_200)], separators=(",", ":")),
        "number table": _table(chance),
        "Chinese": _CHINESE * 3_000,
        "Japanese": _JAPANESE * 3_000,
        "Korean": _KOREAN * 3_000,
        "Russian": _RUSSIAN * 3_000,
        "base64": base64.b64encode(chance.randbytes(CHARS)).decode(),
        "hexadecimal": chance.randbytes(CHARS).hex(),
    }
    cut = {kind: text[:CHARS] for kind, text in kinds.items()}
    return {**cut, "log of 2 MB (sampled)": "".join(_log(chance) for _ in range(40))[:2_000_000]}


def _log(chance: random.Random) -> str:
    level = ("INFO", "WARNING", "ERROR", "DEBUG")
    return "".join(
        f"2026-11-{chance.randint(1, 28):02d}T{chance.randint(0, 23):02d}:{chance.randint(0, 59):02d}:07.{n:03d}Z "
        f"{chance.choice(level)} worker-{chance.randint(1, 64)} request id={chance.getrandbits(64):016x} "
        f"path=/api/v1/orders/{chance.randint(1, 99_999)} status={chance.choice((200, 204, 404, 500))} "
        f"took={chance.random() * 900:.2f}ms\n"
        for n in range(800)
    )


def _record(chance: random.Random, n: int) -> dict[str, object]:
    return {
        "id": n,
        "name": f"customer {chance.randint(1, 5_000)}",
        "active": chance.random() < 0.7,
        "balance": round(chance.uniform(-500, 9_000), 2),
        "tags": chance.sample(["new", "vip", "late", "export", "trial"], 2),
    }


def _table(chance: random.Random) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    for _ in range(2_200):
        writer.writerow([round(chance.uniform(0, 10_000), 3) for _ in range(6)])
    return out.getvalue()


def _timed(count: Callable[[str], int], text: str) -> tuple[int, float]:
    """Tokens, and the best of three in microseconds per 1,000 characters."""
    took = []
    tokens = 0
    for _ in range(3):
        begun = time.perf_counter()
        tokens = count(text)
        took.append(time.perf_counter() - begun)
    return tokens, min(took) * 1e9 / len(text)


def main() -> None:
    encoding, counter = load_o200k(), TokenCounter()
    counter.load()
    rows = []
    for kind, text in samples().items():
        exact, exact_us = _timed(lambda text: len(encoding.encode_ordinary(text)), text)
        # Past the memory of counts, which is not what is measured.
        tokens, took = _timed(counter._count, text)
        guess, guess_us = _timed(estimate, text)
        rows.append(
            [
                kind,
                f"{exact:,}",
                *(f"{100 * (found - exact) / exact:+.1f}%" for found in (tokens, guess, len(text) // 4)),
                *(f"{each:.0f}" for each in (exact_us, took, guess_us)),
            ]
        )
    show(
        f"Tokens against o200k_base; texts over {WHOLE_CHARS:,} characters are sampled",
        ["text", "tokens", "counter", "estimate", "characters / 4", "tokenizer µs", "counter µs", "estimate µs"],
        rows,
    )


if __name__ == "__main__":
    main()
