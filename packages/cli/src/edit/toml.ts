import { type Edit, EditError, lineBreakOf, verified } from '@unfold-mcp/client/edit'
import { isRecord } from '@unfold-mcp/core'
import { parse } from 'smol-toml'

type Table = { readonly [key: string]: unknown }

/** Sets table `[section.name]`; everything else stays byte-identical. */
export const setTomlTable =
  (section: string, name: string, table: Table): Edit =>
  (text) => {
    const { lines, first, exists } = without(text, section, name)
    const block = [
      `[${section}.${keyText(name)}]`,
      ...Object.entries(table).map(([key, value]) => `${keyText(key)} = ${valueText(value)}`),
    ]
    const line = lineBreakOf(text)
    const own = block.map((each) => `${each}${line}`)
    const isSeparated = exists || lines.length === 0 || lines.at(-1)?.trim() === ''
    const before = lines.slice(0, first)
    const last = before.at(-1)
    // The last line may lack a line break.
    if (last !== undefined && !last.endsWith('\n')) before.splice(-1, 1, `${last}${line}`)
    const after = [...before, ...(isSeparated ? [] : [line]), ...own, ...lines.slice(first)].join('')
    return checked(text, after, (value) => ({ ...value, [section]: { ...tableIn(value, section), [name]: table } }))
  }

/** Removes `[section.name]` and its subtables, if present. */
export const removeTomlTable =
  (section: string, name: string): Edit =>
  (text) => {
    const present = tableIn(parsed(text), section)
    if (!Object.hasOwn(present, name)) return text
    const { lines, first } = without(text, section, name)
    // Also remove the blank line before the table.
    if (first > 0 && lines[first - 1]?.trim() === '' && (lines[first] ?? '').trim() === '') lines.splice(first - 1, 1)
    const { [name]: _, ...rest } = present
    return checked(text, lines.join(''), ({ [section]: __, ...value }) =>
      Object.keys(rest).length === 0 ? value : { ...value, [section]: rest },
    )
  }

export function tomlTable(text: string, section: string, name: string): unknown {
  const tables = tableIn(parsed(text), section)
  return Object.hasOwn(tables, name) ? tables[name] : undefined
}

/** Lines without one table, and the position of that table or where to insert it. */
function without(text: string, section: string, name: string) {
  const lines: string[] = []
  let first: number | undefined
  let isInside = false
  let kept: string[] = []
  for (const line of text.match(/[^\n]*\n|[^\n]+$/gu) ?? []) {
    const path = headerOf(line)
    if (path !== undefined) isInside = path[0] === section && path[1] === name
    if (isInside && path !== undefined) first ??= lines.length
    const isBlankOrComment = /^\s*(?:#.*)?$/u.test(line.trimEnd())
    // Blank lines and comments at the end of a table belong to the next one.
    if (isInside && isBlankOrComment) kept.push(line)
    else if (isInside) kept = []
    else {
      lines.push(...kept, line)
      kept = []
    }
  }
  return { lines: [...lines, ...kept], first: first ?? lines.length, exists: first !== undefined }
}

const bare = '[A-Za-z0-9_-]+'
const key = `(?:${bare}|"[^"\\\\]*"|'[^']*')`
const header = new RegExp(`^\\s*\\[\\s*(${key}(?:\\s*\\.\\s*${key})*)\\s*\\]\\s*(?:#.*)?$|^\\s*\\[\\[(.*)\\]\\]`, 'u')

/** Keys in a table header; empty for an array of tables. */
function headerOf(line: string): readonly string[] | undefined {
  const found = header.exec(line.trimEnd())
  if (found === null) return undefined
  return [...(found[1] ?? '').matchAll(new RegExp(key, 'gu'))].map(([name]) => name.replace(/^["'](.*)["']$/u, '$1'))
}

const keyText = (name: string): string => (new RegExp(`^${bare}$`, 'u').test(name) ? name : JSON.stringify(name))

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([name, each]) => `${keyText(name)} = ${valueText(each)}`)
  return `{ ${pairs.join(', ')} }`
}

const checked = (before: string, after: string, intended: (value: Table) => Table): string =>
  verified(after, (text) => plain(parsed(text)), plain(intended(parsed(before))))

function parsed(text: string): Table {
  try {
    return parse(text)
  } catch (error) {
    throw new EditError('Invalid TOML.', { cause: error })
  }
}

// The parser returns objects without a prototype.
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}

const tableIn = (value: Table, section: string): Table => {
  const found = Object.hasOwn(value, section) ? value[section] : undefined
  return isRecord(found) ? found : {}
}
