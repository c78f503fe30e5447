"""Where a clause of a sentence begins: the place at which an order or a choice can stand."""

from __future__ import annotations

import re

# What may come before the first word that counts, in any number.
_FILLER = re.compile(
    r"[\s,:;!.…\-–—*_(]+|(?:ok(?:ay)?|alright|all right|right|yes|yeah|yep|sure|thanks|thank you|thx"
    r"|great|perfect|good|fine|hey|hi"
    r"|hello|so|and|but|also|then|please|pls|note(?: that)?|remember(?: to)?|important|reminder|rule"
    r"|well|now|again|btw|by the way"
    r"|however|just|one (?:more )?thing|quick thing|as i said|for now|finally|instead|in general"
    r"|generally|actually|still|hm+|i think|in the end|after all|whatever you do|at least|ideally"
    r"|bitte|und|aber|also|ja|gut|danke|wichtig|außerdem|dann|am ende|auf jeden fall"
    r"|s'il te plaît|s'il vous plaît|et|mais|oui|merci|d'accord|alors|donc|stp|svp|surtout|finalement"
    r"|au final"
    r"|por favor|y|pero|sí|vale|gracias|entonces|bueno|al final|finalmente|mas|sim|obrigado|obrigada"
    r"|então|beleza|no final"
    r"|per favore|ma|sì|va bene|grazie|allora|alla fine|e)(?=[\s,:;!.…]|$)"
)
_BOUNDARY = re.compile(r"[,;:—–(]\s+|\s-\s|,(?=\S)|\s(?:and|but|then|so|und|aber|sondern|et|mais|pero|mas|ma)\s")


def clause_starts(plain: str) -> list[str]:
    """The rest of the sentence from each place where a clause begins, fillers taken off; the whole
    sentence first."""
    starts = [0, *(boundary.end() for boundary in _BOUNDARY.finditer(plain))]
    return [rest for start in starts[:24] if (rest := _without_fillers(plain[start:]))]


def _without_fillers(text: str) -> str:
    position = 0
    while (filler := _FILLER.match(text, position)) and filler.end() > position:
        position = filler.end()
    return text[position:]
