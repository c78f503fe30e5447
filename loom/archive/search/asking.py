"""Whether a query asks for what was said, or is words put into a search field.

What asks may find turns that say it in other words, is weighed by meaning, and is not searched for the form of its
answer. With the question mark left off, the questions of the labelled conversations lost 2 to 15 points of recall@10;
taken for words though they are asked by a model in keywords, 3 to 14 (docs/recall.md).
"""

from __future__ import annotations

import re

LEAST = 3
"""Words of a question that somebody types: less is a search that begins with `how`."""
LEAST_ASKED, MOST_ASKED = 2, 12
"""Words of a query that asks because of who puts it. One has no other words to mean; a longer one is quoted."""

_ASKS = re.compile(
    r"^\W*(?:(?:and|so|but|ok|okay|please|then|now)\W+){0,2}"
    r"(?:(?:what|which|who|whom|whose|when|where|why|how)(?:['’](?:s|re|d|ll))?\s"
    r"|(?:do|does|did|is|are|was|were|am|have|has|had|can|could|will|would|should|shall|may|might)\s+"
    r"(?:i|we|you|he|she|it|they|there|this|that|these|those|the|any|anyone|anybody|someone|my|our|your|his|her|its"
    r"|their)\s"
    r"|(?:tell|remind|show)\s+(?:me|us)\s)",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Whether somebody types it as a question, with a question mark or without."""
    return len(text.split()) >= LEAST and (text.rstrip().endswith("?") or _ASKS.match(text) is not None)


def is_asked_in_keywords(text: str) -> bool:
    """Whether a query that a model puts means what it says and not these words alone; for one that has no name, no
    phrase and nothing quoted."""
    return LEAST_ASKED <= len(text.split()) <= MOST_ASKED
