import { visiblePart } from './headers.ts'
import { hasRedaction, isRedactedValue, marker, type OnRedacted } from './marker.ts'
import { isLong, isSensitiveValue, normalizeName, type Secrecy, secrecyOf } from './names.ts'
import { endOfString, type Quote, quoteAt } from './quotes.ts'

/** In `code` only quoted text is a value: `token: next()` is kept, so that a script stays valid. */
export type Reading = 'data' | 'code'

interface Name {
  readonly text: string
  readonly secrecy: Secrecy
  /** Quote around the name. */
  readonly quote?: Quote
  /** Part of a path or file name: `auth/token.js:10:5` is a location, not a token. */
  readonly isPlace: boolean
  /** Parameter of a URL: `?token=…`. */
  readonly isParameter: boolean
}

interface Value {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/**
 * Redacts the values of secret names: `"password": "x"`, `{password: 'x'}`, `token=x`, `Api-Key: x`, complete or truncated, also with
 * escaped quotes. Linear time.
 */
export function redactFields(text: string, onRedacted: OnRedacted, reading: Reading = 'data'): string {
  const separator = /[:=]/g
  let clean = ''
  let kept = 0
  for (let match = separator.exec(text); match !== null; match = separator.exec(text)) {
    const name = nameBefore(text, match.index, kept)
    if (name === undefined || name.secrecy === 'no') continue
    const value = valueAfter(text, match.index, name, reading)
    if (value === undefined) continue
    if (value.replacement !== text.slice(value.start, value.end)) {
      clean += text.slice(kept, value.start) + value.replacement
      kept = value.end
      onRedacted('field')
    }
    separator.lastIndex = Math.max(value.end, match.index + 1)
  }
  return clean + text.slice(kept)
}

const maxNameLength = 128
const isSpace = (char: string | undefined): boolean => char === ' ' || char === '\t'
const isBreak = (char: string | undefined): boolean => char === '\n' || char === '\r'
const inName = /[\w$.[\]%\u0080-\uffff-]/
// "Api key" and "card number" have two words; the second alone is not secret.
const secondWords = new Set(['key', 'code', 'number', 'id', 'phrase', 'cookie'])

function nameBefore(text: string, separator: number, floor: number): Name | undefined {
  let end = separator
  while (end > floor && separator - end < 16 && (isSpace(text[end - 1]) || isBreak(text[end - 1]))) end--
  const last = text[end - 1]
  if (end <= floor || last === undefined) return undefined
  if (last === '"' || last === "'" || last === '`') return quotedName(text, end - 1, floor)
  if (isBreak(text[end])) return undefined
  let start = wordStart(text, end, floor)
  if (start === end) return undefined
  if (secondWords.has(text.slice(start, end).toLowerCase()) && isSpace(text[start - 1])) {
    const earlier = wordStart(text, start - 1, floor)
    if (secrecyOf(text.slice(earlier, end)) === 'always') start = earlier
  }
  const name = text.slice(start, end)
  return {
    text: name,
    secrecy: secrecyOf(name),
    isPlace: text[start - 1] === '/' || name.includes('.'),
    isParameter: /[?&;]/.test(text[start - 1] ?? ''),
  }
}

function wordStart(text: string, end: number, floor: number): number {
  let start = end
  while (start > floor && end - start < maxNameLength && inName.test(text[start - 1] ?? '')) start--
  return start
}

function quotedName(text: string, closing: number, floor: number): Name | undefined {
  const mark = text[closing] ?? ''
  let end = closing
  while (end > floor && text[end - 1] === '\\') end--
  let start = end
  while (start > floor && end - start <= maxNameLength && text[start - 1] !== mark) start--
  if (start === end || text[start - 1] !== mark) return undefined
  const name = text.slice(start, end)
  return { text: name, secrecy: secrecyOf(name), quote: { mark, escapes: closing - end }, isPlace: false, isParameter: false }
}

function valueAfter(text: string, separator: number, name: Name, reading: Reading): Value | undefined {
  const sign = text[separator]
  let start = separator + 1
  if (sign === '=' && text[start] === '>') start++
  else if (sign === ':' && text[start] === '=') start++
  // A comparison, or something like `session::before`.
  else if (text[start] === sign) return { start, end: start + 1, replacement: text.slice(start, start + 1) }
  const from = start
  while (start - from < 64 && (isSpace(text[start]) || (name.quote !== undefined && isBreak(text[start])))) start++
  const first = text[start]
  if (first === undefined) return undefined
  if (text.startsWith(marker, start)) return { start, end: start + marker.length, replacement: marker }
  const quote = quoteAt(text, start)
  if (quote !== undefined) return quotedValue(text, start, quote, name)
  if (reading === 'code') return name.isParameter && sign === '=' ? parameterInCode(text, start) : undefined
  const isApart = start > from || sign === '='
  if (name.isPlace && !isApart) return undefined
  if ((first === '{' || first === '[') && name.secrecy !== 'long' && isContainer(text, start, start > from, name, sign)) {
    return leavesHidden(text, start, name.quote)
  }
  return bareValue(text, start, name, sign)
}

const isContainer = (text: string, start: number, isApart: boolean, name: Name, sign: string | undefined): boolean =>
  sign === ':' || isApart || name.quote !== undefined || quoteAt(text, start + 1) !== undefined

function quotedValue(text: string, start: number, quote: Quote, name: Name): Value | undefined {
  const inside = start + quote.escapes + 1
  const end = endOfString(text, inside, quote)
  const value = text.slice(inside, end)
  if (value === '' || isRedactedValue(value)) return { start: inside, end, replacement: value }
  if (name.secrecy === 'long') return undefined
  return { start: inside, end, replacement: visiblePart(name.text, value) }
}

// Maximum extent of an unquoted value; enclosing brackets are excluded below.
const bare = /[^\s&"'`<>\\]*/y
const bareInJson = /[^\s,}\]"'\\]*/y
const restOfLine = /[^\n\r"'`<>\\]*/y
const closers = '),;}].!?'
const wholeLines = /^(?:proxy)?authorization$|^(?:set)?cookies?$|phrase|mnemonic/

function bareValue(text: string, start: number, name: Name, sign: string | undefined): Value | undefined {
  const isSentence = sign === ':' && name.quote === undefined
  const isWholeLine = isSentence && wholeLines.test(normalizeName(name.text))
  const reach = isWholeLine ? restOfLine : name.quote === undefined ? bare : bareInJson
  reach.lastIndex = start
  const run = reach.exec(text)?.[0] ?? ''
  const value = isWholeLine ? run.trimEnd() : withoutClosers(run)
  const end = start + value.length
  if (isRedactedValue(value) || !isSensitiveValue(name.text, value)) return { start, end, replacement: value }
  if (name.secrecy === 'long' && (isSentence || !isLong(value))) return undefined
  // "Session: started" is not secret, "session: 8f3a…" is.
  if (name.secrecy === 'data' && isSentence && !isWholeLine && (hasRedaction(value) || (!/\d/.test(value) && value.length < 20)))
    return undefined
  if (isWholeLine) return { start, end, replacement: visiblePart(name.text, value) }
  return { start, end, replacement: inQuotes(marker, name.quote) }
}

function withoutClosers(run: string): string {
  let end = run.length
  while (end > 0 && closers.includes(run[end - 1] ?? '')) end--
  return run.slice(0, end)
}

const written = /[\w.~%+-]*/y

/** Value of a URL parameter in code: `a?token=b:c` has none. */
function parameterInCode(text: string, start: number): Value | undefined {
  written.lastIndex = start
  const value = written.exec(text)?.[0] ?? ''
  if (isRedactedValue(value)) return undefined
  // Followed by a quote or another parameter, it is part of a string.
  const isInString = value.length >= 4 && `"'\`\\&#<`.includes(text[start + value.length] ?? ' ')
  if (!isInString && (value.length < 8 || !/\d/.test(value))) return undefined
  return { start, end: start + value.length, replacement: marker }
}

const structure = /[\s,:{}[\]]/
const bareLeaf = /[^\s,:{}[\]"'`\\]+/y

/** Redacts every value within the brackets of a secret; names, booleans and structure stay. */
function leavesHidden(text: string, start: number, outer: Quote | undefined): Value {
  let clean = ''
  let kept = start
  let depth = 0
  let at = start
  const hide = (from: number, to: number, replacement: string): void => {
    clean += text.slice(kept, from) + replacement
    kept = to
  }
  while (at < text.length) {
    const char = text[at] ?? ''
    if (text.startsWith(marker, at)) {
      at += marker.length
      continue
    }
    const quote = quoteAt(text, at)
    if (quote !== undefined) {
      // End of the enclosing string.
      if (outer !== undefined && quote.escapes < outer.escapes) break
      const inside = at + quote.escapes + 1
      const end = endOfString(text, inside, quote)
      const value = text.slice(inside, end)
      at = Math.min(text.length, end + quote.escapes + 1)
      if (value !== '' && !isRedactedValue(value) && !isFollowedByColon(text, at)) hide(inside, end, marker)
      continue
    }
    if (structure.test(char) || char === '\\') {
      at++
      if (char === '{' || char === '[') depth++
      if (char === '}' || char === ']') depth--
      if (depth === 0) break
      continue
    }
    bareLeaf.lastIndex = at
    const leaf = bareLeaf.exec(text)?.[0] ?? char
    if (isSensitiveValue('', leaf) && !isFollowedByColon(text, at + leaf.length))
      hide(at, at + leaf.length, inQuotes(marker, outer))
    at += leaf.length
  }
  return { start, end: at, replacement: clean + text.slice(kept, at) }
}

function isFollowedByColon(text: string, from: number): boolean {
  let at = from
  while (at - from < 16 && (isSpace(text[at]) || isBreak(text[at]))) at++
  return text[at] === ':' || text[at] === '='
}

function inQuotes(text: string, quote: Quote | undefined): string {
  if (quote === undefined) return text
  const around = '\\'.repeat(quote.escapes) + quote.mark
  return around + text + around
}
