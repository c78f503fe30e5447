"""How people point back at what was said before, in the languages that loom knows.

Every language is tried on every message: people mix them, and guessing the language of three words is worse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Referring:
    """Patterns over a message in lower case, without code and quotations."""

    openly: re.Pattern[str]
    """Speaks of the conversation itself: `as we discussed`, `remember when`."""
    loosely: re.Pattern[str]
    """Means something that both know, most often what is on the table: `that error`, `the first approach`."""


def _cue(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


_SAID = (
    r"(?:agreed|decided|discussed|mentioned|planned|said|talked|settled|suggested|proposed|told|promised|chose|picked"
    r"|explained|noted|figured|concluded|tried|used|wrote|did|fixed|found|named|called)"
)
_SAY = (
    r"(?:agree|decide|discuss|mention|plan|say|talk|settle|suggest|propose|tell|choose|pick|conclude|try|figure"
    r"|call|name)"
)
_THING = (
    r"(?:approach|bug|change|class|command|commit|crash|decision|design|discussion|draft|error|exception|failure|file"
    r"|fix|flag|function|idea|issue|list|method|module|one|option|plan|problem|query|question|refactoring|script"
    r"|setting|snippet|stack\ trace|suggestion|table|test|thing|traceback|version|warning|workaround)"
)
_TOLD = (
    r"(?:answer|approach|attempt|conversation|decision|design|discussion|draft|error|example|fix|idea|instructions?"
    r"|message|one|option|plan|point|problem|proposal|question|reply|request|response|session|solution|suggestion"
    r"|task|topic|version|way|workaround)"
)
_BEFORE_THAT = (
    r"(?:^|[.,;:?!\n]\s*|\b(?:open|in|of|to|fix|with|from|about|for|show|use|and|is|was|run|at|on|into|read|undo"
    r"|revert|does|did|do|remove|rename|delete|move|edit|update|rerun|explain|finish|what|why|where|how|like|by"
    r"|than|but|or|not|me|still|solve|debug|reproduce|apply|keep|drop|close|reopen|revisit|had|has|have|got|get|see"
    r"|find)\s+)"
)

ENGLISH = Referring(
    openly=_cue(
        rf"""
        (?<!here's\ )(?<!here\ is\ )(?<!this\ is\ )\b(?!when\ you\ (?:called|named|used|tried|found)\b)
            (?:like|as|what|which|where|that|how|when|than|why|whatever|the\ \w+)\ (?:we|i|you)(?:'d|'ve|\ had|\ have)?
            \ (?:(?:all|both|already|originally|initially|first|last|just)\ )?{_SAID}\b
        | \b(?:what|why|how|where|when|who|which\ \w+(?:\ \w+)?)\ did\ (?:we|i)\b
        | \b(?:what|which|where|how|when)\ (?:\w+\ )?did\ you\ {_SAY}\b
        | \b(?:did|didn't|had|hadn't|have|haven't)\ (?:we|i|you)\ (?:not\ )?(?:already\ |ever\ |once\ |previously\ )?
            (?:{_SAID}|{_SAY})\b
        | \b(?:you|we)\ (?:mentioned|suggested|proposed|discussed|agreed|decided|said)\b
        | \bas\ (?:agreed|discussed|decided|planned|mentioned|said|promised)\b(?!\ (?:in|by|on)\ (?:the|our)\ (?:api
            |docs?|documentation|issue|manual|readme|rfc|spec\w*|standard|ticket|wiki)\b)
        | \b(?:as|like)\ (?:before|last\ time)\b | \bsame\ (?:\w+\ ){{0,3}}as\ (?:before|last\ time|earlier|we|you)\b
        | \bfrom\ (?:before|earlier)\b(?!\ (?!(?:again|and|as|but|for|in|instead|into|is|on|once|or|so|still|that|to
            |today|was|we|were|when|where|with|you)\b)\w) | \blast\ time\ (?:we|you|i)\b
        | \bremember\ (?:when|how\ (?:we|you|i)|what\ (?:we|you|i)|why\ we|that\ (?:time|thing|bug|error
            |discussion|idea
            |issue|conversation)|our)\b
        | \b(?:do|can|don't)\ you\ (?:still\ )?(?:remember|recall)\b
        | \bwe\ (?:talked|spoke)\ about\b | \bwhere\ were\ we\b(?!\ \w)
        | \bremember\b[^.?!]{{0,60}}\b(?:we|you|i)\ (?:had|saw|made|set|{_SAID})\b
        | \bremind\ me\b(?!\ (?:to|later|in|at|on|every)\b)
        | (?:^|[.,;]\s|\b(?:let's|let\ us|can\ we|could\ we|shall\ we|please|we\ should|want\ to|like\ to|now)\ )
            (?:now\ )?(?:go|get|come|switch)(?:ing)?\ back\ to\ (?:the|that|our|your|what|my|how|using|where)\b
            (?!\ (?:(?:previous|last|first|next)\ )?(?:main|master|top|list|home|login|index|menu|root|page|screen
            |beginning|start|parent|step|view|tab|window))
        | \b(?:we|you)\b[^.?!\n]{{0,60}}\b(?:earlier|previously|a\ while\ (?:ago|back)|long\ ago|the\ other\ day)\b
            (?!\ (?:than|versions?|releases?))
        | \bi\ (?:\w+\ )?(?:{_SAID}|asked|showed|gave|sent|pasted)\b[^.?!\n]{{0,60}}\b(?:earlier|previously|before
            |a\ while\ (?:ago|back)|at\ the\ (?:start|beginning))\b
        | (?:^|[.;,]\s)(?:earlier|previously),?\ (?:we|you|i|today|in\ (?:this|our))\b
        | \b{_SAID}\ (?:earlier|previously|above|last\ time)\b
        | \b(?:earlier|before|back)\ in\ (?:this|our|the)\ (?:session|conversation|chat|discussion|thread)\b
        | \bat\ the\ (?:very\ )?(?:start|beginning)\ of\ (?:this|our|the)\ (?:session|conversation|chat|discussion)\b
        | \b(?:we|you)\b[^.?!\n]{{0,50}}\bat\ the\ (?:very\ )?(?:start|beginning|outset)\b(?!\ of\ (?:the|each
            |every|a)\b)
        | \bin\ (?:our|the)\ (?:last|previous|first|other|earlier)\ (?:session|conversation|chat|discussion)\b
        | \b(?:what|which|where|how|who)\ (?:was|were|is)\b[^.?!\n]{{0,80}}\bagain\ *\?
        | \b(?:my|your|our)\ (?:earlier|previous|first|last|original|initial|old)\ {_TOLD}\b
        """
    ),
    loosely=_cue(
        rf"""
        {_BEFORE_THAT}(?:that|those)\ (?:(?:other|same|old|first|last|one|weird|nasty|long|big|little)\ )?{_THING}s?\b
            (?!\ (?:handles?|names?|systems?|paths?|descriptors?|exists?|is\ (?:given|passed))\b)
        | \bthe\ (?:previous|earlier|former|original|initial)\ {_TOLD}\b
        | \bthe\ (?:first|old|other|last)\ (?:approach|attempt|idea|plan|proposal|solution|suggestion|draft
            |version|way
            |workaround|design|discussion|conversation|question|answer|topic)\b(?!\ (?:a?round|out|in)\b)
        | \b(?:we|you|i)(?:'ve|\ have)?\ already\ \w+
        | \b(?:why|what|which\ \w+)\ did\ you\b
        | \bthe\ \w+\ (?:we|you|i)\ (?:just\ )?(?:added|built|changed|created|deleted|made|moved|removed|renamed
            |ran|saw
            |started|talked|touched|worked|were)\b
        """
    ),
)

GERMAN = Referring(
    openly=_cue(
        r"""
        \bwie\ (?:(?:schon|bereits|eben|vorhin|oben)\ )?(?:besprochen|gesagt|erwähnt|vereinbart|abgemacht|vorher
            |vorhin
            |zuvor|ausgemacht|beschlossen|geplant|letztes\ mal|beim\ letzten\ mal|gehabt|damals)\b
            (?!\ (?:im|in\ der|in\ den|auf\ der)\ (?:ticket|issue|readme|doku\w*|spezifikation|rfc|handbuch|wiki))
        | \b(?:haben|hatten|habe|hatte|hast|hattest)\ (?:wir|ich|du)\b[^.?!\n]{0,60}\b(?:gesagt|besprochen|entschieden
            |vereinbart|erwähnt|beschlossen|ausgemacht|versucht|probiert|vorgeschlagen|geredet|geeinigt|festgelegt
            |abgemacht|genannt)\b
        | \b(?:was|wie|warum|wo|welche\w*(?:\ \w+)?|wann)\ (?:haben|hatten)\ wir\b
        | \b(?:wir|ich|du)\b[^.?!\n]{0,60}\b(?:gesagt|besprochen|vereinbart|erwähnt|beschlossen|ausgemacht|entschieden
            |vorgeschlagen|versucht|probiert)\ (?:haben|hatten|habe|hatte|hast|hattest)\b
        | \b(?:erinnerst\ du\ dich|weißt\ du\ noch|erinner\w*\ mich(?!\ (?:daran,?\ zu|um|morgen)))\b
        | \b(?:vorhin|letztes\ mal|beim\ letzten\ mal|neulich|vor\ einer\ weile|ganz\ am\ anfang)\b
        | \bzurück\ zu(?:m|r)?\ (?:\w+\ )?(?:vorherigen|ersten|alten|früheren|ursprünglichen|unserem|unserer|deinem
            |deiner|dem|der)\b(?!\ (?:liste|startseite|hauptseite|seite|menü|anfang))
        | \b(?:dein|deine[mnrs]?|unser|unsere[mnrs]?|mein|meine[mnrs]?)\ (?:vorherige|frühere|erste|letzte
            |ursprüngliche)
            [mnrs]?\ (?:anfrage|ansatz|antwort|aufgabe|bitte|diskussion|entscheidung|entwurf|frage|gespräch|idee|lösung
            |nachricht|plan|planung|sitzung|thema|unterhaltung|variante|version|versuch|vorschlag)
        """
    ),
    loosely=_cue(
        r"""
        \b(?:diese[mnrs]?|jene[mnrs]?|dieselbe[n]?|denselben)\ (?:datei|fehler|funktion|problem|befehl|test|tests|idee
            |ansatz|klasse|meldung|änderung|version|skript|warnung|frage|plan|vorschlag|lösung)\b
        | \b(?:der|die|das|den|dem)\ (?:vorherige|frühere|ursprüngliche|erste|alte|letzte)[nrms]?\ (?:ansatz
            |version|idee
            |vorschlag|plan|lösung|entwurf|frage|antwort|fehler|variante)\b
        | \bwir\ (?:haben|hatten)\b[^.?!\n]{0,40}\b(?:schon|bereits)\b
        """
    ),
)

FRENCH = Referring(
    openly=_cue(
        r"""
        \bcomme\ (?:(?:on|nous|je|tu)\ (?:l')?(?:a|avons|avais|avait|avions|ai|as)\b|convenu|prévu|avant|discuté|dit
            |la\ dernière\ fois|décidé|d'habitude)
            (?!\ (?:par|dans)\ )
        | \b(?:ce\ qu(?:e\ |'))(?:on|nous|j'|je|tu)\ ?(?:a|avons|avait|avions|ai|avais|as)\ (?:dit|décidé|convenu
            |discuté|fait|vu|proposé|choisi)\b
        | \b(?:qu'est-ce\ qu'on|qu'avons-nous|qu'avions-nous|on\ avait|nous\ avions|avons-nous|avait-on|a-t-on
            |tu\ avais|j'avais)\b[^.?!\n]{0,60}\b(?:dit|décidé|convenu|discuté|parlé|proposé|choisi|mentionné|suggéré
            |essayé|fait|retenu)\b
        | \b(?:tu\ te\ souviens|te\ souviens-tu|rappelle-moi|tu\ te\ rappelles|vous\ souvenez-vous)\b
        | \b(?:tout\ à\ l'heure|précédemment|la\ dernière\ fois|l'autre\ jour|il\ y\ a\ un\ moment)\b
        | \b(?:revenons|reviens|revenir|retournons)\ (?:à|au|aux|sur)\ (?:la|le|l'|notre|ta|ton|ce|cette|première
            |premier|précédent)
        | \b(?:ta|ton|notre|ma|mon|tes|nos|mes)\ (?:premi(?:er|ère)|précédente?|derni(?:er|ère)|ancien(?:ne)?)s?
            \ (?:approche|choix|conversation|demande|discussion|décision|essai|exemple|idée|message|plan|problème|projet
            |proposition|question|réponse|session|solution|suggestion|tentative|version)
        | \b(?:question|réponse|idée|proposition|solution|version|approche|discussion|message)s?\ (?:précédente?s?
            |d'avant|de\ tout\ à\ l'heure)\b
        """
    ),
    loosely=_cue(
        r"""
        \b(?:ce|cet|cette|ces)\ (?:fichier|erreur|fonction|problème|commande|test|tests|idée|bug|classe|message
            |changement|version|script|approche|solution)s?(?:-là)?\b(?!\ (?:doit|devrait|sera))
        | \bla\ (?:première|dernière|précédente|vieille)\ (?:approche|version|idée|solution|proposition|tentative)\b
        | \ble\ (?:premier|dernier|précédent)\ (?:plan|essai|projet|choix)\b
        | \b(?:on|nous|j'|tu)\ ?(?:a|avons|ai|as)\ déjà\b
        """
    ),
)

SPANISH = Referring(
    openly=_cue(
        r"""
        \bcomo\ (?:(?:ya\ )?(?:dijimos|dije|dijiste|hablamos|acordamos|quedamos|mencioné|mencionaste|comentamos
            |decidimos
            |hicimos|discutimos)|antes(?!\ de\b)|la\ última\ vez|habíamos\ \w+)\b
        | \b(?:qué|cómo|cuál|dónde|cuándo|por\ qué|lo\ que)\ (?:\w+\ )?(?:dijimos|dijiste|dije|decidimos
            |acordamos|hablamos
            |hicimos|usamos|elegimos|propusiste|sugeriste|habíamos|quedamos|discutimos)\b
        | \b(?:te\ acuerdas|recuerdas|recuérdame|acuérdate)\b(?!\ de\ (?:añadir|probar|hacer))
        | \b(?:hace\ un\ rato|anteriormente|la\ última\ vez|el\ otro\ día|al\ principio\ de\ (?:esta|la)\ (?:sesión
            |conversación|charla))\b
        | \b(?:volvamos|vuelve|volver)\ (?:a|al)\ (?:la|lo|nuestr[oa]|tu|esa?|ese|primer[oa]?|anterior|enfoque|plan)\b
            (?!\ (?:inicio|lista|menú|pantalla|página|raíz|vista))
        | \b(?:dijimos|mencionamos|mencionaste|dijiste|hablamos|comentaste|acordamos)\b[^.?!\n]{0,40}\bantes\b
        | \b(?:tu|nuestr[oa]|mi)\ (?:primer[oa]?|anterior|últim[oa])\ (?:respuesta|idea|propuesta|pregunta
            |mensaje|solución
            |versión|plan|decisión|intento)\b
        | \b(?:respuesta|idea|propuesta|pregunta|solución|versión|conversación|decisión|discusión)\ (?:anterior
            |de\ antes)\b
        """
    ),
    loosely=_cue(
        r"""
        \b(?:ese|esa|esos|esas|aquel|aquella)\ (?:archivo|fichero|error|función|problema|comando|test|prueba
            |idea|fallo
            |clase|mensaje|cambio|versión|script|enfoque|solución|cosa)s?\b
        | \b(?:el|la)\ (?:primer|primera|último|última|vieja|viejo)\ (?:enfoque|versión|idea|solución|propuesta
            |intento
            |plan)\b
        | \bya\ (?:lo\ |la\ )?(?:hicimos|probamos|arreglamos|usamos|vimos|hablamos)\b
        """
    ),
)

PORTUGUESE = Referring(
    openly=_cue(
        r"""
        \bcomo\ (?:(?:já\ )?(?:dissemos|disse|falamos|combinamos|mencionei|mencionou|decidimos|fizemos
            |discutimos|conversamos)
            |antes(?!\ d[aeo]\b)|da\ última\ vez|na\ última\ vez|tínhamos\ \w+)\b
        | \b(?:o\ que|qual|como|onde|quando|por\ que)\ (?:\w+\ )?(?:nós\ |a\ gente\ |você\ |eu\ )?(?:dissemos
            |decidimos
            |combinamos|falamos|fizemos|usamos|escolhemos|sugeriu|propôs|discutimos|tínhamos|disse|falou)\b
        | \b(?:você\ (?:se\ )?lembra|lembra\ (?:quando|do|da|daquele|daquela|que)|me\ lembre|me\ lembra)\b
            (?!\ (?:de\ (?:adicionar|testar)))
        | \b(?:anteriormente|agora\ há\ pouco|há\ pouco|outro\ dia|da\ última\ vez|no\ início\ d(?:esta|a)\ (?:sessão
            |conversa))\b
        | \b(?:vamos\ voltar|volte|voltar|voltemos)\ (?:a|ao|à|para)\ (?:o\ |a\ )?(?:nossa?|sua?|aquel[ea]|primeir[oa]
            |ideia|abordagem|plano|versão|que)\b
        | \b(?:dissemos|mencionamos|falamos|mencionei|mencionou|disse|combinamos)\b[^.?!\n]{0,40}\b(?:antes|acima)\b
        | \b(?:sua|nossa|minha|seu|nosso|meu)\ (?:primeir[oa]|últim[oa])\ (?:resposta|ideia|proposta|pergunta|mensagem
            |solução|versão|plano|decisão|tentativa)\b
        | \b(?:resposta|ideia|proposta|pergunta|solução|versão|conversa|decisão|discussão)\ (?:anterior|de\ antes)\b
        """
    ),
    loosely=_cue(
        r"""
        \b(?:esse|essa|esses|essas|aquele|aquela|aqueles|aquelas|naquele|naquela|nesse|nessa|desse|dessa)\ (?:arquivo
            |ficheiro|erro|função|problema|comando|teste|ideia|bug|classe|mensagem|mudança|versão|script|abordagem
            |solução|coisa)s?\b
        | \b(?:o|a)\ (?:primeir[oa]|últim[oa]|antig[oa])\ (?:abordagem|versão|ideia|solução|proposta|tentativa
            |plano)\b
        | \bjá\ (?:fizemos|testamos|corrigimos|usamos|vimos|falamos)\b
        """
    ),
)

ITALIAN = Referring(
    openly=_cue(
        r"""
        \bcome\ (?:(?:già\ )?(?:abbiamo|avevamo|ho|avevo|hai|avevi)\ (?:già\ )?(?:detto|deciso|concordato
            |discusso|fatto
            |menzionato|visto|parlato|usato|scelto)|prima(?!\ (?:cosa|di|opzione|riga|scelta)\b)
            |l'ultima\ volta|d'accordo|concordato|discusso|deciso)\b
        | \b(?:cosa|che\ cosa|quale|come|dove|quando|perché|quello\ che|ciò\ che|di\ cui)\ (?:\w+\ )?(?:abbiamo
            |avevamo
            |hai|avevi|ho|avevo)\ (?:già\ )?(?:detto|deciso|concordato|discusso|fatto|menzionato|parlato|usato|scelto
            |proposto|suggerito)\b
        | \b(?:ti\ ricordi|ricordi\ (?:quando|che|il|la|quel\w*)|ricordami(?!\ di\b))\b
        | \b(?:poco\ fa|in\ precedenza|precedentemente|l'ultima\ volta|l'altro\ giorno|all'inizio\ della\ (?:sessione
            |conversazione))\b
        | \b(?:torniamo|torna|tornare)\ (?:a|al|alla|all'|allo)\ ?(?:quell\w*|nostr[oa]|tu[oa]|prim[oa]
            |precedente|idea
            |approccio|piano|versione)\b
        | \b(?:detto|menzionato|discusso|deciso|visto|parlato)\ (?:\w+\ )?prima\b
        | \b(?:la\ tua|la\ nostra|il\ tuo|il\ nostro|la\ mia|il\ mio)\ (?:prim[oa]|ultim[oa]|precedente)
            \ (?:approccio|conversazione|decisione|discussione|domanda|esempio|idea|messaggio|piano|problema|proposta
            |richiesta|risposta|sessione|soluzione|suggerimento|tentativo|versione)
        | \b(?:risposta|idea|proposta|domanda|soluzione|versione|conversazione|decisione|discussione)\ (?:precedente
            |di\ prima)\b
        """
    ),
    loosely=_cue(
        r"""
        \bquel(?:l[oae]|l'|la|le|li|gli)?\ ?(?:file|errore|funzione|problema|comando|test|idea|bug|classe|messaggio
            |modifica|versione|script|approccio|soluzione|cosa)\b
        | \b(?:il|la)\ (?:prim[oa]|ultim[oa]|vecchi[oa])\ (?:approccio|versione|idea|soluzione|proposta
            |tentativo|piano)\b
        | \babbiamo\ già\b
        """
    ),
)

JAPANESE = Referring(
    openly=_cue(
        r"""
        (?:さっき|先ほど|先程|以前|この前|前回|前に|最初に|昨日)[^。?？\n]{0,30}(?:言っ|話し|決め|相談|議論
            |書い(?:た|て[いる]?た)|使っ(?:た|て[いる]?た)|作っ(?:た|て[いる]?た)|見(?:た|て[いる]?た|せた)
            |出た|出て|直し|お願い|試し|提案|説明|やっ(?:た|て[いる]?た)|聞い
            |の(?:やつ|やり方|アプローチ|エラー|コード|コマンド|テスト|バグ|ファイル|プラン|メッセージ|会話|修正|件|内容
            |回答|変更|提案|方法|方針|案|決定|続き|話|議論|質問|関数|問題))
        | (?:話した|言った|決めた|相談した|議論した|約束した)(?:よう|とおり|通り|内容|こと|件|やつ)
        | 覚えて(?:い)?(?:る|ます|ますか) | (?:何|なん)(?:て|と)(?:言|い)(?:った|いました|ってた|ってました)
        | (?:前|以前|さっき|前回|先ほど)と同じ | (?:元|前|最初)の(?:案|方法|やり方|方針|バージョン
            |アプローチ)(?:に戻|で)
        | (?:どう|何に|どれに|何を)(?:決め|し)(?:ました|たんでした|たっけ|たのでした)
        """
    ),
    loosely=_cue(r"あの(?:ファイル|エラー|関数|問題|コマンド|テスト|件|話|バグ|クラス|方法|案) | (?:っけ)[?？。]*$"),
)

CHINESE = Referring(
    openly=_cue(
        r"""
        (?:之前|刚才|刚刚|上次|前面|先前|早些时候|一开始|最初|昨天)[^。?？\n]{0,20}(?:说|讲|讨论|决定|提到|提过
            |聊|商量|写|用的|用过|做
            |改的|看到|出现|那个|那|的(?:方案|错误|问题|文件|函数|办法|做法|建议|想法|命令|话题))
        | (?:我们|咱们|你|我)(?:不是)?(?:说过|讨论过|决定过|提过|商量过|聊过|约定)
        | (?:还)?记得(?:我们|那|上次|之前|吗|当时)
        | (?:像|和|跟|按|照)(?:之前|上次|刚才|以前)(?:一样|那样|的)? | 如(?:前|上)所(?:述|说)
        | 回到(?:之前|刚才|上次|最初|原来|那个|前面)
        | 我们(?:当时|最后|后来)?(?:决定|选|定|说)(?:了|的)?(?:什么|哪|用什么|是什么)
        """
    ),
    loosely=_cue(r"那个(?:文件|错误|函数|问题|命令|测试|方案|想法|类|报错|脚本|改动|话题)"),
)

LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, JAPANESE, CHINESE)
