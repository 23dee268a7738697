import { isLiteralSecret, isSecretName, masked, maskedArgs, maskedLine, maskedText, maskedVariable } from '@unfold-mcp/core'
import { type Node, parseTree } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { parse as parseYaml } from 'yaml'
import { formatOf } from '../config/document.ts'

/**
 * Masks possible secrets in the environment, headers, arguments and URLs of servers; references to variables stay visible. Keeps
 * the number of lines.
 */
export function maskConfigText(file: string, text: string): string {
  const format = formatOf(file)
  const result = format === 'json' ? maskJson(text) : maskLiterals(text, format === 'toml' ? parseToml : parseYaml)
  return result.split('\n').map(maskedLine).join('\n')
}

function maskJson(text: string): string {
  const root = attempted(() => parseTree(text, [], { allowTrailingComma: true }))
  if (root === undefined) return text
  return secretsIn(root)
    .toSorted((a, b) => b.value.offset - a.value.offset)
    .reduce(
      (rest, { value: { offset, length }, replacement }) =>
        `${rest.slice(0, offset)}${JSON.stringify(replacement)}${rest.slice(offset + length)}`,
      text,
    )
}

// These parsers report no positions, so a value is masked wherever it occurs.
function maskLiterals(text: string, parse: (text: string) => unknown): string {
  const root = attempted(() => nodeOf(parse(text)))
  if (root === undefined) return text
  return secretsIn(root)
    .map(({ value, replacement }) => [String(value.value), replacement] as const)
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((rest, [value, replacement]) => {
      const quoted = [
        [JSON.stringify(value), JSON.stringify(replacement)],
        [`'${value}'`, `'${replacement}'`],
      ] as const
      const literal = quoted
        .reduce((now, [from, to]) => now.replaceAll(from, to), rest)
        .split('\n')
        .map((line) => maskPlain(line, value, replacement))
        .join('\n')
      // Other forms of quoting. Short values would also match parts of words.
      return value.length < minLength
        ? literal
        : literal.replaceAll(value, replacement + '\n'.repeat(value.split('\n').length - 1))
    }, text)
}

/** Masks an unquoted value at the end of a line, as in `key: value` and `- value`. */
function maskPlain(line: string, value: string, replacement: string): string {
  const start = line.trimEnd().slice(0, -value.length)
  return line.trimEnd().endsWith(value) && /[:-]\s+$/u.test(start) ? `${start}${replacement}` : line
}

const minLength = 6

function attempted<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

/** Converts plain data to a JSON tree without positions. */
function nodeOf(value: unknown): Node {
  const at = { offset: 0, length: 0 }
  if (Array.isArray(value)) return { ...at, type: 'array', children: value.map(nodeOf) }
  if (typeof value !== 'object' || value === null || value instanceof Date) return { ...at, type: nodeType(value), value }
  const children = Object.entries(value).map(
    ([key, each]): Node => ({ ...at, type: 'property', children: [nodeOf(key), nodeOf(each)] }),
  )
  return { ...at, type: 'object', children }
}

const nodeType = (value: unknown): Node['type'] => (typeof value === 'string' ? 'string' : 'number')

interface Secret {
  readonly value: Node
  readonly replacement: string
}

const tables: ReadonlySet<string> = new Set(['env', 'envs', 'environment', 'headers', 'http_headers'])
const commands: ReadonlySet<string> = new Set(['args', 'command'])

function secretsIn(node: Node, key = ''): readonly Secret[] {
  const { type, children = [] } = node
  if (type === 'string') return changed(node, isSecretName(key) ? masked : maskedText)
  if (type === 'array' && commands.has(key)) {
    const words = maskedArgs(children.map((each) => (typeof each.value === 'string' ? each.value : '')))
    return children.flatMap((each, at) => changed(each, () => words[at] ?? ''))
  }
  if (type === 'array') return children.flatMap((each) => secretsIn(each, key))
  return children.flatMap(({ children: [name, value] = [] }) => {
    if (name === undefined || value === undefined) return []
    return tables.has(key) && value.type === 'string'
      ? changed(value, maskedIn(String(name.value)))
      : secretsIn(value, String(name.value))
  })
}

// Short values such as "true" are not secret.
const maskedIn =
  (name: string) =>
  (value: string): string =>
    value.length >= minLength || isLiteralSecret(name, value) ? maskedVariable(name, value) : value

function changed(node: Node, hide: (value: string) => string): readonly Secret[] {
  if (typeof node.value !== 'string') return []
  const replacement = hide(node.value)
  return replacement === node.value ? [] : [{ value: node, replacement }]
}
