"""A token count without a vocabulary: the tokenizer's own splitting rule, imitated, and a cost for each piece.

o200k_base first cuts text into pieces (a word with the space before it, up to three digits, a run of signs, a run of
white space) and most pieces are one token. The costs below are fitted to what the tokenizer makes of pieces of each
length. Error against it, by kind of text: prose, code, logs, JSON and number tables within 10%; other scripts and
random strings (base64, hashes) within 20%; see tests/context/test_tokens.py. `len // 4` errs by half on most of these.
"""

from __future__ import annotations

import re

_BLOB = re.compile(r"[A-Za-z0-9+/]{24,}")

_UPPER = "A-ZÀ-ÖØ-Þ"
_LOWER = "a-zß-öø-ÿĀ-ɏ"
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HANGUL = "\uac00-\ud7a3"
_MARKS = "\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff"
_OTHER = rf"(?:(?![{_UPPER}{_LOWER}{_HAN}{_HANGUL}])[^\W\d_]|[{_MARKS}])"
_BEFORE = r"(?:[^\r\n\w]|_)?"

_PIECE = re.compile(
    rf"({_BEFORE}[{_UPPER}]*[{_LOWER}]+)"
    rf"|({_BEFORE}[{_UPPER}]+)"
    r"|(\d{1,3})"
    rf"|([{_HAN}]+)"
    rf"|({_BEFORE}[{_HANGUL}]+)"
    rf"|({_BEFORE}{_OTHER}+)"
    r"|( ?(?:[^\s\w]|_)+[\r\n/]*)"
    r"|(\s*[\r\n]+|\s+(?!\S)|\s+)"
)


def estimate(text: str) -> int:
    """Tokens of the text, estimated; at least 1 unless it is empty. Takes 0.1 to 0.5 µs a character."""
    tokens = 0.0
    at = 0
    for blob in _BLOB.finditer(text):
        length = blob.end() - blob.start()
        digits = sum(map(str.isdigit, blob[0]))
        if digits >= 3 and digits * 10 >= length:
            tokens += _pieces(text, at, blob.start()) + length / (1.73 if digits * 2 >= length else 1.46)
            at = blob.end()
    tokens += _pieces(text, at, len(text))
    return max(1, round(tokens)) if text else 0


def _pieces(text: str, start: int, end: int) -> float:
    tokens = 0.0
    for piece in _PIECE.finditer(text, start, end):
        length = piece.end() - piece.start()
        match piece.lastindex:
            case 1:  # a word
                tokens += 1 if length < 7 else 1 + 0.13 * (length - 6)
            case 2:  # CAPITALS
                tokens += 1 if length < 3 else 1 + 0.2 * (length - 2)
            case 4:  # Chinese, Japanese
                tokens += 0.64 * length
            case 5:  # Korean
                tokens += 0.49 * length
            case 6:  # words of other scripts
                tokens += 1 if length < 3 else 0.4 + 0.19 * length
            case 7:  # signs
                tokens += _signs(piece[0])
            case _:  # digits, white space
                tokens += 1
    return tokens


def _signs(run: str) -> float:
    if not run.isascii():
        # Emoji and box drawing take one to three tokens a character.
        return 1.3 * len(run.strip())
    return 1 if len(run) < 5 else 1 + 0.25 * (len(run) - 4)
