"""How alike two names are, for names that were mistyped."""

from __future__ import annotations


def pieces_of(name: str) -> set[str]:
    """The three-character pieces of a name."""
    return {name[i : i + 3] for i in range(len(name) - 2)}


def similarity(first: str, second: str, least: float = 0.5) -> float:
    """1 for equal names, less by one edit's share for each insertion, deletion, replacement or swap of neighbours.

    The optimal string alignment distance over the longer length; 0 as soon as it cannot reach
    `least`.
    """
    longer = max(len(first), len(second))
    if not longer:
        return 1.0
    most = int(longer * (1 - least) + 1e-9)
    if abs(len(first) - len(second)) > most:
        return 0.0
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        current = [i]
        for j, b in enumerate(second, 1):
            cost = min(row[j] + 1, current[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > most:
            return 0.0
        before, row = row, current
    return 1 - row[-1] / longer
