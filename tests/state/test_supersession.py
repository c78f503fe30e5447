from __future__ import annotations

import pytest

from loom.state import rebuild
from tests.state.conversation import Conversation


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never use an ORM.", "Always use an ORM."),
        ("Never use an ORM, raw SQL only.", "You may use an ORM now."),
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
        ("Use pytest instead of unittest.", "use unittest rather than pytest"),
        ("Don't touch the migrations.", "You can touch the migrations now."),
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        ("never push to main", "OK, you may push to main."),
        ("Benutze kein ORM.", "Du darfst jetzt ein ORM benutzen."),
        ("Nutze Tabs statt Leerzeichen.", "Nutze Leerzeichen statt Tabs."),
        ("N'utilise jamais d'ORM.", "Utilise toujours un ORM."),
        ("Nunca uses un ORM.", "Usa siempre un ORM."),
        ("ORMは絶対に使わないでください。", "必ずORMを使ってください。"),
        ("不要使用ORM。", "必须使用ORM。"),
    ],
)
def test_a_contrary_constraint_replaces_the_earlier_one(talk: Conversation, earlier: str, later: str) -> None:
    talk.user(earlier)
    talk.user(later)
    (constraint,) = rebuild(talk.turns).constraints
    assert (constraint.text, constraint.turn, constraint.replaces) == (later, 2, 1)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never push to main.", "Always push after the tests pass."),
        ("Never use print.", "Always print the exit code."),
        ("Never use an ORM.", "You must use an ORM in the billing module."),
        ("Never edit vendor/.", "Never edit the README."),
        ("Always run the tests.", "Always run the linter."),
        ("Use pytest, not unittest.", "Use httpx, not requests."),
        ("Never use an ORM.", "Always use type hints."),
    ],
)
def test_a_constraint_about_something_else_stands_beside_it(talk: Conversation, earlier: str, later: str) -> None:
    talk.user(earlier)
    talk.user(later)
    assert [c.text for c in rebuild(talk.turns).constraints] == [earlier, later]


def test_a_permission_that_lifts_nothing_is_not_a_constraint(talk: Conversation) -> None:
    talk.user("You can use the second file now.")
    assert rebuild(talk.turns).constraints == ()
