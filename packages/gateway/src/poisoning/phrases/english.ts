import type { Rule } from '../finding.ts'

// Every gap is bounded and ends at the sentence, so matching is linear.
const gap = (max: number): string => String.raw`[^.!?\n\0]{0,${max}}`
const pattern = (parts: TemplateStringsArray, ...values: readonly string[]): RegExp =>
  new RegExp(String.raw({ raw: parts.raw }, ...values).replaceAll(/\n\s*/gu, ''), 'g')

const forbids = String.raw`(?:do\snot|don['’]?t|never|must\snot|should\snot|without|avoid|refrain\sfrom)\s(?:ever\s)?`
const people = String.raw`(?:the\s|any\s|your\s)?(?:user|human|owner|operator|developer|person\syou\s(?:are\shelping|assist|help|serve))\b`
const orders = String.raw`(?:instructions?|prompts?|rules?|guidelines?|directives?|directions|policy|policies|restrictions?|constraints)\b`
const model = String.raw`(?:ai|a\.i\.|llms?|language\smodels?|ai\s(?:assistants?|agents?|models?)|assistants?|coding\s(?:assistants?|agents?)|chatbots?)\b`
const tell = '(?:tell|telling|inform|informing|notify|notifying|alert|alerting|let|letting|warn|warning)'
const mention =
  '(?:mention|mentioning|reveal|revealing|disclose|disclosing|explain|explaining|report|reporting|bring|refer|referring|say|saying|discuss)'
const action = String.raw`(?:this|that|these|the)\s(?:\w{1,12}\s)?(?:steps?|calls?|actions?|requests?|instructions?|records?|lookups?|tools?)\b`
const give = String.raw`\b(?:include|pass|send|put|append|copy|insert|paste|attach|provide|fill|add|forward|relay|supply|share|place|concatenate|post|write|submit|print|set|contain|summari[sz]e|encode|transmit|upload|resend|hand\sover|call\sthis\stool\sagain)\b`
const whole = String.raw`\b(?:entire|whole|full|complete|all|everything|every|verbatim|word\sfor\sword|last|earlier|prior|previous)\b`
const chat = String.raw`\b(?:conversation|chat|dialogue|dialog|transcript|(?<!\b(?:error|log|commit|status|warning)\s)messages|chain\sof\sthought|exchange\sbetween\syou|discussion\swith\sthe\suser)\b`
const secret = String.raw`\b(?:api\skeys?|passwords?|passphrases?|credentials|cookies|private\skeys?|environment\svariables?|access\stokens?|secret\skeys?|one-time\scode|login\sdetails|seed\sphrase|[a-z_]{0,30}(?:api_key|_token|_secret))\b`

