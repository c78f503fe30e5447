"""Spanish."""

from loom.state.cues.cue import Cues, cue

_DONT = r"""(?:uses|utilices|toques|cambies|modifiques|edites|hagas|borres|elimines|agregues|añadas
    |escribas|subas|pongas|importes|ejecutes
    |instales|crees|muevas|renombres|mezcles|llames|guardes|metas|rompas|usar|tocar|cambiar|modificar
        |editar|borrar)"""

CUES = Cues(
    orders=cue(
        rf"""
        (?:nunca|jamás|no)\ (?:(?:lo|la|los|las|me)\ )?{_DONT}\b
        | (?:nunca|jamás)\ (?:se\ debe|\w+(?:ar|er|ir)\b)
        | siempre\ (?:usa|utiliza|ejecuta|corre|escribe|haz|pregunta|añade|agrega|mantén|prueba|verifica
            |responde|\w+(?:ar|er|ir)\b)
        | (?:usa|utiliza|ejecuta|escribe|haz|pregunta|añade|agrega|prueba|responde)\ siempre\b
        | (?:usa|usar|utiliza|modifica|edita|escribe)\ (?:solo|sólo|solamente|únicamente|exclusivamente)\b
        | (?:solo|sólo|solamente|únicamente)\ (?:usa|utiliza|modifica|edita|escribe)\b
        | (?:usa|usar|utiliza|escribe|prefiere)\b.*(?:en\ lugar\ de|en\ vez\ de|,\ no\ |\ y\ no\ )
        | (?:los|las|el|la)\ \w+(?:\ (?!(?:es|son|está|están)\b)\w+){{0,3}}\ siempre\ (?:en|con|sin|por)\b
        | prefiero\b | prefiere\b | evita\b | no\ quiero\ que\b
        | a\ partir\ de\ ahora\b | de\ ahora\ en\ adelante\b | en\ adelante\b
        | (?:sin|nada\ de)\ (?:nuevas|más)\ \w+
        """
    ),
    rules=cue(
        r"""
        \b(?:debe|deben|debes|debéis)\ \w
        | \b(?:está|están|queda)\ prohibid[oa]s?\b
        | \bhay\ que\b.*\bsiempre\b
        """
    ),
    choices=cue(
        r"""
        (?:para\ [^,]{1,40}?\ )?(?:
          vamos\ (?:a\ (?:usar|utilizar|mantener|quedarnos|cambiar\ a|migrar|adoptar)|con)\b
        | (?:usemos|utilicemos|adoptemos|quedémonos\ con|mantengamos)\b
        | (?:el\ equipo\ )?(?:hemos\ |he\ |ha\ )?decid(?:imos|ido|í|ió)\b
        | (?:nos\ quedamos\ con|elegimos|optamos\ por|escogemos|hemos\ elegido|he\ elegido)\b
        | decisión\s*:\s*\w )
        """
    ),
    doubts=cue(
        r"""
        \bdebe\ (?:haber|de\b|ser\ (?:una?|el|la|por|culpa)\b)
        | \b\w+\ (?:dice|decía|indica)\ que\b
        """
    ),
    takes_back=cue(
        r"""
        \b(?:he\ cambiado|cambié|cambiamos|hemos\ cambiado)\ de\ (?:opinión|idea|parecer)\b
            | \bpensándolo\ (?:bien|mejor)\b
        | (?<!no\ )\b(?:olvida|olvídate\ de|olvidad|ignora|descarta)\ (?:lo\ que|lo\ de|la\ (?:idea|decisión)
            |el\ plan)\b
        | \bya\ no\ (?:usamos|usaremos|queremos|quiero|vamos|necesitamos|soportamos|uses)\b
        | \b(?:usa|usemos|usad|pon|ponemos)\b[^.]*\ben\ su\ lugar\b | \bmejor\ (?:usemos|usa|volvamos|volver)\b
        | \bvolvamos\ a\b | ^corrección\s*[:,—–-]
        """
    ),
    turns=cue(r"""\b(?:en\ realidad|al\ final|finalmente|mejor|ya\ no|en\ su\ lugar|de\ vuelta|ahora)\b"""),
)
