"""More messages, written after the first rules were, in the manner of people who do not write for a rule.

Longer, messier, with typing errors, several sentences each, orders that are no constraints and constraints without a
signal word. Read for the first time, the rules found half of them (precision 0.80, recall 0.51); they have since been
mended for two thirds of these, and the third that is held out shows how far that carries.
"""

from __future__ import annotations

from tests.state.labelled import Labelled

LATER: tuple[Labelled, ...] = (
    Labelled(
        "Hi! We're building a small CLI for invoices. Python 3.11, no frameworks please. Start by looking around and "
        "tell me what's there.",
        constraints=("no frameworks please",),
    ),
    Labelled(
        "can u add a --json flag? and pls dont break the existing output",
        constraints=("dont break the existing output",),
    ),
    Labelled("The migration failed again. I think it's the lock. Can you check whether we always release it?"),
    Labelled(
        "Good. Two more things: 1) tests must run offline 2) never hardcode paths",
        constraints=("tests must run offline",),
    ),
    Labelled("Not sure about Redis. What would you use?"),
    Labelled("ok redis it is", decisions=("redis it is",)),
    Labelled("hmm, I think we should go with postgres after all", decisions=("go with postgres",)),
    Labelled("Remove the dead code in utils.py, then run ruff. If ruff complains about imports, fix only those."),
    Labelled("I changed my mind: don't use click, argparse is fine.", constraints=("don't use click",)),
    Labelled("The function should return None, not raise."),
    Labelled("Why did you edit setup.py? I told you not to touch it!"),
    Labelled("Never mind."),
    Labelled("never mind that, look at the parser instead"),
    Labelled("You always write too many comments. Please don't.", constraints=("Please don't.",)),
    Labelled("Make the button blue, not green."),
    Labelled(
        "Add retries to the HTTP client. Max 3, exponential backoff, and under no circumstances retry POST requests.",
        constraints=("under no circumstances retry POST requests",),
    ),
    Labelled("Everything in this repo is MIT licensed, so nothing GPL, ever.", constraints=("nothing GPL, ever",)),
    Labelled(
        "The customer must be able to cancel at any time. Implement that.", constraints=("must be able to cancel",)
    ),
    Labelled("it must be something with the timezone"),
    Labelled("We only support Linux and macOS.", constraints=("We only support Linux and macOS.",)),
    Labelled("Only two tests fail now, nice."),
    Labelled("only the second one fails"),
    Labelled("please only look, do not change anything", constraints=("do not change anything",)),
    Labelled("Let's have a look at the failing test."),
    Labelled("Let's not overthink this."),
    Labelled("let's do it"),
    Labelled("Let's do sessions in cookies instead of JWT.", decisions=("Let's do sessions in cookies",)),
    Labelled("We're not going with Kubernetes.", decisions=("not going with Kubernetes",)),
    Labelled("I'd go with B but it's your call"),
    Labelled("If nothing speaks against it we go with YAML for the config.", decisions=("we go with YAML",)),
    Labelled("Decided against the plugin system, too much work.", decisions=("Decided against the plugin system",)),
    Labelled("I decided to take a break, back in 10"),
    Labelled("She decided that the deadline is Friday."),
    Labelled("How should we decide between the two?"),
    Labelled("The plan: parse, validate, store. Do the parsing first."),
    Labelled(
        "use the logging module instead of print everywhere", constraints=("use the logging module instead of print",)
    ),
    Labelled("Use the other branch instead of this one for the comparison."),
    Labelled("indent with 2 spaces, never tabs", constraints=("indent with 2 spaces, never tabs",)),
    Labelled("Names in snake_case only.", constraints=("Names in snake_case only.",)),
    Labelled("Keep all secrets out of the repo!", constraints=("Keep all secrets out of the repo",)),
    Labelled("Whatever you do, don't delete the backups.", constraints=("don't delete the backups",)),
    Labelled("I never want to see a bare except again.", constraints=("I never want to see a bare except again",)),
    Labelled("I don't like this. Do it differently."),
    Labelled("I don't want you to commit anything.", constraints=("I don't want you to commit anything.",)),
    Labelled("You can skip the docs, I don't need them now."),
    Labelled("It is important that the parser never blocks.", constraints=("the parser never blocks",)),
    Labelled("The worker never blocks, does it?"),
    Labelled("every PR needs a changelog entry, always", constraints=("every PR needs a changelog entry",)),
    Labelled("Run `make test` after each change from now on", constraints=("from now on",)),
    Labelled("Do the same for the other three files."),
    Labelled("Do not worry, it's only a test database."),
    Labelled("dont know, maybe the cache?"),
    Labelled("Don't you dare push that.", constraints=("push that",)),
    Labelled("Don't forget to close the file."),
    Labelled("the docs are only in english so far, could you add a german version"),
    Labelled("must be the proxy again..."),
    Labelled("You must have missed the second argument."),
    Labelled("the id must be unique and must not contain spaces", constraints=("must be unique and must not contain",)),
    Labelled("User story: As a user I want to always see my balance."),
    Labelled("In the story the hero must never look back. Rewrite the ending."),
    Labelled("This is what the linter says:\n  src/a.py:3:1: E722 do not use bare 'except'\nplease fix"),
    Labelled(
        "npm run build gives\n\nModule not found: Error: Can't resolve './x'\n"
        "You must install peer dependencies yourself."
    ),
    Labelled("From the style guide:\n> Always use single quotes.\n> Never use semicolons.\nApply that to app.js"),
    Labelled(
        "We follow PEP 8 except for line length, which must be 110.", constraints=("line length, which must be 110",)
    ),
    Labelled("I prefer the first version."),
    Labelled("I'd prefer if you asked before running anything.", constraints=("asked before running anything",)),
    Labelled("Rename it to `always_on`, don't keep the old name.", constraints=("don't keep the old name",)),
    Labelled("thx! commit pls, message: never retry POST"),
    Labelled("Ok, wir machen das mit Redis.", decisions=("wir machen das mit Redis",)),
    Labelled("bitte kein sudo verwenden", constraints=("kein sudo",)),
    Labelled("Schau dir mal die Tests an, die laufen nie durch."),
    Labelled("Mach das bitte nur in src, nicht in tests.", constraints=("nur in src",)),
    Labelled("Ich will, dass du immer erst fragst, bevor du etwas löschst.", constraints=("immer erst fragst",)),
    Labelled("Müssen wir das wirklich immer neu laden?"),
    Labelled("Kommentare bitte immer auf Englisch.", constraints=("Kommentare bitte immer auf Englisch.",)),
    Labelled("On garde SQLite pour l'instant.", decisions=("On garde SQLite",)),
    Labelled("Surtout, ne supprime rien sans me demander.", constraints=("ne supprime rien sans me demander",)),
    Labelled("Je ne sais pas pourquoi ça plante."),
    Labelled("Les commentaires toujours en anglais, s'il te plaît.", constraints=("toujours en anglais",)),
    Labelled("No borres nada sin preguntar.", constraints=("No borres nada",)),
    Labelled("no me funciona el login"),
    Labelled("Al final nos quedamos con MySQL.", decisions=("nos quedamos con MySQL",)),
    Labelled("não apague nada sem perguntar", constraints=("não apague nada",)),
    Labelled("não entendi, explica de novo"),
    Labelled("Alla fine usiamo Redis.", decisions=("usiamo Redis",)),
    Labelled("non cancellare niente senza chiedere", constraints=("non cancellare niente",)),
    Labelled("勝手にコミットしないでください。", constraints=("勝手にコミットしないでください",)),
    Labelled("テストが必ず失敗します。"),
    Labelled("コメントは英語で書いてください。"),
    Labelled("别删除任何文件。", constraints=("别删除任何文件",)),
    Labelled("我觉得必须是缓存的问题。"),
    Labelled("注释一律用英文写。", constraints=("注释一律用英文写",)),
    Labelled("别的地方也有这个问题。"),
)
