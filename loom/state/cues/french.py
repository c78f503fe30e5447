"""French."""

from loom.state.cues.cue import Cues, cue

_IMPERATIVE = r"""(?:utilise[zr]?|écri[st]|écrivez|écrire|lance[zr]?|exécute[zr]?|mets|mettez|garde[zr]?
    |ajoute[zr]?|vérifie[zr]?|teste[zr]?
    |demande[zr]?|réponds?|répondez|répondre|commite[zr]?|fais|faites|préfère[zr]?|nomme[zr]?
        |modifie[zr]?|édite[zr]?)"""

CUES = Cues(
    orders=cue(
        rf"""
        (?:n'|ne\ )(?!(?:oublie|oubliez|t'inquiète|hésite|hésitez|sais|marche|fonctionne
            |vous\ inquiétez)\b)[\w'-]+\b[^,]*?\ (?:jamais|pas|plus|rien|que)\b
        | (?:touche|utilise|modifie|supprime|change|casse|ajoute|renomme|efface)[zr]?\ (?:pas|rien|jamais|plus)\b
        | ne\ (?:jamais|pas|plus|rien)\ \w+
        | (?:jamais|toujours)\ (?:de\b|d'|\w+(?:er|ir|re)\b)
        | {_IMPERATIVE}\b[^,]*\b(?:toujours|plutôt\ que|au\ lieu\ d|à\ la\ place\ d|et\ (?:pas|non)\b)
        | (?:utilise|modifie|édite|écri)\w*\ (?:uniquement|seulement|exclusivement|que)\b
        | utilise[zr]?\b.*,\ (?:pas|jamais)\ \w
        | (?:évite[zr]?|préfère[zr]?)\ \w | je\ préfère\b | je\ ne\ veux\ pas\ d
        | pas\ de\ (?:nouve\w+|dépendance\w*)
        | (?:les|tous\ les|toutes\ les|le|la)\ \w+(?:\ \w+){{0,3}}\ toujours\ (?:en|avec|dans|par|sans)\b
        | désormais\b | dorénavant\b | à\ partir\ de\ maintenant\b | à\ l'avenir\b
        """
    ),
    rules=cue(
        r"""
        \b(?:doit|doivent|dois|devez)\ \w
        | \bil\ (?:faut\ toujours|ne\ faut\ (?:jamais|pas))\b
        | \b(?:est|sont)\ (?:interdite?s?|proscrite?s?)\b
        """
    ),
    choices=cue(
        r"""
        (?:pour\ [^,]{1,40}?\ )?(?:
          on\ (?:part\ sur|va\ (?:utiliser|prendre|garder|partir\ sur)|prend|choisit|reste\ sur|garde
              |passe\ à|opte\ pour)\b
        | (?:utilisons|prenons|partons\ sur|restons\ sur|gardons|passons\ à|choisissons|adoptons
            |optons\ pour|allons-y\ avec)\b
        | (?:on\ a|nous\ avons|j'ai|l'équipe\ a)\ (?:finalement\ )?(?:décidé|choisi|opté\ pour|tranché)\b
        | décision\s*:\s*\w )
        """
    ),
    doubts=cue(
        r"""
        \bje\ (?:ne\ )?dois\b
        | \bdoit\ (?:y\ avoir|être\ (?:une?|le|la|les|à\ cause|dû|lié))
        | \b\w+\ (?:dit|disait|indique|affiche)\ que\b
        """
    ),
    takes_back=cue(
        r"""
        \b(?:j'ai|on\ a|nous\ avons)\ changé\ d'avis\b | \b(?:oublie[zr]?|ignore[zr]?)\ (?:ce\ que|l'idée
            |le\ plan|la\ décision)
        | \blaisse\ tomber\b | \bréflexion\ faite\b | \ben\ fin\ de\ compte\b
        | \b(?:on|nous)\ (?:n'|ne\ )\w+\ plus\b | \bon\ (?:abandonne|revient\ (?:à|sur))\b
        | \b(?:utilise[zr]?|prends|prenons|utilisons|mets|mettons)\b[^.]*\bà\ la\ place\b
        | \b(?:cette|la)\ (?:décision|règle)\ (?:ne\ vaut\ plus|est\ annulée|ne\ tient\ plus) | ^correction\s*[:,—–-]
        """
    ),
    turns=cue(r"""\b(?:finalement|plutôt|à\ la\ place|au\ lieu|plus|désormais|en\ fait)\b"""),
)
