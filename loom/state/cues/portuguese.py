"""Portuguese."""

from loom.state.cues.cue import Cues, cue

_DO = r"""(?:use|usem|utilize|toque|mexa|altere|mude|modifique|edite|faça|apague|remova|adicione|escreva
    |suba|coloque|importe|execute|rode
    |instale|crie|mova|renomeie|misture|chame|guarde|comite|commite|responda|pergunte|teste|verifique
        |mantenha)"""

CUES = Cues(
    orders=cue(
        rf"""
        (?:nunca|jamais|não|sempre)\ (?:{_DO}\b|\w+(?:ar|er|ir)\b)
        | {_DO}\ sempre\b
        | (?:use|usar|utilize|modifique|edite|altere|escreva)\ (?:só|apenas|somente|exclusivamente)\b
        | (?:só|apenas|somente)\ (?:use|utilize|modifique|edite|altere|escreva)\b
        | (?:use|usar|utilize|escreva|prefira)\b.*(?:em\ vez\ de|ao\ invés\ de|no\ lugar\ de|,\ não\
            |\ e\ não\ )
        | (?:os|as|o|a)\ \w+(?:\ (?!(?:é|são|está|estão)\b)\w+){{0,3}}\ sempre\ (?:em|com|sem|por)\b
        | prefiro\b | prefira\b | evite\b | não\ quero\ que\b
        | a\ partir\ de\ agora\b | de\ agora\ em\ diante\b | daqui\ (?:para|pra)\ frente\b
        | (?:sem|nada\ de)\ (?:novas|mais)\ \w+
        """
    ),
    rules=cue(
        r"""
        \b(?:deve|devem|deves)\ \w
        | \b(?:é|são|está|estão)\ proibid[oa]s?\b
        """
    ),
    choices=cue(
        r"""
        (?:para\ [^,]{1,40}?\ )?(?:
          vamos\ (?:usar|utilizar|manter|ficar\ com|mudar\ para|migrar|adotar|com)\b
        | (?:usemos|adotemos|fiquemos\ com)\b
        | (?:decidimos|decidi|a\ equipe\ decidiu|foi\ decidido)\b
        | (?:ficamos\ com|optamos\ por|escolhemos|escolhi)\b
        | decisão\s*:\s*\w )
        """
    ),
    doubts=cue(
        r"""
        \bdeve\ (?:haver|ter\ (?:um|uma|sido)\b|ser\ (?:um|uma|o|a|por|culpa)\b)
        | \b\w+\ (?:diz|disse|indica)\ que\b
        """
    ),
    takes_back=cue(
        r"""
        \b(?:mudei|mudamos)\ de\ (?:ideia|opinião)\b | \bpensando\ (?:bem|melhor)\b
        | (?<!não\ )\b(?:esque[çc][ae]|ignore|descarte)\ (?:o\ que|isso|a\ (?:ideia|decisão)|o\ plano)
        | \b(?:já\ não|não)\ (?:usamos|usaremos|queremos|quero|vamos\ usar|precisamos\ de|suportamos)\b[^.]*\bmais\b
        | \bjá\ não\ (?:usamos|queremos|quero|precisamos)\b | \b(?:use|usemos|vamos\ usar)\b[^.]*\bno\ lugar\W*$
        | \bmelhor\ (?:usar|voltar|usarmos)\b | \bvamos\ voltar\ (?:a|ao|à|para)\b | ^correção\s*[:,—–-]
        """
    ),
    turns=cue(r"""\b(?:na\ verdade|afinal|no\ final|em\ vez\ disso|mais|agora|de\ volta)\b"""),
)
