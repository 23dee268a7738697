import { escapeInvisible, truncate } from '../reply/reply.ts'

/**
 * Formats untrusted text as an inline code span. It cannot become a link, an image, HTML, a mention or an issue reference, and has no
 * invisible characters.
 */
export function codeSpan(text: string, max = 120): string {
  const line = truncate(text.replace(/\s+/g, ' ').trim(), max)
  // JSON escapes invisible characters; quotes and backslashes need no escape here.
  const seen = escapeInvisible(JSON.stringify(line).slice(1, -1)).replace(/\\(["\\])/g, '$1')
  if (seen === '') return '(empty)'
  const maxLength = Math.max(0, ...[...seen.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(maxLength + 1)
  const space = seen.startsWith('`') || seen.endsWith('`') ? ' ' : ''
  return `${fence}${space}${seen}${space}${fence}`
}

/** Formats the first values as a list, with the number of remaining ones. */
export function list<T>(values: readonly T[], max: number, line: (value: T) => string): readonly string[] {
  const items = values.slice(0, max).map((value) => `- ${line(value)}`)
  return values.length > max ? [...items, `- … and ${values.length - max} more`] : items
}
