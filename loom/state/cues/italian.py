"""Italian."""

from loom.state.cues.cue import Cues, cue

_IMPERATIVE = r"""(?:usa|usate|esegui|scrivi|fai|fa'|lancia|chiedi|rispondi|mantieni|aggiungi|testa|verifica
        |controlla|tieni)"""

CUES = Cues(
    orders=cue(
        rf"""
        non\ (?!(?:dimenticare|preoccuparti|esitare)\b)\w+(?:are|ere|ire|arlo|arla|arli|erlo|irlo|rre)\b
        | (?:mai|sempre)\ \w+(?:are|ere|ire)\b
        | {_IMPERATIVE}\ sempre\b | sempre\ {_IMPERATIVE}\b
        | (?:usa|usate|usare|modifica|scrivi)\ (?:solo|soltanto|solamente|esclusivamente)\b
        | (?:solo|soltanto)\ (?:usa|modifica|scrivi)\b
        | (?:usa|usate|usare|scrivi)\b.*(?:invece\ d|al\ posto\ d|anziché\ |piuttosto\ che|,\ non\
            |\ e\ non\ )
        | (?:i|gli|le|il|la)\ \w+(?:\ (?!(?:è|sono)\b)\w+){{0,3}}\ sempre\ (?:in|con|senza|per)\b
        | preferisco\b | preferisci\b | evita\b | non\ voglio\ che\b
        | d'ora\ in\ (?:poi|avanti)\b | da\ adesso\ in\ poi\b
        | (?:niente|nessuna|senza)\ (?:nuov[aeio]|altre)\ \w+
        """
    ),
    rules=cue(
        r"""
        \b(?:deve|devono|devi|dovete)\ \w
        | \b(?:è|sono)\ (?:vietat[oaie]|proibit[oaie])\b
        """
    ),
    choices=cue(
        r"""
        (?:per\ [^,]{1,40}?\ )?(?:
          (?:usiamo|andiamo\ con|scegliamo|restiamo\ su|passiamo\ a|teniamo|adottiamo|optiamo\ per
              |manteniamo)\b
        | (?:abbiamo|ho|il\ team\ ha)\ (?:deciso|scelto|optato)\b
        | decisione\s*:\s*\w )
        """
    ),
    doubts=cue(
        r"""
        \bdeve\ (?:esserci|essere\ (?:un|uno|una|il|la|colpa|per)\b|aver)
        | \b\w+\ (?:dice|diceva|indica)\ che\b
        """
    ),
    takes_back=cue(
        r"""
        \b(?:ho|abbiamo)\ cambiato\ idea\b | \bripensandoci\b | \bpensandoci\ (?:bene|meglio)\b
        | (?<!non\ )\b(?:dimentica|ignora|scarta)\ (?:quello\ che|ciò\ che|quanto|l'idea|la\ decisione|il\ piano)
        | \blascia\ (?:perdere|stare)\b | \bnon\ (?:usiamo|useremo|vogliamo|voglio|supportiamo)\ più\b
        | \b(?:usa|usiamo|metti|mettiamo)\b[^.]*\b(?:invece|al\ suo\ posto)\W*$ | \btorniamo\ (?:a|al|alla|ai)\b
        | \bmeglio\ (?:usare|tornare)\b | ^correzione\s*[:,—–-]
        """
    ),
    turns=cue(r"""\b(?:in\ realtà|alla\ fine|invece|più|ora|adesso|indietro)\b"""),
)
