"""Harder messages still: several languages, code and quotes inside of orders, denials, indirect wishes, and much that
sounds like a rule and is none. Labelled before the rules were ever run on them.

HARD is what the rules read at precision 0.81 and recall 0.50 at first, and were then mended for. FRESH was written and
labelled after that, and no rule was changed for it: it shows how far the mending carries.
"""

from __future__ import annotations

from tests.state.labelled import Labelled

HARD: tuple[Labelled, ...] = (
    # Code and quotes inside
    Labelled("Never call `os.system`, use `subprocess.run` with a list.", constraints=("Never call `os.system`",)),
    Labelled("The comment says `# never change this`, but it is out of date: change it."),
    Labelled('He wrote "always use tabs" in the review. Ignore that.'),
    Labelled("```python\n# you must always close the file\nf.close()\n```\nWhy does this raise?"),
    Labelled(
        "Look at this:\n```\nERROR: you must not be root\n```\nIt must never ask for root.",
        constraints=("It must never ask for root.",),
    ),
    Labelled("`git push --force` is off limits.", constraints=("is off limits",)),
    Labelled("Replace every `always` by `never` in the docs."),
    Labelled("Translate this: «N'utilise jamais sudo»."),
    Labelled(
        "Don't use `Any` in the public API; inside a module I don't care.", constraints=("Don't use `Any` in the",)
    ),
    Labelled("> Please never merge on Fridays.\nThat is from the handbook. Do we follow it?"),
    # Denied and limited
    Labelled("You don't have to run the tests every time."),
    Labelled("It's not forbidden to use globals, it's just ugly."),
    Labelled("I didn't say never, I said rarely."),
    Labelled("There is no need to always validate twice."),
    Labelled("We haven't decided on the database yet."),
    Labelled("That's not what we agreed on."),
    Labelled("I wouldn't say we should go with Kafka."),
    Labelled("We no longer have to support Python 3.8."),
    Labelled("Not all tests must pass for a draft."),
    Labelled("Without a doubt the cache is wrong."),
    # Indirect
    Labelled("It would be great if you never touched the lock file.", constraints=("never touched the lock file",)),
    Labelled("I'd appreciate it if all messages were in English.", constraints=("all messages were in English",)),
    Labelled("I'd be happier if you didn't rename things on the way.", constraints=("didn't rename things",)),
    Labelled("Please make sure nothing in this folder ever gets deleted.", constraints=("ever gets deleted",)),
    Labelled("Please refrain from adding emojis to commit messages.", constraints=("refrain from adding emojis",)),
    Labelled("Leave the public API alone.", constraints=("Leave the public API alone.",)),
    Labelled("Hands off the production database!", constraints=("Hands off the production database",)),
    Labelled("Stay away from the billing code, please.", constraints=("Stay away from the billing code",)),
    Labelled("Python 3.9 has to keep working.", constraints=("has to keep working",)),
    Labelled("Every commit needs to build on its own.", constraints=("Every commit needs to build",)),
    Labelled("No exceptions may escape from the worker thread.", constraints=("No exceptions may escape",)),
    Labelled("Nobody is allowed to write to that table but the importer.", constraints=("Nobody is allowed to write",)),
    Labelled("The token may not appear in any log.", constraints=("may not appear in any log",)),
    Labelled("Response times have to stay below 200 ms.", constraints=("have to stay below 200 ms",)),
    Labelled(
        "Whenever you change the schema, update the fixtures too.", constraints=("Whenever you change the schema",)
    ),
    # Decisions said in passing
    Labelled("Fine, Postgres then.", decisions=("Postgres then",)),
    Labelled("OK, so we'll keep the old parser for now and see.", decisions=("we'll keep the old parser",)),
    Labelled("After a long talk the team settled on gRPC.", decisions=("settled on gRPC",)),
    Labelled("Agreed: one file per command.", decisions=("one file per command",)),
    Labelled("Let's call the package `weft`, and the command too.", decisions=("Let's call the package",)),
    Labelled("We have chosen the second design; the first was too slow.", decisions=("chosen the second design",)),
    Labelled("I've made up my mind: no ORM for this project.", decisions=("I've made up my mind",)),
    Labelled("Decision from today's call: we drop Windows.", decisions=("we drop Windows",)),
    # Reports, stories, guesses
    Labelled("My old boss always said that tests are for the weak."),
    Labelled("In the test the user must log in twice, and that fails."),
    Labelled("It should never have come to this."),
    Labelled("The customers always complain about the export."),
    Labelled("I must admit that I like it."),
    Labelled("You never know with this API."),
    Labelled("The old code must be somewhere in the attic."),
    Labelled("Write a function that must be called with two arguments or raises."),
    # Other languages
    Labelled("Fass die Produktionsdaten nicht an.", constraints=("Fass die Produktionsdaten nicht an",)),
    Labelled("Alle Texte müssen auch auf 80 Spalten lesbar sein.", constraints=("müssen auch auf 80 Spalten",)),
    Labelled("Das muss am Zeitstempel liegen, oder?"),
    Labelled("Mir wäre lieb, wenn du vor jedem Commit die Tests laufen lässt.", constraints=("Mir wäre lieb",)),
    Labelled("Wir haben uns für SQLite entschieden, wie besprochen.", decisions=("für SQLite entschieden",)),
    Labelled("Der Kunde muss immer zweimal klicken, das nervt."),
    Labelled("Il ne faut jamais écrire dans ce dossier.", constraints=("jamais écrire dans ce dossier",)),
    Labelled("Il faut que je parte, à demain."),
    Labelled("Finalement on part sur FastAPI.", decisions=("on part sur FastAPI",)),
    Labelled("Touche pas à la config de prod.", constraints=("Touche pas à la config",)),
    Labelled("Nunca uses variables globales en este proyecto.", constraints=("Nunca uses variables globales",)),
    Labelled("Siempre falla en el mismo sitio."),
    Labelled("Hemos decidido usar Redis para las colas.", decisions=("Hemos decidido usar Redis",)),
    Labelled("Nunca faça push direto na main.", constraints=("Nunca faça push",)),
    Labelled("Non usare mai `eval` in questo progetto.", constraints=("Non usare mai `eval`",)),
    Labelled("このファイルは絶対に変更しないでください。", constraints=("絶対に変更しないでください",)),
    Labelled("データベースはPostgreSQLにします。", decisions=("PostgreSQLにします",)),
    Labelled("このテストはいつも失敗しますか?"),
    Labelled("不要修改公共接口。", constraints=("不要修改公共接口",)),
    Labelled("我们决定用Redis。", decisions=("我们决定用Redis",)),
    Labelled("这个必须是网络的问题吗?"),
)

