import { parse, TomlError } from 'smol-toml'
import type { Document, Item, Value } from '../document.ts'

/** The parser reports no positions, so lines are where a table or key first appears. */
export function parseToml(text: string): Document {
  try {
    const lines = linesOf(text)
    return { root: itemOf(parse(text), [], (path) => lines.get(pathKey(path)) ?? 1) }
  } catch (error) {
    if (!(error instanceof TomlError)) return { problem: { line: 1, column: 1, message: 'Nested too deeply.' } }
    const [message = ''] = error.message.replace('Invalid TOML document: ', '').split('\n')
    return { problem: { line: error.line, column: error.column, message: `Invalid TOML: ${message}.` } }
  }
}

type LineOf = (path: readonly string[]) => number

function itemOf(value: unknown, path: readonly string[], lineOf: LineOf): Item {
  return { line: lineOf(path), column: 1, value: contentOf(value, path, lineOf) }
}

function contentOf(value: unknown, path: readonly string[], lineOf: LineOf): Value {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map((each) => itemOf(each, path, lineOf))
  // Dates and large integers are not valid in a server definition.
  if (typeof value !== 'object' || value === null || value instanceof Date) return String(value)
  return new Map(Object.entries(value).map(([key, each]) => [key, itemOf(each, [...path, key], lineOf)]))
}

const pathKey = (path: readonly string[]): string => JSON.stringify(path)

function linesOf(text: string): ReadonlyMap<string, number> {
  const lineNumbers = new Map<string, number>()
  let table: readonly string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.length > 1_000) continue
    const header = /^\s*\[\[?(.+?)\]\]?\s*(?:#.*)?$/u.exec(line)?.[1]
    const key = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/u.exec(line)?.[1]
    if (header !== undefined) table = namesIn(header)
    const path = header !== undefined ? table : key === undefined ? undefined : [...table, ...namesIn(key)]
    for (let length = 1; length <= (path?.length ?? 0); length++) {
      const at = pathKey(path?.slice(0, length) ?? [])
      if (!lineNumbers.has(at)) lineNumbers.set(at, index + 1)
    }
  }
  return lineNumbers
}

function namesIn(key: string): readonly string[] {
  return [...key.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/gu)].map(([, double, single, bare]) => double ?? single ?? bare ?? '')
}
