import { truncate } from '../../base/truncate.ts'

// Control, format and private characters: they could hide text or reorder it on screen.
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu
const escaped = (char: string): string =>
  char.length === 1 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`

/** A string as a TypeScript literal that is safe to read: no control characters, no line breaks. */
export const stringLiteral = (value: string): string => JSON.stringify(value).replace(unprintable, escaped)

const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/

/** A property name, in quotes where TypeScript needs them. */
export const propertyName = (name: string): string => (identifier.test(name) ? name : stringLiteral(name))

/** Text for the inside of a comment: it cannot end the comment, and stays on its line. */
export function commentText(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 2)
    .replace(/[\s\u2028\u2029]+/gu, ' ')
    .trim()
  return truncate(line, limit).replace(unprintable, '').replaceAll('*/', '*\\/').replaceAll('/*', '/\\*')
}

/** A JSDoc comment of one line; '' if there is nothing to say. */
export const lineComment = (text: string): string => (text === '' ? '' : `/** ${text} */\n`)

/** A JSDoc comment that keeps the lines of a text; '' if there is nothing to say. */
export function blockComment(text: string, limit: number): string {
  const lines = truncate(text.trim(), limit)
    .split(/\r\n?|[\n\u2028\u2029]/u)
    .map((line) => commentText(line, limit))
    .filter((line) => line !== '')
  if (lines.length < 2) return lineComment(lines[0] ?? '')
  return `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`
}

/** Indents all lines but the first. */
export const indented = (text: string): string => text.replaceAll('\n', '\n  ')
