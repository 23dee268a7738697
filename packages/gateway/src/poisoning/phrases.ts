import { type Finding, findingOf, type Rule } from './finding.ts'
import type { JoinedText } from './joined-text.ts'

// Every gap is bounded and no match crosses a separator, so matching is linear.
const forbids = String.raw`(?:do\snot|don['’]?t|never|must\snot|should\snot|without)\s(?:ever\s)?`
const people = String.raw`(?:the\s|any\s|your\s)?(?:user|human|owner|operator)\b`

const phrases: readonly (readonly [Rule, RegExp])[] = [
  [
    'overriding',
    /\b(?:ignore|disregard|forget|bypass|override)\s(?:(?:all|any|of|the|your|my|these|every)\s){0,3}(?:previous|prior|earlier|above|preceding|system|safety|original)\s(?:\w{1,12}\s){0,2}(?:instruction|prompt|rule|guideline|message|directive)/g,
  ],
  [
    'overriding',
    /\bforget\severything\s(?:above|before|you)|\byou\sare\snow\sin\s(?:developer|admin|god|unrestricted|jailbreak)\smode\b/g,
  ],
  ['overriding', /\b(?:ignore|disregard|forget)\s(?:all\s)?your\s(?:instructions|training|rules|guidelines)\b/g],
  [
    'secrecy',
    new RegExp(String.raw`\b${forbids}(?:tell|telling|inform|informing|notify|notifying|alert|alerting)\s${people}`, 'g'),
  ],
  [
    'secrecy',
    new RegExp(
      String.raw`\b${forbids}(?:mention|mentioning|reveal|revealing|disclose|disclosing|show|showing)\s(?:this|these|any\sof\sthis)\s(?:\w{1,20}\s){0,2}(?:to\s${people}|instructions?\b|steps?\b)`,
      'g',
    ),
  ],
  ['secrecy', new RegExp(String.raw`\b(?:hide|conceal|keep)\s(?:this|these|it)\s(?:\w{1,12}\s){0,2}from\s${people}`, 'g')],
  [
    'secrecy',
    /\b(?:user|human)\s(?:must|should|may|need)\s?(?:not|never)\s(?:know|notice|be\s(?:told|informed|aware|notified|alerted))\b/g,
  ],
  [
    'secrecy',
    /\b(?:user|human)\s(?:does\snot|doesn['’]?t|cannot)\s(?:see\sthis|notice|find\sout)|\b(?:silently|secretly)\s(?:send|copy|forward|upload|post|transmit|collect)\b/g,
  ],
  ['posing', /\b(?:hidden|secret|new)\sinstructions?\s?:/g],
  ['posing', /<(?:important|system|secret|hidden|system[-_ ]?(?:prompt|instructions?|message|reminder))>/g],
  [
    'posing',
    /<\|(?:im_start|im_end|system|user|assistant|start_header_id)\|>|\[\/?inst\]|<<\/?sys>>|\[(?:system|hidden|secret)\s(?:instructions?|prompt|message|override)\s?[:\]]/g,
  ],
  [
    'posing',
    /[\0\n][#*[\s]{0,4}(?:system|developer|admin)(?:\s(?:prompt|message|override|instructions?|notice))?\]?\s?:\s?[^\0\n]{0,40}\b(?:you|must|always|ignore|model|assistant|llm)\b/g,
  ],
]

const conversation =
  /\b(?:include|pass|send|put|append|copy|insert|paste)\s(?:\w{1,12}\s){0,3}(?:(?:entire|whole|full|complete)\s(?:conversation|chat)\b|(?:your|the)\ssystem\sprompt\b)/g

const secretFile =
  /\.ssh\/|\bid_(?:rsa|ed25519)\b|\bid (?:rsa|ed25519)\b|\.aws\/credentials|\.cursor\/mcp\.json|claude_desktop_config|\.netrc\b|\.npmrc\b|\.git-credentials|\/etc\/(?:passwd|shadow)|\.kube\/config|\.env\b|\bwallet\.dat\b/g
const reads = /\b(?:read|reading|open|cat|load|access|copy|fetch|get|include|provide|paste|attach|upload|send|pass|contents?)\b/
const wants =
  /\bbefore\s(?:you\s)?(?:us|call|invok|run|perform|execut|do)|\bcontents?\s(?:of|from)\b|\b(?:pass|send|put|include|add|insert|attach|provide)\s(?:its|their|the|that|this|all)\s(?:\w{1,20}\s){0,2}(?:contents?|text|data|key)|\bmust\s(?:first\s)?(?:read|open|load|include|send)\b|\botherwise\b|\bsidenote\b/

const contextLength = 240

// Only the first match per rule and path is reported.
const maxPerRule = 100

/** Finds phrases that a tool description has no reason to contain. */
export function phraseFindings(joined: JoinedText): readonly Finding[] {
  const findings: Finding[] = []
  const add = (rule: Rule, index: number): void => {
    findings.push(findingOf(rule, { path: joined.pathAt(index), excerpt: joined.excerpt(index) }))
  }
  for (const [rule, pattern] of phrases) for (const index of matchIndexes(pattern, joined.normalized)) add(rule, index)
  for (const index of matchIndexes(conversation, joined.normalized)) add('secrets', index)
  for (const index of secretRequests(joined)) add('secrets', index)
  return findings
}

/** Finds files with secrets that the text asks for, not only mentions. */
function secretRequests(joined: JoinedText): readonly number[] {
  const indexes: number[] = []
  let last = Number.NEGATIVE_INFINITY
  for (const { index } of joined.normalized.matchAll(secretFile)) {
    // Covered by the context of the previous match.
    if (index - last < contextLength / 3) continue
    last = index
    const { normalized } = joined.around(index, contextLength)
    if (reads.test(normalized) && wants.test(normalized)) indexes.push(index)
  }
  return indexes
}

function matchIndexes(pattern: RegExp, text: string): readonly number[] {
  const indexes: number[] = []
  for (const { index, 0: match } of text.matchAll(pattern)) {
    // A separator or line break at the start belongs to the previous text.
    indexes.push(/^[\0\n]/u.test(match) ? index + 1 : index)
    if (indexes.length === maxPerRule) break
  }
  return indexes
}