FRESH: tuple[Labelled, ...] = (
    Labelled("I'd love it if no function had more than one job.", constraints=("no function had more than one job",)),
    Labelled("Steer clear of regular expressions in the parser.", constraints=("Steer clear of regular expressions",)),
    Labelled("Let the generated files alone."),
    Labelled("No secrets may end up in the repository.", constraints=("No secrets may end up",)),
    Labelled("The binary has to stay under 10 MB.", constraints=("has to stay under 10 MB",)),
    Labelled("I have to stay late today."),
    Labelled("Each time you touch the API, bump the version.", constraints=("Each time you touch the API",)),
    Labelled("Every time I run it, it hangs."),
    Labelled("`make deploy` must only run on main.", constraints=("must only run on main",)),
    Labelled("Is `make deploy` allowed on a branch?"),
    Labelled("Not every warning must be fixed."),
    Labelled("SQLite then, and we keep it.", decisions=("SQLite then, and we keep it.",)),
    Labelled("It was broken back then."),
    Labelled("We agreed on tabs yesterday, so convert the files.", decisions=("We agreed on tabs yesterday",)),
    Labelled("Let's name things properly this time."),
    Labelled("Let's switch over to uv for everything.", decisions=("Let's switch over to uv",)),
    Labelled("Ensure that every endpoint has a test.", constraints=("Ensure that every endpoint has a test.",)),
    Labelled("Are you sure every endpoint has a test?"),
    Labelled("Please keep out of `vendor/`.", constraints=("keep out of `vendor/`",)),
    Labelled('The spec says "clients must never retry"; does ours?'),
    Labelled("```\nnever\n```\nis what it prints."),
    Labelled("Avoid clever one-liners, I have to read this in a year.", constraints=("Avoid clever one-liners",)),
    Labelled("Nothing must be written to stdout in quiet mode.", constraints=("Nothing must be written to stdout",)),
    Labelled("Ändere niemals die öffentliche Schnittstelle.", constraints=("Ändere niemals",)),
    Labelled("Ich fände es gut, wenn du weniger Kommentare schreibst.", constraints=("weniger Kommentare",)),
    Labelled("Wir bleiben bei Postgres.", decisions=("Wir bleiben bei Postgres.",)),
    Labelled("Change rien dans ce dossier.", constraints=("Change rien dans ce dossier.",)),
    Labelled("On a choisi Redis hier.", decisions=("On a choisi Redis",)),
    Labelled("No toques la base de datos de producción.", constraints=("No toques la base de datos",)),
    Labelled("Não use bibliotecas externas.", constraints=("Não use bibliotecas externas.",)),
    Labelled("禁止直接修改数据库。", constraints=("禁止直接修改数据库",)),
    Labelled("テストなしでコミットしないでください。", constraints=("コミットしないでください",)),
)
