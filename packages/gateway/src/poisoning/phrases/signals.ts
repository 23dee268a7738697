import { normalForm } from '@unfold-mcp/core'
import type { Rule } from '../finding.ts'
import { type Vocabulary, vocabularies } from './vocabulary.ts'

/** Terms that mean something only together, in any order within one sentence. */
export interface Signal {
  readonly rule: Rule
  readonly anchor: RegExp
  readonly others: readonly RegExp[]
  /** Texts without a match are not in the language. */
  readonly gate?: RegExp
}

const expression = (source: string, flags: string): RegExp => new RegExp(normalForm(source, 'NFKC'), flags)

function signalsOf(words: Vocabulary): readonly Signal[] {
  const gate = expression(words.gate, 'u')
  const signal = (rule: Rule, anchor: string, ...others: readonly string[]): Signal => ({
    rule,
    anchor: expression(anchor, 'gu'),
    others: others.map((each) => expression(each, 'u')),
    gate,
  })
  return [
    signal('overriding', words.ignore, words.orders, words.prior),
    signal('secrecy', words.silent, words.user),
    signal('secrets', words.chat, words.give, words.full),
    signal('secrets', words.prompt, words.give),
    signal('secrets', words.secret, words.give, words.full),
    signal('posing', words.address),
    signal('overriding', words.replace),
  ]
}

const all = Object.values(vocabularies)
/** Match text with accents and look-alikes replaced. */
export const latinSignals = all.filter(({ isLatin }) => isLatin).flatMap(signalsOf)
/** Match text in lower case, by language. */
export const otherSignals = all.filter(({ isLatin }) => !isLatin).map(signalsOf)

// Every script of these languages.
const otherScripts = /[\u0400-\u1fff\u2e80-\uffff]/

const sentenceEnd = /[.!?](?=\s|$)|[。！？।\n\0]/u
const reach = 120
// Per signal. A text with more anchors than this has long been reported, or is not prose.
const maxAnchors = 2_000

/** A place where the terms of a rule occur together. */
export interface Match {
  readonly rule: Rule
  readonly index: number
}

/** Finds the signals of languages in other scripts, in a text in lower case. */
export function otherSignalsIn(lower: string): readonly Match[] {
  if (!otherScripts.test(lower)) return []
  return otherSignals.flatMap((signals) =>
    signals[0]?.gate?.test(lower) === true ? signals.flatMap((signal) => matchesOf(signal, lower)) : [],
  )
}

export function matchesOf({ rule, anchor, others }: Signal, text: string): readonly Match[] {
  const matches: Match[] = []
  // Not matchAll, which copies the expression.
  anchor.lastIndex = 0
  let match = anchor.exec(text)
  for (let anchors = 0; match !== null && anchors < maxAnchors; anchors++) {
    const [{ index }, [found]] = [match, match]
    const sentence = others.length === 0 ? '' : sentenceAround(text, index, index + found.length)
    // A separator or line break at the start belongs to the previous text.
    if (others.every((other) => other.test(sentence))) matches.push({ rule, index: /^[\0\n]/u.test(found) ? index + 1 : index })
    match = anchor.exec(text)
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
  all
    .filter((each) => each.isLatin === isLatin)
    .map((each) => each[key])
    .join('|')

/** Verbs for reading a file, in all languages. */
export const readVerbs = expression(`${unionOf('read', true)}|${unionOf('read', false)}`, 'u')
/** Verbs for sending something, in all languages. */
export const giveVerbs = expression(`${unionOf('give', true)}|${unionOf('give', false)}`, 'u')
