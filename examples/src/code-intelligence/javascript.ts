import type { Source } from './source.ts'
import type { Span } from './span.ts'

// Repetitions are bounded, so that matching takes linear time.
const modifiers = '(?:(?:export|default|public|private|protected|static|override|async|get|set|abstract)[ \\t]+|\\*[ \\t]*)*'
const generics = '(?:<[^(){}]{0,200}>)?\\s*'

/** Function headers up to the parameters. Anonymous callbacks belong to the enclosing function. */
const beginnings: readonly { readonly pattern: RegExp; readonly arrow: boolean }[] = [
  { pattern: new RegExp(`\\bfunction\\b\\s*\\*?\\s*(?<name>[\\w$]+)\\s*${generics}(?=\\()`, 'gu'), arrow: false },
  { pattern: new RegExp(`^[ \\t]*${modifiers}(?<name>#?[\\w$]+)\\s*${generics}(?=\\()`, 'gmu'), arrow: false },
  {
    pattern: new RegExp(`\\b(?:const|let|var)\\s+(?<name>[\\w$]+)[^=;\\n]{0,200}=\\s*(?:async\\s*)?${generics}(?=[(\\w$])`, 'gu'),
    arrow: true,
  },
]

const keywords = new Set([
  'if',
  'for',
  'while',
  'switch',
  'catch',
  'with',
  'return',
  'function',
  'await',
  'super',
  'new',
  'typeof',
])

/** Finds the named functions and methods in JavaScript or TypeScript code. */
export function javascriptSpans(source: Source): readonly Span[] {
  const exported = new Set(
    [...source.bare.matchAll(/\bexport\s*\{([^}]*)\}/gu)].flatMap((match) => match[1]?.match(/[\w$]+/gu) ?? []),
  )
  const found = new Map<number, Span>()
  for (const { pattern, arrow } of beginnings) {
    for (const match of source.bare.matchAll(pattern)) {
      const name = match.groups?.name ?? ''
      if (keywords.has(name)) continue
      const span = spanFrom(source, { name, start: match.index + leading(match[0]), at: match.index + match[0].length, arrow })
      if (span === undefined || found.has(span.body[0])) continue
      const line = source.lines[span.line - 1] ?? ''
      found.set(span.body[0], { ...span, exported: /^\s*export\b/u.test(line) || exported.has(name) })
    }
  }
  return [...found.values()].sort((a, b) => a.body[0] - b.body[0])
}

const leading = (text: string): number => text.length - text.trimStart().length

interface Beginning {
  readonly name: string
  readonly start: number
  /** Start of the parameters. */
  readonly at: number
  readonly arrow: boolean
}

function spanFrom(source: Source, { name, start, at, arrow }: Beginning): Span | undefined {
  const { bare } = source
  const isList = bare[at] === '('
  const close = isList ? source.closing(at) : at + (/^[\w$]*/u.exec(bare.slice(at, at + 100))?.[0].length ?? 0) - 1
  if (close === undefined) return undefined
  const body = bodyAfter(source, close + 1, arrow)
  if (body === undefined) return undefined
  return {
    name,
    line: source.lineAt(start),
    endLine: source.lineAt(body[1] - 1),
    parameters: isList ? source.code.slice(at + 1, close) : bare.slice(at, close + 1),
    body,
    exported: false,
    returns: /\breturn\s+[^\s;]/u.test(bare.slice(...body)) || bare[body[0]] !== '{',
  }
}

/** Finds the body after a parameter list and an optional return type. */
function bodyAfter(source: Source, from: number, arrow: boolean): readonly [number, number] | undefined {
  const { bare } = source
  // Types are short; without a limit, one broken function would include the next.
  const limit = Math.min(bare.length, from + 1_000)
  const first = skipSpace(bare, from)
  if (!/[:{=]/u.test(bare[first] ?? '')) return undefined
  for (let at = first; at < limit; at++) {
    const char = bare[at] ?? ''
    if (arrow && bare.startsWith('=>', at)) return arrowBody(source, skipSpace(bare, at + 2))
    if (char === ';') return undefined
    const close = source.closing(at)
    if (close === undefined) continue
    const isType = char !== '{' || /[:|&<,(]$|=>$/u.test(bare.slice(from, at).trimEnd())
    if (!isType) return arrow ? undefined : [at, close + 1]
    at = close
  }
  return undefined
}

function arrowBody(source: Source, start: number): readonly [number, number] {
  const { bare } = source
  if (bare[start] === '{') return [start, (source.closing(start) ?? bare.length - 1) + 1]
  let at = start
  while (at < bare.length) {
    const close = source.closing(at)
    if (close !== undefined) at = close
    else if (/[;,)\]}]/u.test(bare[at] ?? '')) break
    else if (bare[at] === '\n' && !/^\s*(?:[.?:+\-*/&|<>=]|$)/u.test(bare.slice(at + 1, at + 200).split('\n', 1)[0] ?? '')) break
    at++
  }
  return [start, at]
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (/\s/u.test(text[at] ?? '')) at++
  return at
}
