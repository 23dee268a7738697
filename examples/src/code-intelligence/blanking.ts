/** Ranges of comments and string contents in a source text. */
export interface Ranges {
  readonly comments: readonly Range[]
  readonly strings: readonly Range[]
}

export type Range = readonly [start: number, end: number]

/** Replaces these ranges with spaces; lines and positions do not change. */
export function blanked(text: string, ranges: readonly Range[]): string {
  let made = ''
  let at = 0
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    made += text.slice(at, start) + text.slice(start, end).replace(/[^\n]/gu, ' ')
    at = end
  }
  return made + text.slice(at)
}

/** Finds comments and strings in Python code. */
export function pythonRanges(text: string): Ranges {
  const comments: Range[] = []
  const strings: Range[] = []
  const token = /#[^\n]*|("""|''')[\s\S]*?(?:\1|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/gu
  for (const match of text.matchAll(token)) {
    const start = match.index
    const end = start + match[0].length
    if (match[0].startsWith('#')) comments.push([start, end])
    else strings.push(inner(start, end, match[1]?.length ?? 1))
  }
  return { comments, strings }
}

const javascriptTokens = [
  String.raw`//[^\n]*`,
  String.raw`/\*[\s\S]*?(?:\*/|$)`,
  String.raw`"(?:[^"\\\n]|\\.)*"?`,
  String.raw`'(?:[^'\\\n]|\\.)*'?`,
  // A regular expression, or two divisions; a character class may contain slashes.
  String.raw`/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,200}\])+/`,
  '[`{}]',
]

/** Finds comments and strings in JavaScript or TypeScript code. Regular expressions count as strings. */
export function javascriptRanges(text: string): Ranges {
  const comments: Range[] = []
  const strings: Range[] = []
  // `${…}` in a template contains code; each number counts its open braces.
  const templates: number[] = []
  const token = new RegExp(javascriptTokens.join('|'), 'gu')
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match
    const start = match.index
    const last = templates.length - 1
    if (found === '{' || found === '}') {
      const open = templates[last]
      if (found === '{' && open !== undefined) templates[last] = open + 1
      if (found === '}' && open !== undefined && open > 0) templates[last] = open - 1
      if (found === '}' && open === 0) {
        templates.pop()
        token.lastIndex = template(start + 1)
      }
    } else if (found === '`') token.lastIndex = template(start + 1)
    else if (found.startsWith('//') || found.startsWith('/*')) comments.push([start, start + found.length])
    else if (!found.startsWith('/')) strings.push(inner(start, start + found.length, 1))
    else if (startsValue(text, start)) strings.push(inner(start, start + found.length, 1))
    else token.lastIndex = start + 1
  }
  return { comments, strings }

  /** Reads the text of a template from `start`; returns where code continues. */
  function template(start: number): number {
    const stop = /(?:[^\\`$]|\\[\s\S]|\$(?!\{))*(`|\$\{|$)/uy
    stop.lastIndex = start
    const match = stop.exec(text)
    const end = match === null ? text.length : start + match[0].length
    const mark = match?.[1] ?? ''
    strings.push([start, end - mark.length])
    if (mark === '${') templates.push(0)
    return end
  }
}

/** Returns whether a slash starts a regular expression, because the preceding token cannot be divided. */
function startsValue(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 20), at).trimEnd()
  return before === '' || /[(,=:[!&|?{};+\-*%<>~^]$|\b(?:return|typeof|case|in|of|do|else|await|yield|void|throw)$/u.test(before)
}

const inner = (start: number, end: number, quote: number): Range => [start + quote, Math.max(start + quote, end - quote)]
