"""English words to what they have in common: `planned`, `planning` and `plans` are all `plan`.

The Porter2 algorithm (M. Porter, snowballstem.org/algorithms/english) after a list of irregular forms. A word of
another language comes out changed at most in its ending, and the same way every time.
"""

from __future__ import annotations

from functools import lru_cache

_VOWELS = frozenset("aeiouy")
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_LI = frozenset("cdeghkmnrt")
_EARLY = ("gener", "commun", "arsen")
_UNCHANGED = """
inning outing canning herring earring proceed exceed succeed news atlas cosmos bias andes sky
"""
_WHOLE = frozenset(_UNCHANGED.split())

_STEP2 = (
    ("ational", "ate"), ("fulness", "ful"), ("iveness", "ive"), ("ization", "ize"), ("ousness", "ous"),
    ("biliti", "ble"), ("lessli", "less"), ("tional", "tion"), ("alism", "al"), ("aliti", "al"), ("ation", "ate"),
    ("entli", "ent"), ("fulli", "ful"), ("iviti", "ive"), ("ousli", "ous"), ("abli", "able"), ("alli", "al"),
    ("anci", "ance"), ("ator", "ate"), ("enci", "ence"), ("izer", "ize"), ("bli", "ble"), ("ogi", "og"), ("li", ""),
)  # fmt: skip
_STEP3 = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("ative", ""), ("icate", "ic"), ("iciti", "ic"),
    ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP4 = (
    "ement", "able", "ance", "ence", "ible", "ment", "ant", "ate", "ent", "ion", "ism", "iti", "ive", "ize", "ous",
    "al", "er", "ic",
)  # fmt: skip

# Form, then what it is a form of. Only forms whose stem the rules below would miss.
_IRREGULAR_FORMS = """
went gone goes=go ate eaten=eat bought=buy brought=bring began begun=begin became=become broke broken=break built=build
caught=catch chose chosen=choose came=come did done does=do drew drawn=draw drank drunk=drink drove driven=drive
fell fallen=fall felt=feel fought=fight found=find flew flown=fly forgot forgotten=forget gave given=give
got gotten=get grew grown=grow heard=hear held=hold kept=keep knew known=know led=lead left=leave lent=lend lost=lose
made=make meant=mean met=meet paid=pay ran=run rode ridden=ride rose risen=rise said=say saw seen=see sold=sell
sent=send shook shaken=shake shot=shoot showed shown=show sang sung=sing sat=sit slept=sleep spoke spoken=speak
spent=spend stood=stand stole stolen=steal swam swum=swim took taken=take taught=teach told=tell thought=think
threw thrown=throw understood=understand woke woken=wake wore worn=wear won=win wrote written=write
children=child men=man women=woman people=person mice=mouse feet=foot teeth=tooth wives=wife lives=life
knives=knife leaves=leaf better best=good worse worst=bad bit bitten=bite blew blown=blow dealt=deal dug=dig
fed=feed froze frozen=freeze hid hidden=hide hung=hang laid=lay lit=light proved proven=prove sank sunk=sink
sought=seek shone=shine shrank shrunk=shrink slid=slide spun=spin sprang sprung=spring stuck=stick struck=strike
swore sworn=swear swept=sweep tore torn=tear wept=weep wound=wind rebuilt=rebuild rewrote rewritten=rewrite
chosen=choose overrode overridden=override indices=index vertices=vertex matrices=matrix analyses=analysis
dying=die lying=lie tying=tie
"""


def _irregular() -> dict[str, str]:
    table: dict[str, str] = {}
    pending: list[str] = []
    for item in _IRREGULAR_FORMS.split():
        form, _, base = item.partition("=")
        pending.append(form)
        if base:
            table.update(dict.fromkeys(pending, base))
            pending = []
    return table


_IRREGULAR = _irregular()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a folded, lower-case word; digits, other scripts and words of one or two letters stay."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 2 or word in _WHOLE or not (word.isascii() and word.isalpha()):
        return word
    return _porter2(word)


def _porter2(word: str) -> str:
    word = _mark_consonant_y(word)
    r1 = _region(word, 0)
    for head in _EARLY:
        if word.startswith(head):
            r1 = len(head)
    r2 = _region(word, r1)
    word = _step1a(word)
    if word in _WHOLE:
        return word
    word = _step1c(_step1b(word, r1))
    word = _step2(word, r1)
    word = _step3(word, r1, r2)
    word = _step4(word, r2)
    return _step5(word, r1, r2).lower()


def _mark_consonant_y(word: str) -> str:
    if "y" not in word:
        return word
    letters = list(word)
    for i, letter in enumerate(letters):
        if letter == "y" and (i == 0 or letters[i - 1] in _VOWELS):
            letters[i] = "Y"
    return "".join(letters)


def _region(word: str, start: int) -> int:
    """Where the region after the first non-vowel that follows a vowel begins, from `start` on."""
    for i in range(start + 1, len(word)):
        if word[i] not in _VOWELS and word[i - 1] in _VOWELS:
            return i + 1
    return len(word)


def _has_vowel(part: str) -> bool:
    return any(letter in _VOWELS for letter in part)


def _ends_in_short_syllable(word: str) -> bool:
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return (
        len(word) > 2
        and word[-1] not in _VOWELS
        and word[-1] not in "wxY"
        and word[-2] in _VOWELS
        and word[-3] not in _VOWELS
    )


def _step1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _step1b(word: str, r1: int) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            return word[: -len(suffix)] + "ee" if len(word) - len(suffix) >= r1 else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if not _has_vowel(base):
                return word
            if base.endswith(("at", "bl", "iz")):
                return base + "e"
            if base.endswith(_DOUBLES):
                return base[:-1]
            return base + "e" if len(base) <= r1 and _ends_in_short_syllable(base) else base
    return word


def _step1c(word: str) -> str:
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        return word[:-1] + "i"
    return word


def _step2(word: str, r1: int) -> str:
    for suffix, change in _STEP2:
        if not word.endswith(suffix):
            continue
        base = word[: -len(suffix)]
        if len(base) < r1 or (suffix == "ogi" and not base.endswith("l")):
            return word
        if suffix == "li" and (not base or base[-1] not in _LI):
            return word
        return base + change
    return word


def _step3(word: str, r1: int, r2: int) -> str:
    for suffix, change in _STEP3:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + change if len(base) >= (r2 if suffix == "ative" else r1) else word
    return word


def _step4(word: str, r2: int) -> str:
    for suffix in _STEP4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if len(base) < r2 or (suffix == "ion" and not base.endswith(("s", "t"))):
                return word
            return base
    return word


def _step5(word: str, r1: int, r2: int) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if len(base) >= r2 or (len(base) >= r1 and not _ends_in_short_syllable(base)):
            return base
    elif word.endswith("ll") and len(word) - 1 >= r2:
        return word[:-1]
    return word
