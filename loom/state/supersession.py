"""When a later constraint takes an earlier one back.

Each constraint is read as what it wants and what it does not want, as two sets of content words. Two are
contrary when what one wants is what the other forbids (half of the words of both, at least): `never use an
ORM` and `you may use an ORM now`, `tabs, not spaces` and `spaces, not tabs`. A narrower exception (`you may
use an ORM in the billing module`) leaves the rule standing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from loom.state.entries import clip, put
from loom.state.model import MAX_CONSTRAINTS, Constraint, SessionState

MAX_CONSTRAINT_CHARS = 300
_ENOUGH_SHARED = 0.5

_CLAUSE = re.compile(r"[,;:.!()。、,;!]+(?:\s|$)|[。、,;!]")
_NEGATIVE = re.compile(
    r"\b(?:never|don't|dont|do not|not|avoid|no|without|stop|mustn't|shouldn't|instead of|rather than"
    r"|nie|niemals|nicht|kein\w*|statt|anstatt|vermeide|jamais|ne|pas|plutôt que|au lieu de|évite\w*"
    r"|nunca|jamás|em vez de|en vez de"
    r"|en lugar de|ao invés de|não|evita|evite|mai|non|invece d\w+|al posto d\w+)\b|\bn'|ないで|ません|禁止|ではなく"
    r"|不要|请勿|切勿|不得|不准|不许|严禁|绝不|别|而不是"
)
_OVER = re.compile(r"\bprefer\b.*?\b(over)\b")
_PERMITS = re.compile(
    r"(?:(?:ok(?:ay)?|yes|now|well|actually|fine|from now on|jetzt|ab jetzt|ahora|agora|ora"
    r"|adesso)[\s,:]+)*"
    r"(?:(?:you|we) (?:can|may|are allowed to|are free to)\b(?! not| see| find)|(?:it's|it is) (?:ok"
    r"|okay|fine|allowed|alright) to\b|feel free to\b"
    r"|du (?:darfst|kannst)\b(?!.*\b(?:nicht|kein\w*)\b)|tu peux\b|puedes\b|pode\b|puoi\b)"
    r"|.*\b(?:is|are) (?:allowed|fine|ok|okay|permitted)(?: (?:again|now|after all))?\W*$|.*(?:てもいい|ても良い"
    r"|てもよい)|.*可以"
)
_WORD = re.compile(r"[^\W_][\w+#./-]*", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_CJK_CUES = re.compile(
    r"必ず|絶対に?|常に|使わない|使って|使う|使い|してください|ください|ないで|ません|だけ|のみ|ではなく|禁止|てもいい|必须|务必|一定要|永远|绝不|绝对|始终|总是|使用|不要|请勿|切勿"
    r"|不得|不准|不许|可以|现在|只能|而不是|别|请|用|[のをはがにでとも]"
)
_STOP_WORDS = """
a an the to of in on at for with and or but by be is are it its this that you we i they he she please
never always must should shall may can could would will only just ever even now again here any all every
use using used uses do don't dont not no avoid without stop from instead rather than prefer over make
sure ensure allowed ok okay fine free feel after anymore longer more directly like want der die das den
dem ein eine einen einem einer und oder immer nie niemals nicht kein keine keinen nur verwende verwenden
benutze benutzen nutze nutzen statt anstatt bitte darfst darf dürfen du wir jetzt muss müssen wieder le
la les un une des de d et ou ne n pas jamais toujours utilise utiliser uniquement plutôt que au lieu
doit doivent tu peux maintenant el los las una del y o nunca siempre usa usar usemos solo sólo en lugar
vez puedes ahora debe deben se os as um uma da e sempre apenas não invés pode agora deve devem il lo gli
uno mai non usare invece di degli dei puoi ora
"""
_STOP = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Wish:
    wanted: frozenset[str]
    unwanted: frozenset[str]


def constrained(state: SessionState, sentence: str, turn: int) -> SessionState:
    """The state with the constraint added: in place of the one it contradicts, or of the same words said
    before."""
    text = clip(sentence, MAX_CONSTRAINT_CHARS)
    same = next((c for c in state.constraints if _folded(c.text) == _folded(text)), None)
    if same is not None:
        again = replace(same, turn=turn)
        return _with(state, again, dropped=(same,))
    taken_back = _contradicted(state, text)
    entry = Constraint(text, turn, replaces=taken_back[-1].turn if taken_back else None)
    return _with(state, entry, dropped=taken_back)


def permitted(state: SessionState, sentence: str, turn: int) -> SessionState:
    """The state after a sentence that may lift a constraint (`you can use an ORM now`); unchanged when it
    lifts none."""
    if not _PERMITS.match(sentence.lower()):
        return state
    taken_back = _contradicted(state, sentence)
    if not taken_back:
        return state
    entry = Constraint(clip(sentence, MAX_CONSTRAINT_CHARS), turn, replaces=taken_back[-1].turn)
    return _with(state, entry, dropped=taken_back)


def _with(state: SessionState, entry: Constraint, dropped: tuple[Constraint, ...]) -> SessionState:
    return replace(state, constraints=put(state.constraints, entry, MAX_CONSTRAINTS, same=lambda c: c in dropped))


def _contradicted(state: SessionState, text: str) -> tuple[Constraint, ...]:
    wish = _wish(text)
    return tuple(c for c in state.constraints if _contrary(_wish(c.text), wish))


def _contrary(earlier: _Wish, later: _Wish) -> bool:
    return _alike(earlier.wanted, later.unwanted) or _alike(earlier.unwanted, later.wanted)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ENOUGH_SHARED * len(one | other) if one and other else False


@lru_cache(maxsize=256)
def _wish(text: str) -> _Wish:
    wanted: frozenset[str] = frozenset()
    unwanted: frozenset[str] = frozenset()
    for clause in _CLAUSE.split(text.lower().replace("’", "'")):
        negative = _NEGATIVE.search(clause)
        over = _OVER.search(clause)
        if negative is None and over is None:
            wanted |= _words(clause)
            continue
        start, end = over.span(1) if over else negative.span() if negative else (0, 0)
        before, after = _words(clause[:start]), _words(clause[end:])
        if negative is not None and negative[0] == "ではなく":
            before, after = after, before
        # "Ändere die API nicht", 使わないで: the word that forbids stands last and means all before it.
        if not after:
            before, after = after, before
        wanted, unwanted = wanted | before, unwanted | after
    return _Wish(wanted, unwanted)


def _words(text: str) -> frozenset[str]:
    spaced = _CJK.sub(lambda run: f" {_CJK_CUES.sub(' ', run[0])} ", text)
    words = (word.rstrip("./-") for word in _WORD.findall(spaced))
    return frozenset(_stem(word) for word in words if word not in _STOP)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _folded(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".!")
