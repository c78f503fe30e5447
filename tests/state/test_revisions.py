"""What takes something back, in the eight languages, and what only looks like it."""

from __future__ import annotations

import pytest

from loom.state.revisions import MAX_CHARS, revising_passages

TAKES_BACK = """
I changed my mind: SQLite it is.
Actually, let's use SQLite instead.
Forget what I said about the ORM.
Please switch to pnpm.
We no longer support Python 3.8.
On second thought, keep the old URL scheme.
Let's go back to REST.
Use httpx instead.
That rule about commits is off.
Correction: port 9000.
Scrap that, we use Redis.
We don't need the cache anymore.
Ich habe es mir anders überlegt, nehmen wir SQLite.
Vergiss das mit dem ORM.
Wir verwenden Redis doch nicht.
J'ai changé d'avis, on prend SQLite.
Oublie ce que j'ai dit sur les tabulations.
On n'utilise plus Redis.
He cambiado de opinión, usemos SQLite.
Ya no usamos Redis.
Mudei de ideia, vamos usar SQLite.
Não usamos mais Redis.
Ho cambiato idea, usiamo SQLite.
Non usiamo più Redis.
気が変わりました。SQLiteを使いましょう。
やっぱりSQLiteにしましょう。
Redisはもう使わないでください。
我改主意了，用SQLite。
还是改用SQLite吧。
我们不再使用Redis。
""".strip().splitlines()

TAKES_NOTHING_BACK = """
The tests no longer pass.
Actually it works now.
Don't forget about the tests.
Should we switch to pnpm instead?
If we switch to Redis, what breaks?
switch to the main branch
The compiler no longer complains.
We no longer see that error.
Can you run the tests again?
Why did it change its mind?
Let's use Redis.
Never use an ORM.
replace foo with bar in README.md
It crashes instead of printing an error.
Actually, can you run the tests against the database?
ignore the warning for now
What did I say instead?
The user changed their mind and closed the dialog.
add a button "I changed my mind" to the form
> I changed my mind
Das geht nicht mehr.
Ça ne marche plus.
Ya no funciona.
Não funciona mais.
Non funziona più.
もう一度テストを実行してください。
改成大写
""".strip().splitlines()


@pytest.mark.parametrize("message", TAKES_BACK)
def test_it_takes_something_back(message: str) -> None:
    assert revising_passages(message)


@pytest.mark.parametrize("message", [*TAKES_NOTHING_BACK, "", "```\nI changed my mind\n```"])
def test_it_takes_nothing_back(message: str) -> None:
    assert revising_passages(message) == ()


def test_the_next_sentence_goes_along_for_it_says_what_holds_instead() -> None:
    message = "Thanks. I changed my mind. The port is 9000. Now run the tests."
    assert revising_passages(message) == ("I changed my mind. The port is 9000.",)


def test_of_a_pasted_novel_only_the_beginning_is_read() -> None:
    assert revising_passages("word " * MAX_CHARS + ". I changed my mind.") == ()
