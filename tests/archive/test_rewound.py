"""Which turns were rewound past, as the rows say it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.archive.records import TurnKind
from loom.archive.rewound import is_rewound, joined, others, ranges_in, rewound_after
from tests.support.turns import turn


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ('{"left_to": 0, "rewound": [[3, 5]], "rewound_from": 8}', ((3, 5), (8, 12))),
        ('{"left_to": 0, "rewound": [[3, 5]], "rewound_from": 6}', ((3, 12),)),
        ('{"left_to": 0, "rewound": [[3, 5], [7]]}', ((3, 5),)),
        ('{"left_to": 0, "rewound": [[5, 3], ["a", 2], [true, 2], [0, 4]], "rewound_from": 13}', ()),
        ('{"left_to": 0}', ()),
        ('{"left_to": true}', None),
        ('{"pin": {"text": "x"}}', None),
        ("[" * 9_999, None),
        ("", None),
    ],
)
def test_a_row_says_what_is_rewound_past_since(meta: str, expected: object) -> None:
    note = replace(turn(12, "system", "words"), kind=TurnKind.NOTE, message_meta=meta)
    assert rewound_after(note) == expected


def test_nobody_but_loom_says_so() -> None:
    assert rewound_after(replace(turn(12, "user", "x"), message_meta='{"left_to": 0, "rewound_from": 1}')) is None


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40))), st.integers(1, 40), st.integers(1, 40))
def test_ranges_are_sets_of_turns(pairs: list[tuple[int, int]], first: int, last: int) -> None:
    ranges = ranges_in([list(pair) for pair in pairs])
    turns = {number for low, high in pairs for number in range(low, high + 1)}
    assert {number for number in range(1, 50) if is_rewound(number, ranges)} == turns
    assert all(high + 1 < low for (_, high), (low, _) in pairwise(ranges))
    assert {n for low, high in others(first, last, ranges) for n in range(low, high + 1)} == {
        number for number in range(first, last + 1) if number not in turns
    }
    if first <= last:
        assert is_rewound(first, joined(ranges, first, last)) and is_rewound(last, joined(ranges, first, last))
