"""The words by which constraints and decisions are known, a file for each language."""

from loom.state.cues import chinese, english, french, german, italian, japanese, portuguese, spanish
from loom.state.cues.cue import Cues

LANGUAGES: tuple[Cues, ...] = tuple(
    language.CUES for language in (english, german, french, spanish, portuguese, italian, japanese, chinese)
)
"""Every language is tried on every sentence: people mix them, and guessing the language of three words is worse."""

__all__ = ["LANGUAGES", "Cues"]
