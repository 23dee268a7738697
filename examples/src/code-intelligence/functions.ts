import { javascriptSpans } from './javascript.ts'
import { pythonSpans } from './python.ts'
import type { Source } from './source.ts'
import type { Span } from './span.ts'

/** A function with its metrics. */
export interface FunctionFound extends Omit<Span, 'parameters'> {
  readonly parameters: readonly string[]
  /** Maximum nesting of blocks. */
  readonly nesting: number
  /** Cyclomatic complexity: one more than the number of branches. */
  readonly complexity: number
}

/** Finds named functions and methods by brackets and indentation, so unusual layouts may be missed. */
export function functionsOf(source: Source): readonly FunctionFound[] {
  const isPython = source.language === 'python'
  const branches = isPython ? pythonBranches : javascriptBranches
  return (isPython ? pythonSpans(source) : javascriptSpans(source)).map((span) => {
    const body = source.bare.slice(...span.body)
    return {
      ...span,
      parameters: parameterNames(span.parameters),
      nesting: isPython ? pythonNesting(body) : javascriptNesting(body),
      complexity: 1 + [...body.matchAll(branches)].length,
    }
  })
}

const javascriptBranches = /\b(?:if|for|while|case|catch)\b|&&|\|\||\?\?|\?(?![.?:])/gu
const pythonBranches = /\b(?:if|elif|for|while|except|and|or|case)\b/gu

function javascriptNesting(body: string): number {
  let deepest = 0
  let depth = 0
  const open: boolean[] = []
  for (const { 0: brace, index } of body.matchAll(/[{}]/gu)) {
    if (brace === '{') {
      const before = body.slice(Math.max(0, index - 40), index).trimEnd()
      // Object literals are not blocks, and neither is the body itself.
      const isBlock = /\)$|=>$|\b(?:else|try|finally|do)$/u.test(before)
      open.push(isBlock)
      if (isBlock) depth++
      deepest = Math.max(deepest, depth)
    } else if (open.pop() === true) depth--
  }
  return deepest
}

function pythonNesting(body: string): number {
  const open: number[] = []
  let deepest = 0
  for (const line of body.split('\n')) {
    const words = line.trimStart()
    if (!/^(?:if|elif|else|for|while|try|except|finally|with|match|case|async)\b/u.test(words)) continue
    const indent = line.length - words.length
    while ((open.at(-1) ?? -1) >= indent) open.pop()
    open.push(indent)
    deepest = Math.max(deepest, open.length)
  }
  return deepest
}

/** Returns the names in a parameter list; a destructured parameter is called `options`. */
function parameterNames(list: string): readonly string[] {
  const named = splitAtTop(list).map((part) => {
    const text = part.trim().replace(/^(?:(?:public|private|protected|readonly)\s+)+/u, '')
    return /^[{[]/u.test(text) ? 'options' : (/^\.{0,3}\*{0,2}([\w$]+)/u.exec(text)?.[1] ?? '')
  })
  return named.filter((name) => !['', 'this', 'self', 'cls'].includes(name))
}

function splitAtTop(list: string): readonly string[] {
  const parts = ['']
  let depth = 0
  for (const char of list.replaceAll('=>', '  ')) {
    if ('([{<'.includes(char)) depth++
    if (')]}>'.includes(char)) depth = Math.max(0, depth - 1)
    if (char === ',' && depth === 0) parts.push('')
    else parts.push(`${parts.pop() ?? ''}${char}`)
  }
  return parts
}
