"""English words that carry no subject: left out of a query as long as others remain. Everything is indexed."""

from __future__ import annotations

from loom.archive.search.stems import stem

_WORDS = """
a about after again all also am an and any are aren as at be because been before being between both but by can
could couldn d did didn do does doesn doing don down during each else ever few for from further get had hadn has
hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m may
me might mine more most mustn my myself no nor not now of off on once only or other our ours ourselves out over own
please re s same shall she should shouldn so some such t than that the their theirs them themselves then there
these they this those through to too under until up upon us ve very was wasn we were weren what when where which
while who whom whose why will with won would wouldn you your yours yourself yourselves
tell know many much mention mentioned say said
"""

STOP_STEMS = frozenset(_WORDS.split()) | frozenset(stem(word) for word in _WORDS.split())
"""Stop words as they are and as `words_of` gives them."""
