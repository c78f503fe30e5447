"""Gathers the sentences that `pack_sentences.py` learns from: python tests/bench/gather_sentences.py FOLDER OUT.

FOLDER holds what it reads, as far as it is there: `dataset.json` of the Python package chitchat-dataset (MIT), the
files `data.noun` to `data.adv` of WordNet 3.0, the files of Debian's `fortunes` in `fortunes/`, and prose and code
(README files, package metadata, docstrings and comments) in `packages/`, any folder of installed Python packages.
OUT gets a sentence a line, at most so many of each kind as `MOST` says, drawn and shuffled in the same way each time.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

MOST = {"chat": 90_000, "glosses": 50_000, "fortunes": 15_000, "prose": 45_000, "code": 45_000}
SHORTEST, LONGEST = 25, 260
LEAST_LETTERS = 0.65

_ENDS = re.compile(r"(?<=[.!?])\s+")
_PARAGRAPHS = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n[-*] ")
_EXAMPLE = re.compile(r'"([^"]+)"')
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_COMMENT = re.compile(r"(?:^ *# .*\n)+", re.MULTILINE)
_MARKUP = re.compile(r"[`*_#]|\(http\S+\)")


def chat(folder: Path) -> Iterator[str]:
    if (file := folder / "dataset.json").exists():
        for conversation in json.loads(file.read_text("utf-8")).values():
            for turn in conversation["messages"]:
                yield " ".join(message["text"] for message in turn)


def glosses(folder: Path) -> Iterator[str]:
    """Words with what they mean, and the examples."""
    for file in sorted(folder.glob("data.*")):
        for line in file.read_text("utf-8", "replace").splitlines():
            head, _, gloss = line.partition("|")
            if gloss:
                fields = head.split()
                words = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
                yield f"{', '.join(words[:3])}: {gloss.strip().split('; ' + chr(34))[0]}"
                yield from _EXAMPLE.findall(gloss)


def fortunes(folder: Path) -> Iterator[str]:
    for file in sorted((folder / "fortunes").glob("*")):
        if file.is_file() and file.suffix not in (".dat", ".u8"):
            for piece in file.read_text("utf-8", "replace").split("\n%\n"):
                yield from _ENDS.split(piece)


def prose(folder: Path) -> Iterator[str]:
    for file in sorted((folder / "packages").rglob("*")):
        if file.is_file() and (file.suffix in (".md", ".rst") or file.name == "METADATA"):
            text = re.sub(r"```.*?```", "", file.read_text("utf-8", "replace"), flags=re.DOTALL)
            yield from (_MARKUP.sub("", piece) for piece in _PARAGRAPHS.split(text))


def code(folder: Path) -> Iterator[str]:
    """Docstrings and comments."""
    for file in sorted((folder / "packages").rglob("*.py")):
        text = file.read_text("utf-8", "replace")
        for docstring in _DOCSTRING.findall(text):
            yield from _PARAGRAPHS.split(docstring)
        yield from (re.sub(r"^ *# ?", "", comment, flags=re.MULTILINE) for comment in _COMMENT.findall(text))


def is_sentence(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    return SHORTEST <= len(text) <= LONGEST and letters > LEAST_LETTERS * len(text)


def main() -> None:
    folder, out = map(Path, sys.argv[1:3])
    drawn = random.Random(5)
    chosen: list[str] = []
    for kind, read in {"chat": chat, "glosses": glosses, "fortunes": fortunes, "prose": prose, "code": code}.items():
        found = sorted({text for piece in read(folder) if is_sentence(text := " ".join(piece.split()))})
        drawn.shuffle(found)
        chosen += found[: MOST[kind]]
        print(f"{kind}: {len(found):,} sentences, {min(len(found), MOST[kind]):,} taken")
    drawn.shuffle(chosen)
    out.write_text("\n".join(chosen) + "\n", "utf-8")


if __name__ == "__main__":
    main()
