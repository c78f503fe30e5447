"""Messages that point back at something said or done before, and messages that only look like it.

Labelled by what a careful reader would say of the words alone, in a session of some length. Not pointing back: tasks,
new facts, standing wishes, descriptions of features that remember or go back, and everything quoted, pasted or in code.
Written before the patterns were tuned; HELD_OUT (a third, by checksum) was never tuned on.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Labelled:
    text: str
    refers: bool


REFERS = r"""
like we discussed, use the other parser
Do it As Before.
Remember when the import failed?
go back to the first version
open that file again
that ERROR is back
what did we say about caching?
do what we did with the tokens
as I said, no globals
Like I mentioned: tabs
we already fixed it, didn't we?
the previous approach was better
which flag did you use?
have we talked about Redis?
earlier you had a test for it
AS WE AGREED, KEEP IT SYNCHRONOUS
What did I say about the licence?
I told you the port before
Why did we drop the second index?
Where did we leave off with the migration?
Use the name we agreed on.
Apply the fix you suggested to the other module too.
what was the name of that flag again?
which library did we pick for the charts?
Did we decide on a retry limit?
Didn't we say the cache should be off in tests?
Can you find the error I pasted earlier?
Let's go back to what we had with the queue.
can we go back to the design with two tables
That function still returns None.
Please undo that change.
fix that bug first
I still get that warning.
Is that test still flaky?
what about that idea with the event log?
the first approach was simpler, take it
Use the same settings as last time.
same as before, but for the billing service
Take the wording from your first draft.
Your earlier suggestion about weak references, how would it look?
My original question was about locking.
our initial plan had three steps, which is next?
How did we solve the deadlock?
remind me why we chose UUIDs
Do you remember the name of the customer?
can you still remember what the limit was
Finish what we started with the exporter
the command you ran for the coverage report, run it on main
the script we wrote for the import needs a dry run option
you mentioned a race in the scheduler, where is it?
you said something about a race earlier
We talked about this a while ago: no retries on 4xx.
Earlier we had two exporters, what happened to the other one?
In our last session we found a leak, is it closed?
at the beginning of this conversation I gave you a list, is it done?
As discussed, ship it without the banner.
As agreed: only patch releases.
like last time, with the verbose flag
What have we tried so far against the memory leak? we tried the arena thing
the other idea was to batch the writes, do it
How does that compare to the solution you proposed?
What did you find in the nginx config?
We decided something about timeouts. Follow it.
Who did we say owns the deploy key?
why is T12 relevant?
see T7
What's the status of the thing I asked for earlier?
hat das was mit dem Fehler zu tun, den wir besprochen haben?
Wie besprochen bitte ohne ORM.
wie vorhin, aber für die andere Tabelle
Was haben wir zum Caching entschieden?
Nimm den Namen, den wir vereinbart haben.
Erinnerst du dich an den Fehler beim Import?
Zurück zu unserem ersten Plan.
Dieser Fehler ist wieder da.
Hatten wir nicht gesagt, dass der Cache aus bleibt?
Dein erster Vorschlag war besser.
Wie schon gesagt: keine globalen Variablen.
Comme on a dit, pas d'ORM.
Qu'est-ce qu'on avait décidé pour le cache ?
Tu te souviens du bug de l'import ?
Rappelle-moi pourquoi on a choisi Postgres.
Ta première proposition était meilleure.
Cette erreur est revenue.
Revenons à la première approche.
Comme convenu, sans bannière.
Utilise le nom dont on avait parlé.
Como dijimos, sin ORM.
¿Qué decidimos sobre la caché?
¿Te acuerdas del error de importación?
Volvamos a la primera versión.
Ese error ha vuelto.
Tu primera propuesta era mejor.
Usa el nombre que acordamos antes.
Como antes, pero con la otra tabla.
Como combinamos, sem ORM.
O que decidimos sobre o cache?
Você se lembra do erro na importação?
Vamos voltar à primeira abordagem.
Aquele erro voltou.
Sua primeira proposta era melhor.
Como já falamos, nada de variáveis globais.
Come abbiamo detto, niente ORM.
Cosa avevamo deciso per la cache?
Ti ricordi l'errore dell'importazione?
Torniamo alla prima versione.
Quell'errore è tornato.
La tua prima proposta era migliore.
Come prima, ma con l'altra tabella.
さっき言った通り、ORMなしで。
キャッシュについて何を決めましたか?
インポートのエラーを覚えていますか?
最初の案に戻してください。
あのエラーがまた出ました。
前に話した関数はどこですか?
先ほどの提案でお願いします。
像之前说的那样，不要用ORM。
我们关于缓存决定了什么？
还记得那个导入错误吗？
回到最初的方案。
那个错误又出现了。
用我们说过的名字。
刚才的建议更好。
""".strip().splitlines()

DOES_NOT = r"""
fix the bug in auth.py
Write a function that filters even numbers
add a test
Explain `git log --before earlier` please
the profile of the thatched roof
T-shirts and UTF8
Rename the variable that holds the file name.
Check that file handles are closed.
Write a script that files bugs in the tracker.
Make sure that code compiles on Windows.
Add an option so that errors are printed in red.
Sort the rows that changes affect most.
Print the first ten lines of the file.
Show me the last commit.
Remove the old build folder.
Put the import at the beginning of the file.
Insert the header at the start of each file.
The app should remember the window size.
Add a "remember me" checkbox to the login form.
Remember to close the socket.
The back button should go back to the list page.
When the user presses Esc, go back to the main menu.
Which versions earlier than 3.9 do we support?
Drop support for earlier versions of Node.
Run the tests.
Run the tests again.
try again
Commit everything with the message "as discussed earlier".
Rename the section "What we decided" to "Decisions".
Translate "like we said before" into French.
What does "as I said" mean in this poem?
Add a undo button for the previous step.
The carousel shows the previous and the next picture.
Write a migration that adds a column for the previous address.
Store the original file name in the metadata.
Keep the original order of the elements.
Replace the former with the latter in sentence two.
How do I check out the previous commit in git?
Explain how git revert differs from git reset.
Which function has the highest complexity?
How do closures capture variables?
What is the difference between a list and a tuple?
Never use an ORM here, raw SQL only.
Always run the tests before you commit.
Let's use JWT.
We go with PostgreSQL.
I deployed yesterday and the site is slow.
The cron job ran last night and failed.
The customer told us last week that the export is broken.
My colleague said it only happens on Windows.
He mentioned a bug in the scheduler.
The docs say the API was changed in 2.0.
The spec was discussed by the committee in March.
Write a story that begins "a long time ago".
Add a field "last_time_seen" to the user.
Show a message when the session expires.
Start a new chat session in the test.
Implement a conversation view for the support inbox.
The discussion forum needs pagination.
Add a "decision" column to the table.
Create a file called earlier.py
Delete the word "previously" in README.md.
Count how often "again" occurs in the text.
Does that make sense?
That's great, thanks!
That is not correct, the sum must be 42.
I think that way is fine.
Use a dict for that.
ok
yes
no, the other way round
continue
thanks
Can you make it faster?
Why is the sky blue?
Why is this slow?
Is there a way to do this without a loop?
Do you have access to the network?
Have you got a minute?
We have a new requirement: export to CSV.
We need a test for each endpoint.
You can use the standard library.
I want to add a login page.
I have two monitors, which one is picked?
You are a helpful assistant. Summarise the following.
If we had said no, what would the law require?
Suppose that errors are rare. What then?
Update the changelog for version 2.1.
The first argument is the path, the last one a callback.
Use the last element of the list as the pivot.
Give the old name a deprecation warning.
Load the previous page when scrolling up.
Compare this file with the previous release on PyPI.
Write docs for the "go back to" command.
Make the T1 and T2 variables private.
Use an AWS t2.micro with a T4 GPU.
The UTF8 decoder fails at byte T-1.
Check T0 < T1 in the solver.
Calculate the time between the two events.
Sleep less than before each retry.
Before you start, read CONTRIBUTING.md.
The value must be the same as the default.
Set it back to zero.
Move the cursor back to column one.
Bring the colours back to the palette of the brand.
"What did we decide about caching?" is a good headline, find two more.
> as we discussed, use the other parser
> what did we say?
Answer this mail for me:
How did the Romans build roads?
What did Turing write about morphogenesis?
When did Python get f-strings?
Where did the term "bug" come from?
Who did the first moon landing?
What did the compiler do here: -O2 or -O3?
Schreibe eine Funktion, die gerade Zahlen filtert.
Führe die Tests aus.
Wie funktioniert der Garbage Collector?
Die App soll sich die Fenstergröße merken.
Der Zurück-Knopf soll zur Liste führen.
Benenne die Variable um.
Was ist der Unterschied zwischen Liste und Tupel?
Verwende nie ein ORM.
Gib die ersten zehn Zeilen aus.
Écris une fonction qui filtre les nombres pairs.
Lance les tests.
L'application doit se souvenir de la taille de la fenêtre.
Quelle est la différence entre une liste et un tuple ?
N'utilise jamais d'ORM.
Affiche les dix premières lignes.
Comment fonctionne le ramasse-miettes ?
Escribe una función que filtre los números pares.
Ejecuta las pruebas.
La aplicación debe recordar el tamaño de la ventana.
¿Cuál es la diferencia entre una lista y una tupla?
Nunca uses un ORM.
¿Qué hace este archivo?
Escreva uma função que filtre números pares.
Execute os testes.
O aplicativo deve lembrar o tamanho da janela.
Qual é a diferença entre uma lista e uma tupla?
Nunca use um ORM.
O que faz este arquivo?
Scrivi una funzione che filtri i numeri pari.
Esegui i test.
L'applicazione deve ricordare la dimensione della finestra.
Qual è la differenza tra una lista e una tupla?
Non usare mai un ORM.
Cosa fa questo file?
偶数だけを残す関数を書いてください。
テストを実行してください。
もう一度テストを実行してください。
ウィンドウの大きさを記憶する機能を追加して。
リストとタプルの違いは何ですか?
ORMは使わないでください。
この関数の前にコメントを入れて。
写一个过滤偶数的函数。
运行测试。
再运行一次测试。
应用应该记住窗口大小。
列表和元组有什么区别？
不要使用ORM。
在文件的前面加上注释。
""".strip().splitlines()

BLOCKS = (
    Labelled("```\n# as we discussed earlier\nremember when\n```\nrun this", False),
    Labelled("What is wrong here?\n\n    # what did we say about this?\n    return None", False),
    Labelled("Explain this log:\n2026-01-02 10:00:00 INFO as before, retrying that file\nERROR: previous error", False),
    Labelled("Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: what did we decide", False),
    Labelled("Review this diff:\ndiff --git a/x b/x\n@@ -1 +1 @@\n-# as I said\n+# like we discussed", False),
    Labelled("", False),
    Labelled("   \n", False),
    Labelled("```\ncode\n```\nas we discussed, make this async", True),
    Labelled("Here is the log:\nERROR: boom\nIsn't that the error you fixed earlier?", True),
    Labelled("> some quoted mail\nWhat did we decide about that?", True),
)  # fmt: skip

MESSAGES = (
    *(Labelled(text, True) for text in REFERS),
    *(Labelled(text, False) for text in DOES_NOT),
    *BLOCKS,
)


def held_out(message: Labelled) -> bool:
    return zlib.crc32(message.text.encode()) % 3 == 0


HELD_OUT = tuple(message for message in MESSAGES if held_out(message))
TUNING = tuple(message for message in MESSAGES if not held_out(message))
