"""Unified diffs that stay quick on any two texts."""

import difflib
from dataclasses import dataclass

from loom.text import storable

CONTEXT = 3
"""Unchanged lines around a change."""

MAX_COMPARED = 4_000
"""Lines, both sides together, up to which the changed middle is compared line by line; difflib is quadratic. A larger
middle is shown as taken out and put in whole, which is as true, only longer."""

MAX_KEPT = 200_000
"""Characters of a diff that are kept beside a result; a person asked for a yes is shown all of it."""


@dataclass(frozen=True, slots=True)
class Diff:
    """What changes between two texts."""

    text: str
    added: int
    removed: int

    @property
    def kept(self) -> str:
        """The text, cut to MAX_KEPT with a word about it."""
        left = len(self.text) - MAX_KEPT
        return self.text if left <= 0 else f"{self.text[:MAX_KEPT]}\n… {left:,} more characters of this diff"


def make_diff(old: str | None, new: str, name: str) -> Diff:
    """The unified diff from `old` (None: there was no file) to `new`. Applying it to `old` gives `new` exactly; only
    characters that cannot be encoded are replaced."""
    before, after = _lines(old or ""), _lines(new)
    blocks = _changes(before, after)
    added = sum(block[4] - block[3] for block in blocks if block[0] != "equal")
    removed = sum(block[2] - block[1] for block in blocks if block[0] != "equal")
    head = [f"--- {'/dev/null' if old is None else f'a/{name}'}\n", f"+++ b/{name}\n"]
    body = [line for group in _groups(blocks) for line in _hunk(group, before, after)]
    return Diff(storable("".join(head + body)).removesuffix("\n"), added, removed)


_Block = tuple[str, int, int, int, int]


def _lines(text: str) -> list[str]:
    """Lines with their ends, split at line feeds only: a form feed or U+2028 inside a line ends no line of a file."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _changes(before: list[str], after: list[str]) -> list[_Block]:
    """Blocks as difflib's opcodes give them, of the part between the common beginning and the common end."""
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    b, a = len(before) - end, len(after) - end
    blocks: list[_Block] = [("equal", 0, start, 0, start)] if start else []
    if (b - start) + (a - start) <= MAX_COMPARED:
        matcher = difflib.SequenceMatcher(None, before[start:b], after[start:a])
        blocks += [(tag, i + start, j + start, k + start, m + start) for tag, i, j, k, m in matcher.get_opcodes()]
    elif b > start or a > start:
        blocks.append(("replace", start, b, start, a))
    if end:
        blocks.append(("equal", b, len(before), a, len(after)))
    return blocks


def _groups(blocks: list[_Block]) -> list[list[_Block]]:
    """The blocks of each hunk, with CONTEXT lines around the changes."""
    groups: list[list[_Block]] = []
    group: list[_Block] = []
    for index, (tag, i, j, k, m) in enumerate(blocks):
        if tag != "equal":
            group.append((tag, i, j, k, m))
            continue
        last = index == len(blocks) - 1
        if group and (last or j - i > 2 * CONTEXT):
            group.append((tag, i, min(j, i + CONTEXT), k, min(m, k + CONTEXT)))
            groups.append(group)
            group = []
        if not group and not last:
            group = [(tag, max(i, j - CONTEXT), j, max(k, m - CONTEXT), m)]
        elif not last:
            group.append((tag, i, j, k, m))
    if any(block[0] != "equal" for block in group):
        groups.append(group)
    return groups


def _hunk(group: list[_Block], before: list[str], after: list[str]) -> list[str]:
    first, last = group[0], group[-1]
    lines = [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"]
    for tag, i, j, k, m in group:
        if tag == "equal":
            lines += [_signed(" ", line) for line in before[i:j]]
            continue
        lines += [_signed("-", line) for line in before[i:j]]
        lines += [_signed("+", line) for line in after[k:m]]
    return lines


def _signed(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def _range(start: int, stop: int) -> str:
    """As diff writes it: counted from 1, the length left out when it is 1, an empty range named by the line before."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