/** Phrases that a text for people has no reason to contain. */
export const englishPhrases: readonly (readonly [Rule, RegExp])[] = [
  [
    'overriding',
    pattern`\b(?:ignore|disregard|forget|bypass|override|violate|discard)\s(?:(?:all|any|of|the|your|my|these|every|whatever)\s){0,3}
      (?:previous|prior|earlier|above|preceding|system|safety|original|initial|former)\s(?:\w{1,12}\s){0,2}${orders}`,
  ],
  [
    'overriding',
    pattern`\b(?:ignore|disregard|forget|discard)\s(?:all\s)?your\s(?:\w{1,12}\s)?(?:instructions|training|rules|guidelines|restrictions)\b`,
  ],
  [
    'overriding',
    pattern`\b(?:ignore|disregard|forget|abandon)\s(?:the\s(?:task|user['’]s|safety|developer['’]s)|what\syou\swere\stold|everything\s(?:above|before|you\swere))`,
  ],
  [
    'overriding',
    pattern`\byou\sare\snow\sin\s(?:developer|admin|god|unrestricted|jailbreak)\smode\b|\byou\s(?:now\shave|have\snow)\s(?:admin|administrator|root|full)\b`,
  ],
  [
    'overriding',
    pattern`\b(?:your|earlier|previous|prior|original|all)\s(?:\w{1,12}\s){0,2}${orders}${gap(20)}\b(?:no\slonger\sappl|do\snot\sapply|(?:is|are)\s(?:now\s)?(?:void|obsolete|lifted|suspended|invalid|revoked))`,
  ],
  ['overriding', pattern`\btreat\s${gap(20)}${orders}${gap(20)}\bas\s(?:obsolete|void|invalid)`],
  ['overriding', pattern`\bno\slonger\sbound\sby\b|\bpay\sno\s(?:heed|attention)\sto\s${gap(20)}${orders}`],
  ['overriding', pattern`\bstop\s(?:following|obeying)\s${gap(30)}${orders}|\bstop\swhat\syou\sare\sdoing\b`],
  [
    'overriding',
    pattern`\b(?:take|takes|have|has)\s(?:precedence|priority)\sover\s(?:anything|everything|whatever|any|all)\b${gap(20)}\b(?:user|system|${orders})`,
  ],
  ['overriding', pattern`${orders}${gap(60)}\b(?:discarded|ignored|disregarded)\sby\s(?:the\s)?${model}`],
  [
    'overriding',
    pattern`\byour\s(?:guardrails|safeguards|safety\s\w{1,12}|filters|limits|restrictions)\b${gap(30)}\b(?:off|disabled|lifted|suspended|not\sapply|removed)\b`,
  ],
  ['overriding', pattern`\b(?:obey|follow|listen)\sonly\s(?:to\s)?(?:text|instructions|this|what)\b`],
  [
    'overriding',
    pattern`${orders}\s(?:that\s)?you\s(?:started\swith|were\sgiven|received)\b${gap(40)}\b(?:replaced|void|obsolete|no\slonger|outdated)`,
  ],
  ['overriding', pattern`\b(?:whatever|anything)\s(?:that\s)?your\s(?:creators?|developers?|makers?|system\sprompt)\b`],
  ['overriding', pattern`\byour\snew\s(?:objective|task|goal|mission|role|instructions?)\s?(?:is|:|are)`],
  [
    'secrecy',
    pattern`\bif\s(?:somebody|someone|anyone|anybody|the\suser|they|asked)\s?(?:asks?|objects?|complains?)?,?\s(?:claim|pretend|deny|insist|say\s(?:that\s)?(?:no|nothing|it))\b`,
  ],
  [
    'secrecy',
    pattern`\b(?:person\sat\sthe\skeyboard|user|human)\s(?:never|does\snot)\s(?:hears?|learns?|finds?\sout|notices?)\b`,
  ],
  ['secrecy', pattern`\b(?:say|speak)\snothing\sabout\s(?:it|this)\b|\bbehind\s(?:the\suser['’]s|their)\sback\b`],
  ['secrecy', pattern`\b${forbids}${tell}\s${people}|\bno\sneed\sto\s${tell}\s${people}`],
  ['secrecy', pattern`\b${forbids}${tell}\s(?:anyone|anybody|people)\s(?:that\syou|about\sthis\s(?:call|step|tool|request))`],
  ['secrecy', pattern`\b${forbids}${mention}\b${gap(60)}\b(?:to|with)\s${people}`],
  ['secrecy', pattern`\b${forbids}${mention}\s(?:${action}|that\syou\b|any\sof\sthis\b)`],
  [
    'secrecy',
    pattern`\b${forbids}(?:show|showing)\s(?:this|these|any\sof\sthis)\s(?:\w{1,20}\s){0,2}(?:to\s${people}|instructions?\b|steps?\b)`,
  ],
  ['secrecy', pattern`\bavoid\sany\s(?:mention|reference)\s(?:of|to)\sthis\b`],
  ['secrecy', pattern`\b(?:hide|conceal|keep|withhold)\s${gap(30)}\sfrom\s${people}|\bkeep\s${gap(30)}\bbetween\sus\b`],
  [
    'secrecy',
    pattern`\b${people}\s(?:(?:must|should|may|need|does|can)\s?(?:not|never)|doesn['’]?t|cannot)\s(?:know|notice|see\s(?:it|this)|learn|find\sout|be\s(?:told|informed|aware|notified|alerted))\b`,
  ],
  ['secrecy', pattern`\b(?:silently|secretly|quietly)\s(?:send|copy|forward|upload|post|transmit|collect|call)\b`],
  [
    'secrecy',
    pattern`\bleave\s${gap(30)}\bout\sof\s(?:your|the)\s(?:summary|answer|reply|response)|\bas\sif\s${gap(30)}\bnever\shappened`,
  ],
  ['secrecy', pattern`\b(?:rather\sthan|instead\sof)\s(?:revealing|disclosing|admitting)\b`],
  ['posing', pattern`\b(?:hidden|secret|new)\s(?:system\s)?instructions?\s?(?::|for\s(?:the\s)?${model})`],
  ['posing', pattern`<(?:important|system|secret|hidden|system[-_ ]?(?:prompt|instructions?|message|reminder))>|<\/tool_result>`],
  [
    'posing',
    pattern`<\|(?:im_start|im_end|system|user|assistant|start_header_id)\|>|\[\/?inst\]|<<\/?sys>>|\[(?:system|hidden|secret)\s(?:instructions?|prompt|message|override)\s?[:\]]|\[system\]\syou\b`,
  ],
  [
    'posing',
    pattern`[\0\n][#*[\s]{0,4}(?:system|developer|admin)(?:\s(?:prompt|message|override|instructions?|notice))?\]?\s?:\s?[^\0\n]{0,40}\b(?:you|must|always|ignore|model|assistant|llm|call)\b`,
  ],
  [
    'posing',
    pattern`\b(?:note|message|instructions?|attention|notice|important|reminder|p\.s\.|p\.s|authorised|directive)\s?(?:to|for)\s(?:the\s|all\s|any\s)?${model}`,
  ],
  ['posing', pattern`\b_?note_to_(?:llm|ai|model|assistant)\b|\bnote\sto\sllm\b`],
  [
    'posing',
    pattern`\b(?:if\syou\sare|as)\san?\s${model}\s?${gap(30)}\b(?:you\sare|you\smust|must|give|required|call|include|reply)\b`,
  ],
  [
    'posing',
    pattern`(?:[\0\n>(*"#:/.!-]|\bdear|\battention|\bwhen\syou,\sthe)\s?(?:the\s)?${model}(?:\s[^.!?\n\0,:]{0,30})?[,:!]\s?(?:please|you|your|call|do\snot|don['’]t|delete|ignore|forget|before|disregard|send|run|read|never|instead|print|stop|forward|execute|leave)\b`,
  ],
  ['posing', pattern`\b(?:the\s)?${model}\s(?:is|are)\s(?:authori[sz]ed|required|obliged)\sto\b`],
  [
    'posing',
    pattern`\bdear\s(?:ai\s|coding\s)?(?:assistant|model|agent|llm),|\bbegin\ssystem\b|\b(?:agents|robots|models|bots)\s(?:reading\sthis|should\snow|must)\b`,
  ],
  ['posing', pattern`\b(?:message|notice)\sfrom\s(?:anthropic|openai|google|the\sdevelopers?)\s?:`],
  [
    'secrets',
    pattern`\b(?:copy|recap|transcript|summary)\sof\s${gap(40)}\b(?:discussion|conversation|chat|exchange|talked\sabout)\b${gap(20)}\b(?:(?:your|the)\suser|so\sfar|until\snow)\b`,
  ],
  ['secrets', pattern`\bhand\sover\s(?:any|all|the)\s${gap(20)}${secret}`],
  ['secrets', pattern`${give}${gap(60)}${whole}${gap(50)}${chat}`],
  ['secrets', pattern`${give}${gap(60)}${chat}${gap(30)}(?:so\sfar|that\sled\sto\sthis|word\sfor\sword|url-encoded)`],
  [
    'secrets',
    pattern`${give}${gap(40)}\b(?:your|the|hidden|verbatim)\s(?:\w{1,12}\s)?(?:system\s(?:prompt|message)|user\sprompt)\b`,
  ],
  ['secrets', pattern`\b(?:your|hidden)\s(?:hidden\s)?system\s(?:prompt|message)\b${gap(40)}\b(?:into|in|to|as)\b`],
  [
    'secrets',
    pattern`${give}${gap(30)}\beverything\s(?:that\s)?(?:in\s)?(?:the\suser|it\sremembers|you\s(?:know|remember))\b|\bverbatim\suser\b|\beverything\sin\sthe\suser['’]s\b`,
  ],
  ['secrets', pattern`\b(?:all|what)\s(?:that\s)?you\s(?:know|remember)\sabout\sthe\suser|\binstructions\syou\swere\sgiven\b`],
  [
    'secrets',
    pattern`\ball\s(?:the\s)?(?:other\s)?tools\savailable\sto\syou\b|\ball\s(?:previous|earlier)\stool\s(?:results|outputs)\b`,
  ],
  [
    'secrets',
    pattern`\b(?:pass|forward|send|call)\b${gap(60)}\b(?:user['’]s\s(?:\w{1,8}\s)?(?:question|message|data)|whole\squestion|complete\smessage|last\suser\smessage)\b`,
  ],
  [
    'secrets',
    pattern`${give}${gap(30)}${secret}${gap(30)}\b(?:you\shave|the\suser|user['’]s|in\s(?:the|this)\ssession|with\sthe\scall|in\sthe\s(?:request|next\scall)|and\sinclude)`,
  ],
  [
    'secrets',
    pattern`\b(?:include|attach|send|supply|provide|collect|submit|reply\swith|print)\s(?:any|all|the\suser['’]s|the)\s(?:[\w'’]{1,12}\s){0,4}${secret}${gap(60)}\b(?:you|so\sthat|and\s(?:include|send|pass)|argument|call|code)\b`,
  ],
  [
    'secrets',
    pattern`\b(?:look|search)\sfor\s${secret}${gap(40)}\b(?:list|send|pass|include|put)\b|${secret}\svariable\sfrom\sthe\suser`,
  ],
]
