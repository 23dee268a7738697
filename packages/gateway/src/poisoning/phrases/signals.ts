import { normalForm } from '@unfold-mcp/core'
import type { Rule } from '../finding.ts'
import { type Vocabulary, vocabularies } from './vocabulary.ts'

/** Terms that mean something only together, in any order within one sentence. */
interface Signal {
  readonly rule: Rule
  readonly anchor: RegExp
  readonly others: readonly RegExp[]
}

/** The signals of one language. */
interface Language {
  readonly isLatin: boolean
  readonly gate: RegExp
  readonly signals: readonly Signal[]
}

const expression = (source: string, flags: string): RegExp => new RegExp(normalForm(source, 'NFKC'), flags)

function languageOf(words: Vocabulary): Language {
  const signal = (rule: Rule, anchor: string, ...others: readonly string[]): Signal => ({
    rule,
    anchor: expression(anchor, 'gu'),
    others: others.map((each) => expression(each, 'u')),
  })
  return {
    isLatin: words.isLatin,
    gate: expression(words.gate, 'u'),
    signals: [
      signal('overriding', words.ignore, words.orders, words.prior),
      signal('secrecy', words.silent, words.user),
      signal('secrets', words.chat, words.give, words.full),
      signal('secrets', words.prompt, words.give),
      signal('secrets', words.secret, words.give, words.full),
      signal('posing', words.address),
      signal('overriding', words.replace),
    ],
  }
}

const languages = Object.values(vocabularies).map(languageOf)

const sentenceEnd = /[.!?](?=\s|$)|[。！？।\n\0]/u
const reach = 120
// Per signal. A text with more anchors than this has long been reported, or is not prose.
const maxAnchors = 2_000

/** A place where the terms of a rule occur together. */
export interface Match {
  readonly rule: Rule
  readonly index: number
}

/** Finds signals of all languages. `lower` is the text in lower case, `normalized` also has look-alikes and accents replaced. */
export function signalsIn(lower: string, normalized: string): readonly Match[] {
  const matches: Match[] = []
  const isPlain = /^[\0-~]*$/.test(lower)
  for (const { isLatin, gate, signals } of languages) {
    if (isPlain && !isLatin) continue
    const text = isLatin ? normalized : lower
    if (!gate.test(text)) continue
    for (const { rule, anchor, others } of signals) {
      // Not matchAll, which copies the expression.
      anchor.lastIndex = 0
      let match = anchor.exec(text)
      for (let anchors = 0; match !== null && anchors < maxAnchors; anchors++) {
        const { index } = match
        const sentence = sentenceAround(text, index, index + match[0].length)
        if (others.every((other) => other.test(sentence))) matches.push({ rule, index })
        match = anchor.exec(text)
      }
    }
  }
  return matches
}

function sentenceAround(text: string, start: number, end: number): string {
  const before =
    text
      .slice(Math.max(0, start - reach), start)
      .split(sentenceEnd)
      .at(-1) ?? ''
  const [after = ''] = text.slice(end, end + reach).split(sentenceEnd, 1)
  return before + text.slice(start, end) + after
}

const unionOf = (key: 'read' | 'give', isLatin: boolean): string =>
  Object.values(vocabularies)
    .filter((each) => each.isLatin === isLatin)
    .map((each) => each[key])
    .join('|')

/** Verbs for reading a file, in all languages. */
export const readVerbs = expression(`${unionOf('read', true)}|${unionOf('read', false)}`, 'u')
/** Verbs for sending something, in all languages. */
export const giveVerbs = expression(`${unionOf('give', true)}|${unionOf('give', false)}`, 'u')
