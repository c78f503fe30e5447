"""Where a message takes back what was said before: `I changed my mind`, `let's use SQLite after all`."""

from __future__ import annotations

import re
from itertools import pairwise

from loom.state.cues import LANGUAGES
from loom.state.prose import Sentence, sentences
from loom.state.sayings import saying_of

MAX_CHARS = 20_000
"""Of a message; nobody types more, and what was pasted takes nothing back."""

FORMULAS = """
I changed my mind, on second thoughts. Forget, ignore, disregard, scrap, scratch what I said. Actually, we no longer
want it any more, anymore. Instead, after all. Switch back, correction.
Ich habe es mir anders überlegt, meine Meinung geändert, mich umentschieden. Vergiss. Nicht mehr, doch lieber,
stattdessen.
J'ai changé d'avis. Oublie ce que j'ai dit. Ne plus. Plutôt. En fait.
He cambiado, cambié de opinión, de idea. Olvida lo que dije. Ya no. Mejor. En realidad.
Mudei de ideia, de opinião. Esquece o que eu disse. Não mais. Na verdade.
Ho cambiato idea. Dimentica quello che ho detto. Non più. Invece. In realtà.
気が変わりました。考えが変わりました。考え直しました。やっぱり、にしましょう。もう使わないでください。
我改主意了。改了想法。重新考虑了。还是改用。换成。不再使用。
"""
"""What is said when something is taken back, whatever it is: words that two such messages share by chance."""

_IF = re.compile(r"\W*(?:(?:if|unless|suppose|what if|in case|wenn|falls|sobald|si|se|caso)\b|もし|如果|要是|假如)")


def revising_passages(message: str) -> tuple[str, ...]:
    """The sentences of the person's own that take something back, each with the one behind it, which often says what
    holds instead; empty for most messages. Questions and conditions take nothing back."""
    said: list[Sentence | None] = [*sentences(message[:MAX_CHARS]), None]
    return tuple(
        first.text if second is None else f"{first.text} {second.text}"
        for first, second in pairwise(said)
        if first is not None and _takes_back(first)
    )


def settles_something(message: str) -> bool:
    """Whether a message has a constraint or a decision of the person's: something that can be taken back."""
    return any(_takes_back(said) or saying_of(said) for said in sentences(message[:MAX_CHARS]))


def _takes_back(sentence: Sentence) -> bool:
    plain = sentence.plain
    if sentence.question or _IF.match(plain):
        return False
    if any(cues.takes_back.search(plain) for cues in LANGUAGES):
        return True
    return any(cues.turns.search(plain) for cues in LANGUAGES) and saying_of(sentence) is not None
