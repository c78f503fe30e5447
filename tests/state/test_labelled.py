from __future__ import annotations

import pytest

from loom.state.prose import sentences
from loom.state.sayings import saying_of
from tests.state.labelled import HELD_OUT, MESSAGES, TUNING, Labelled, held_out
from tests.state.labelled_hard import FRESH, HARD
from tests.state.labelled_later import LATER


def _score(messages: tuple[Labelled, ...]) -> tuple[int, list[str], list[str]]:
    """Found, wrongly found, missed."""
    found, wrong, missed = 0, [], []
    for message in messages:
        heard = [(saying_of(sentence), sentence.text) for sentence in sentences(message.text)]
        for kind, wanted in (("constraint", message.constraints), ("decision", message.decisions)):
            texts = [text for saying, text in heard if saying == kind]
            for phrase in wanted:
                hit = next((text for text in texts if phrase in text), None)
                if hit is None:
                    missed.append(f"{kind}: {phrase}")
                else:
                    texts.remove(hit)
                    found += 1
            wrong += [f"{kind}: {text}" for text in texts]
    return found, wrong, missed


SETS = {
    "all": (*MESSAGES, *LATER, *HARD, *FRESH),
    "held out": (*HELD_OUT, *(message for message in LATER if held_out(message))),
    "tuned on": (*TUNING, *(message for message in LATER if not held_out(message))),
    "hard": (*HARD, *FRESH),
}


@pytest.mark.parametrize("name", SETS)
def test_what_the_person_said_is_found_with_few_mistakes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    messages = SETS[name]
    found, wrong, missed = _score(messages)
    precision, recall = found / (found + len(wrong)), found / (found + len(missed))
    with capsys.disabled():
        print(f"\n{name}: {len(messages)} messages, precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.95, wrong
    assert recall >= 0.85, missed


def test_the_set_is_large_and_has_something_of_everything() -> None:
    messages = SETS["all"]
    assert len({message.text for message in messages}) == len(messages) >= 150
    assert sum(bool(message.constraints) for message in messages) >= 50
    assert sum(bool(message.decisions) for message in messages) >= 40
    assert sum(not message.constraints and not message.decisions for message in messages) >= 50
