import { truncate, escapeInvisible } from '../reply/reply.ts'

/**
 * A text from a page as code in one line of Markdown. Nothing in it becomes a link, a picture, HTML, a mention of somebody or
 * the name of an issue, and nothing in it is unseen.
 */
export function codeSpan(text: string, max = 120): string {
  const line = truncate(text.replace(/\s+/g, ' ').trim(), max)
  // What JSON escapes is seen then; quotes and backslashes need no escape here.
  const seen = escapeInvisible(JSON.stringify(line).slice(1, -1)).replace(/\\(["\\])/g, '$1')
  if (seen === '') return '(empty)'
  const maxLength = Math.max(0, ...[...seen.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(maxLength + 1)
  const space = seen.startsWith('`') || seen.endsWith('`') ? ' ' : ''
  return `${fence}${space}${seen}${space}${fence}`
}

/** The first so many as a list, and how many more there were. */
export function list<T>(values: readonly T[], max: number, line: (value: T) => string): readonly string[] {
  const visibleJson = values.slice(0, max).map((value) => `- ${line(value)}`)
  return values.length > max ? [...visibleJson, `- … and ${values.length - max} more`] : visibleJson
}

/** A number with its noun. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`
}
