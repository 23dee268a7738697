import type { Source } from './source.ts'
import type { Span } from './span.ts'

/** Finds the functions and methods in Python code. Names with a leading underscore are not exported. */
export function pythonSpans(source: Source): readonly Span[] {
  const found: Span[] = []
  for (const match of source.bare.matchAll(/^([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*(?=\()/gmu)) {
    const [whole, indent = '', name = ''] = match
    const open = match.index + whole.length
    const close = source.closing(open)
    if (close === undefined) continue
    const colon = source.bare.indexOf(':', close)
    if (colon === -1) continue
    const body = [colon + 1, blockEnd(source, colon + 1, indent.length)] as const
    found.push({
      name,
      line: source.lineAt(match.index + indent.length),
      endLine: source.lineAt(body[1] - 1),
      parameters: source.code.slice(open + 1, close),
      body,
      exported: !name.startsWith('_'),
      returns: /\breturn\s+\S/u.test(source.bare.slice(...body)),
    })
  }
  return found
}

/** Returns the end of the lines indented deeper than `indent`. */
function blockEnd({ bare, text }: Source, from: number, indent: number): number {
  let end = endOfLine(text, from)
  for (let at = end + 1; at < text.length; at = endOfLine(text, at) + 1) {
    const line = bare.slice(at, endOfLine(text, at))
    if (line.trim() === '') continue
    if (line.length - line.trimStart().length <= indent) break
    end = endOfLine(text, at)
  }
  return end
}

function endOfLine(text: string, from: number): number {
  const found = text.indexOf('\n', from)
  return found === -1 ? text.length : found
}
