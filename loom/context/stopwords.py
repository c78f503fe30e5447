"""Words of a message that carry no subject, in the languages that loom knows: not worth searching for."""

from __future__ import annotations

_WORDS = """
a about again ago all already also am an and any are as at back be been before but by can come could did do does doing
done earlier first for former from get go going had has have having he her him his how i if in into is it its just
know last let let's like long look made make me mentioned more my need no not now of old on one or original other our
out please previous previously put remember said same say see she should show so some start still sure talked tell than
that the their them then there these they thing this those time to told too tried try up us use used using want was way
we were what when where which while who why will with would yes you your find fix open run agreed decided decide
discussed suggested suggest mention proposed take apply i'm it's didn't don't
aber also am an auch auf aus bei beim bin bitte da dann das dass dem den der des die dies diese diesen dieser doch du
ein eine einem einen einer er es für haben hat hatte hatten ich ihr im in ist ja jetzt kein keine mal mit nach nicht
noch nimm nur oder ohne schon sein sich sie sind über um und uns unser unsere vom von vor war was wenn wer wie wieder
wir wird zu zum zur zurück gesagt besprochen entschieden
ai au aux avait avec avons bien ce ces cet cette comme dans de des dit du elle en est et il je la le les leur lui ma
mais me mes moi mon ne nos notre nous on ont ou où par pas plus pour pourquoi quand que quel quelle qui quoi sa sans
se ses si son sont sur ta te tes ton tu un une vers vos votre vous à été être avant dont
al antes como con cuando cuál cómo de del desde donde dónde el ella en era es esa ese eso esta este esto está ha han
hay la las le lo los me mi mis muy más ni no nos o para pero por porque que quien qué se ser si sin sobre su sus sí
también te tu tus un una usa y ya yo
ao aos aquela aquele as até com como da das de do dos e ela ele em era essa esse esta este está eu foi isso já lhe
mais mas me meu minha muito na nas no nos nossa nosso não o onde os ou para pela pelo por porque qual quando que quem
se sem ser seu sim sua são também te tem um uma você à é
agli ai al alla anche che chi ci come con cosa da dal dalla dei del della delle di dove e ed era gli ha hai hanno ho
i il in io la le lei lo loro lui ma mi mia mio ne nei nel nella no noi non nostra nostro o per perché più prima qual
quale quando quella quello questa questo se sei si sia sono su sua suo sul sulla te ti tra tu tua tuo un una uno è
"""
STOP_WORDS = frozenset(_WORDS.split())
