"""English."""

from loom.state.cues.cue import Cues, cue

# "never works", "never saw", "always the same": a report, not an order.
_BARE_VERB = r"""(?!(?:saw|seen|got|had|has|did|was|were|is|are|been|be\ (?:able|seen)|knew|known|thought
    |said|told|came|went|made
    |found|gave|took|ran|mind|happened|heard|the|a|an|in|on|at|to|of|for|true|false|been|better|again|so
        |really)\b)
    (?!know\b)(?!\w+[^s]s\b(?<!\baccess)(?<!\bbias)(?<!\balias)(?<!\bfocus))(?!\w+ed\b(?<!embed)(?<!feed)(?<!need)(?<!seed)(?<!shed))[a-z]"""
_ADVERB = r"""(?:(?:just|ever|even|directly|silently|simply|actually|explicitly|automatically|manually
    |blindly)\ )?"""

CUES = Cues(
    orders=cue(
        rf"""
        (?:(?:you|we|they)\ )?never,?\ (?:ever,?\ )?{_ADVERB}{_BARE_VERB}
        | (?:we\ )?always\ {_ADVERB}{_BARE_VERB}
        | (?:make\ sure|ensure|be\ sure)(?:\ that)?(?:\ (?:you|we|to|it|they))?\ (?:always|never|only
            |don't|do\ not)\b
        | (?:don't|dont|do\ not)\ {_ADVERB}(?!(?:know|think|see|understand|get|have|worry|mind|care
            |remember|believe|need|want|like
            |bother|you(?!\ dare\b)|we|i|they|forget|hesitate|feel|seem|work|really|panic|even\ know)\b)\w
        | (?:don't|do\ not)\W*$
        | i\ (?:don't|do\ not|never)\ (?:ever\ )?want\ (?:you\ to|any|to\ see)\b | i\ want\ (?:you\ to
            |all|every\w*)\b.*\b(?:always|never|only)\b
        | (?:it\ would\ be\ (?:\w+\ )?(?:great|good|nice|best|better|lovely|helpful)
            |(?:i|we)(?:'d|\ would)\ (?:(?:really|much)\ )?(?:appreciate\ it|be\ (?:happier|happy|glad|grateful)
                |like\ it|love\ it))
            \ if\b.*\b(?:never|always|not|\w+n't|all|every\w*|each|only|no|nothing)\b
        | (?:make\ sure|ensure|be\ sure)(?:\ that)?\ (?:nothing|nobody|no\ one|no|every\w*|all|each)\b
        | refrain\ from\b | (?:stay|keep)\ (?:away\ from|clear\ of|out\ of)\b | steer\ clear\ of\b
        | (?:keep\ your\ )?hands\ off\b | leave\ [^,.]{{1,60}}\ alone\b
        | no\ [\w-]+(?:\ [\w-]+){{0,3}}\ (?:may|must|should|is\ allowed\ to|are\ allowed\ to)\b
        | (?:nobody|no\ one|nothing)\ (?:(?:but|except)\ [^,]{{1,40}}\ )?(?:may|must|should|is\ allowed\ to)\b(?!\ have)
        | (?:whenever|every\ time|each\ time|any\ time)\ you\ [^,]+,\ (?:please\ )?
            (?!(?:it|the|this|that|i|we|there|they|my)\b)\w
        | (?:under\ no\ circumstances|on\ no\ account)\b | nothing\b.*\bever\W*$ | .*\w,\ (?:always
            |no\ exceptions)\W*$
        | keep\b[^,]*\b(?:out\ of|away\ from|below|under)\ \w
        | (?:every|each|all)\ [^,]*\b(?:needs?|should|has\ to|have\ to)\ \w
        | (?!(?:it|this|that|he|she)\b)[\w-]+(?:\ (?!(?:is|are|was|were)\b)[\w-]+){{0,2}}\ (?:always|only
            |never)\ (?:in|with|from|via|under)\b
        | we\ only\ (?:ever\ )?(?:support|use|allow|accept|target|deploy|ship|depend|write|commit)\b
        | (?:you|we)\ (?:may\ not|mustn't|shouldn't|should\ not|aren't\ allowed|are\ not\ allowed)\b
        | avoid\ \w
        | no\ (?:new|external|third-party|extra|additional|global|magic|unnecessary|direct)\ (?!errors?\b
            |failures?\b|issues?\b
            |warnings?\b|changes?\b|output|results?\b|messages?\b|information\b|idea|problems?\b
                |commits?\b|tests?\b|news)\w
        | no\ (?!problem|worries|idea|need|luck|thanks|longer|one\b|matter|way\b)[\w-]+(?:\ [\w-]+){{0,3}}
            \ (?:please|allowed|at\ all)\W*$
        | only\ (?:ever\ )?(?:use|edit|touch|change|modify|write|commit|add|create|work|import|push
            |answer|reply|respond|deploy|call
            |accept|allow|log|target|support|depend)\b
        | (?:use|touch|edit|change|modify|import|write|commit|accept|allow|support|target|answer
            |reply)\ (?:[\w-]+\ ){{0,2}}?
            (?:only|exclusively|nothing\ but)\b
        | (?!(?:make|open|mark|set|is|it|the|i|this|that|read
            |append)\b)(?:[\w.+\#/-]+\ ){{1,3}}(?<!read\ )(?<!append\ )only\W*$
        | (?:(?:for|in|on|with|inside)\ [^,]{{1,40}}?\ )?(?:use|write|name|indent|format|answer|reply
            |respond|prefer)\b[^.]*?
            (?:,\ (?:and\ )?(?:not|never)\ |\ (?:and\ not|not|instead\ of|rather\ than)\ )\S
        | (?!(?:yes|no|ok|sure|why|maybe)\b)[\w.+\#-]+(?:\ [\w.+\#-]+)?,\ not\ (?!(?:yet|now|sure|really
            |bad|quite|that|so)\b)
            [\w.+\#-]+(?:\ [\w.+\#-]+)?\W*$
        | prefer\ \w
        | (?:i|we)(?:'d|\ would)?\ (?:(?:really|much|strongly|generally)\ )?prefer\b(?!\ (?:the|this|that
            |your|option|version)\b(?!.*\b(?:over|to|instead)\b))
        | i'd\ (?:much\ )?rather\ (?:have|see|use|you|keep|not)\b
        | stop\ (?:adding|using|writing|putting|making|committing|changing|editing|touching|creating
            |mocking|asking|explaining)\b
        | from\ (?:now|here)\ on\b | going\ forward\b | ask\ (?:me\ )?(?:first\ )?before\b
        """
    ),
    rules=cue(
        r"""
        \b(?:should|must|shall|may|can|will)\ never\b(?!\ have)
        | \b(?:should|must|shall)\ (?:always|only)\b
        | \b(?:has|have|needs?)\ to\ (?:keep|stay|remain)\b
        | \bmay\ not\ (?:appear|contain|exceed|include|depend|import|reach|leave|end\ up)\b
        | \b(?:must|must\ not|mustn't|shall|shall\ not)\ \w
        | \bfrom\ now\ on\b
        | \b(?:it\ is|it's)\ (?:very\ )?(?:important|essential|vital|crucial|critical)\ (?:that|to)\b
        | \b(?:is|are)\ (?:strictly\ )?(?:forbidden|off[- ]limits|not\ allowed|prohibited)\b
        """
    ),
    choices=cue(
        r"""
        (?:(?:for|in|on|as|after)\ [^,]{1,40}?\ )?(?:
          let'?s\ (?:(?:just|all|rather|definitely|really|simply)\ )?(?:
              use\b | (?:go|stick|stay)\ (?:with|for|to)\b | switch\ (?:over\ )?to\b
            | move\ to\ (?!(?:the\ next|that|another)\b) | keep\ (?!going|trying|at\b|in\ mind) | drop\b
                | adopt\b | settle\ on\b | pick\b | choose\b
            | standardi[sz]e\ on\b | make\ (?:the|it|this|all|every)\b | target\b | default\ to\b
                | call\ (?:it|the|this|that)\b | replace\b
            | not\ (?:use|support|add|depend)\b )
        | (?:we|i)(?:'ll|\ will|'m|\ am|'re|\ are)?\ (?:(?:just|now|all)\ )?(?:go|going|stick|sticking
            |stay|staying)\ with\b
        | we(?:'ll|\ will)\ (?:(?:just|now|all)\ )?(?:use|keep|drop|adopt|support|switch\ to|move\ to
            |store|target)\b
        | (?:we|i|the\ team)(?:'ve|\ have|'s|\ has)?\ (?:(?:finally|now|all|just|already)\ )?(?:
              (?:decided|agreed)\ (?:to(?!\ (?:take|go|leave|have|wait|sleep|call)\b)|on|that|for
                  |against)\b | settled\ (?:on|for)\b | opted\ for\b
            | (?:chosen|chose|picked)\ \w )
        | (?:we're|we\ are|i'm|i\ am)\ (?:now\ )?(?:switching\ to|moving\ to|dropping|adopting
            |standardi[sz]ing\ on)\b
        | (?:we're|we\ are)\ using\b.*\bfrom\ (?:here|now)\b
        | (?:we|i)\ should\ (?:go|stick|stay)\ with\b | (?:decided|settled|agreed)\ (?:against|on|for)\b
        | (?:we(?:'re|\ are)|i(?:'m|\ am))\ not\ (?:going\ with|going\ to\ use)\b
        | (?:go|going)\ with\ (?!(?:me|it\ and|the\ flow)\b)\w
        | (?:the\ |our\ |my\ )?(?:final\ )?(?:decision|decided|agreed|verdict)\s*(?:[:—–-]|is\b)\s*\w
        | (?:the\ |our\ )?decision\ [^:]{1,40}:\ \w | i(?:'ve|\ have)\ made\ up\ my\ mind\b
        | (?!(?:it|that|this|see|you|until|since|by|back|later|bye|tomorrow|today|tonight|now|not|only|even|just|what
            |why|how|go|do|until|and|was|so|if|well)\b)[\w.+\#-]+\ then\W*$
        | (?!(?:what|how|that|whatever|as|where|who|if|so)\b)[\w.+\#-]+(?:\ [\w.+\#-]+){0,2}\ it\ is\W*$ )
        """
    ),
    doubts=cue(
        r"""
        \bthere\ must\ be\b(?!\ (?:no|at\ least|at\ most|exactly|only)\b)
        | \bmust\ (?:have\ (?:been|gone|got|gotten|forgotten|missed|changed|broken|happened|lost|crashed
            |failed|come|made)\b
            |be\ (?:an?\ (?:bug|typo|mistake|problem|race|reason|better|cache|joke|way|timing|missing
                |wrong)|the|some|something|someone|because
              |due|why|what|how|where|joking|kidding|wrong|close|down|nice|broken|related|fun|hard|tired
                  |confused|mistaken|happening|going))\b
        | \bmust\ be\ (?:somewhere|around\ here|hiding)\b
        | ^not\ (?:all|every|everything|everyone)\b
        | \band\ (?:that|it|this)\ (?:fails?|breaks?|crashes|hangs|is\ broken|does(?:n't|\ not)\ work)\b
        | \b(?:that\ is|that's|which\ is|it's)\ annoying\b
        | \bi\ must\b
        | (?<!sure\ )(?<!ensure\ )(?<!,\ )\b(?:that|which|who|whoever|someone|anyone)\ (?:you\ |we\
            |it\ )?(?:must|never|always|should)\b
        | \b(?!i\b|we\b|as\b|i've\b)[\w.']+\ (?:says|said|states|claims|reports|complains|prints|told\ me
            |insists|suggests)\b
        | \baccording\ to\b
        | \b(?:message|title|titled|called|named|heading|label|comment|caption|story|quote)\s*:
        """
    ),
    takes_back=cue(
        r"""
        \b(?:i|we)(?:'ve|\ have)?\ (?:just\ )?changed\ (?:my|our)\ minds?\b | \bon\ second\ thoughts?\b
        | (?<!don't\ )(?<!not\ )(?<!never\ )\b(?:forget|ignore|disregard|scrap|scratch)\ (?:about\ )?
            (?:what\ (?:i|we)\ (?:said|wrote|decided|agreed)|my\ (?:earlier|previous|last)|our\ (?:earlier
            |previous|old)
            |(?:the|that|this)\ (?:\w+\ )?(?:idea|plan|decision|approach|rule|requirement|instruction)\b
            |using\b|that\W*$|that[,:;])
        | \bi\ take\ (?:that|it|this|what\ i\ said)\ back\b | \bi\ was\ wrong\ (?:about|to\ (?:say|ask|want))\b
        | \b(?:we|i)(?:'re|'m|\ are|\ am)?\ no\ longer\ (?!(?:see|seeing|get|getting|have|having|know|remember
            |understand|find|receive|hit|believe|think|care|fail|failing)\b)\w+
        | \b(?:we|i)\ (?:don't|do\ not|won't|will\ not)\ (?:use|want|need|support|require|ship
            |target)\b[^.]*\bany\ ?more\b
        | \b(?:that|this|the|our|my)\ (?:\w+\ ){0,3}?(?:decision|rule|plan|choice|constraint|requirement
            |idea)(?:\ (?!is\b|was\b)\w+){0,4}\ (?:is|was)\b
            \ (?:\w+\ )?(?:off|void|obsolete|superseded|cancelled|canceled|lifted|reversed|wrong|dead
            |no\ longer\ \w+)\b
        | \b(?:we're|we\ are|i'm|i\ am|let's)\ (?:now\ )?(?:dropping|drop|abandoning|abandon|ditching|ditch
            |retiring|retire
            |moving\ (?:away\ from|off)|move\ (?:away\ from|off)|going\ back\ to|go\ back\ to|switching\ back\ to
            |switch\ back\ to)\b
        | (?:^|[,;]\ |\band\ |\bplease\ )switch\ (?:back\ |over\ )?(?:from\ \S+\ )?to\ (?!(?:the|a|an|that|this
            |another
            |main|master|develop|dev|next|branch)\b)\w
        | \b(?:use|take|go\ with|make\ it|pick|store|write|keep)\b[^.]*\binstead\b(?!\ of\ (?:the\ )?\w+ing\b)
        | ^correction\s*[:,—–-]
        """
    ),
    turns=cue(
        r"""\b(?:instead|actually|after\ all|no\ longer|any\ ?more|from\ now\ on|back\ to|switch\w*|drop|replace
            |but\ now|not\ \w+\ but|change\w*|new\ (?:plan|decision|rule))\b"""
    ),
)
