"""German."""

from loom.state.cues.cue import Cues, cue

_IMPERATIVE = r"""(?:verwende|nutze|benutze|nimm|schreibe?|lass|lege?|mache?|führe?|ändere?|änder|fasse?
    |teste|prüfe?|committe|commite|pushe?
    |lösche?|füge?|antworte|halte?|achte|frage?|speichere?|logge|rühre?|importiere|bearbeite|rufe?|setze?
        |baue?|arbeite|erstelle|entferne
    |verändere?|editiere|sorge?|gib|ruf)"""

CUES = Cues(
    orders=cue(
        rf"""
        {_IMPERATIVE}\b[^,]*\b(?:nie|niemals|immer(?!\ (?:noch|wieder))|stets|ausschließlich
            |nicht(?!\ nur)|keine?[nmrs]?|statt|anstatt|anstelle|lieber)\b
        | (?:verwende|nutze|benutze|nimm|schreibe?|ändere?|bearbeite|antworte|importiere
            |committe)\b[^,]*\bnur\b
        | (?:niemals|nie|immer(?!\ (?:noch|wieder))|stets|nur|auf\ keinen\ fall|keinesfalls)\ .*\w+en\W*$
        | .*\bnicht\ (?:mehr\ )?(?:anfassen|ändern|verändern|löschen|benutzen|verwenden|committen|pushen
            |umbenennen|anrühren)\W*$
        | keine?\ (?:neuen?|weiteren?|zusätzlichen?|externen?|globalen?)\ (?!fehler|ergebnisse|meldungen
            |änderungen)
        | vermeide\b | bevorzuge\b | ich\ bevorzuge\b | ich\ möchte\ keine?\b | ich\ will\ keine?\b
            | ich\ ziehe\b.*\bvor\b
        | ab\ (?:jetzt|sofort|heute)\b | von\ (?:jetzt|nun)\ an\b | in\ zukunft\b | künftig\b
        | ich\ (?:will|möchte|wünsche\ mir),?\ dass\ du\b.*\b(?:immer|nie|niemals|nur|nicht|keine?\w*)\b
        | (?:mir\ wäre\ (?:es\ )?lieb(?:er)?|ich\ (?:fände|wäre)\ (?:es\ )?(?:gut|schön|froh|besser)),\ wenn\b
        | frage?\ (?:mich\ )?(?:immer\ |erst\ |vorher\ )?bevor\b
        """
    ),
    rules=cue(
        r"""
        \b(?:muss|müssen|musst)\ \w
        | \b(?:darf|dürfen|darfst)\b.*\b(?:nicht|keine?[nmrs]?|nie|niemals|nur)\b
        | \b(?:soll|sollen|sollst|sollte|sollten)\b.*\b(?:nie|niemals|immer|nur)\b
        | \bbitte\ (?:\w+\ )?(?:immer(?!\ (?:noch|wieder))|nie|niemals|nur|nicht|keine?[nmrs]?|stets)\b
        | \b(?:ist|sind)\ (?:verboten|tabu)\b
        """
    ),
    choices=cue(
        r"""
        (?:für\ [^,]{1,40}?\ )?(?:
          wir\ (?:nehmen|setzen\ auf|bleiben\ bei|gehen\ mit|machen\ (?:das|es)\ mit|wechseln\ (?:zu|auf)
              |entscheiden\ uns|einigen\ uns|behalten)\b
        | (?:dann\ )?nehmen\ wir\b | bleiben\ wir\ bei\b
        | lass(?:t)?\ uns\ .*(?:nehmen|verwenden|nutzen|benutzen|einsetzen|bleiben|wechseln|behalten
            |umsteigen)\W*$
        | (?:wir\ haben|ich\ habe|das\ team\ hat)\ (?:(?:uns|mich|sich)\b.*\b(?:entschieden|geeinigt)
            |beschlossen|entschieden)\b
        | (?:entscheidung|entschieden|beschluss)\s*:\s*\w )
        """
    ),
    doubts=cue(
        r"""
        \b(?:ich|wir|er|sie)\ (?:muss|müssen)\b
        | \bmuss\ (?:wohl|ja|doch|eine?|der|die|das|am|an|irgend\w*)\b
        | \b(?:noch\ nicht|nicht)\ entschieden\b
        | \bdas\ (?:nervt|ist\ nervig|stört)\b
        | \b\w+\ (?:sagt|sagte|meint|meldet|behauptet)\b
        """
    ),
    takes_back=cue(
        r"""
        \bmir\b[^.]*\banders\ überlegt\b | \bmeine\ meinung\ geändert\b
            | \bwir\ haben\ (?:es\ )?uns\ (?:doch\ )?umentschieden\b
        | \bich\ habe\ mich\ (?:doch\ )?umentschieden\b
        | (?<!nicht\ )\b(?:vergiss|vergesst|ignoriere?|streiche?)\ (?:das\ mit|was\ (?:ich|wir)|die\ (?:idee
            |entscheidung)
            |den\ plan|meine|unsere)\b
        | \b(?:das|die\ entscheidung|die\ regel|der\ plan)\ (?:\w+\ )?(?:gilt|ist)\ (?:\w+\ )?(?:nicht\ mehr
            |hinfällig|aufgehoben
            |vom\ tisch)\b
        | \b(?:nehmen|verwenden|nutzen|benutzen|machen|wollen|brauchen|unterstützen)\ wir\b[^.]*\b(?:nicht\ mehr
            |doch\ nicht)\b
        | \bwir\ (?:nehmen|verwenden|nutzen|benutzen|machen|wollen|brauchen|unterstützen)\b[^.]*\b(?:nicht\ mehr
            |doch\ nicht
            |stattdessen|doch\ (?:lieber|besser))\b
        | \bich\ nehme\ (?:das|es)\ zurück\b | \bdoch\ lieber\b | ^korrektur\s*[:,—–-]
        | \b(?:nimm|verwende|nutze|benutze|nehmen\ wir)\b[^.]*\bstattdessen\b
        """
    ),
    turns=cue(
        r"""
        \b(?:doch|stattdessen|nicht\ mehr|lieber|wieder\ zurück|zurück\ zu|umsteigen|wechseln|ab\ jetzt|ab\ sofort)\b
        """
    ),
)
