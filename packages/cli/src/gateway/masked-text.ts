import { type Node, parseTree } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { parse as parseYaml } from 'yaml'
import { formatOf } from '../config/document.ts'
import { isOpenSecret, isSecretName, masked, maskedArgs, maskedLine, maskedText } from '../config/mask.ts'

/**
 * Masks possible secrets in the environment, headers, arguments and URLs of servers; references to variables stay visible. Keeps
 * the number of lines.
 */
export function maskConfigText(file: string, text: string): string {
  const format = formatOf(file)
  const shown = format === 'json' ? shownJson(text) : shownLiteral(text, format === 'toml' ? parseToml : parseYaml)
  return shown.split('\n').map(maskedLine).join('\n')
}

function shownJson(text: string): string {
  const root = attempted(() => parseTree(text, [], { allowTrailingComma: true }))
  if (root === undefined) return text
  return secretsIn(root)
    .toSorted((a, b) => b.value.offset - a.value.offset)
    .reduce(
      (rest, { value: { offset, length }, shown }) =>
        `${rest.slice(0, offset)}${JSON.stringify(shown)}${rest.slice(offset + length)}`,
      text,
    )
}

// These parsers report no positions, so a value is masked wherever it occurs.
function shownLiteral(text: string, parse: (text: string) => unknown): string {
  const root = attempted(() => nodeOf(parse(text)))
  if (root === undefined) return text
  return secretsIn(root)
    .map(({ value, shown }) => [String(value.value), shown] as const)
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((rest, [value, shown]) => {
      const quoted = [
        [JSON.stringify(value), JSON.stringify(shown)],
        [`'${value}'`, `'${shown}'`],
      ] as const
      const literal = quoted
        .reduce((now, [from, to]) => now.replaceAll(from, to), rest)
        .split('\n')
        .map((line) => withoutPlain(line, value, shown))
        .join('\n')
      // Other forms of quoting. Short values would also match parts of words.
      return value.length < shortest ? literal : literal.replaceAll(value, shown + '\n'.repeat(value.split('\n').length - 1))
    }, text)
}

/** Masks an unquoted value at the end of a line, as in `key: value` and `- value`. */
function withoutPlain(line: string, value: string, shown: string): string {
  const start = line.trimEnd().slice(0, -value.length)
  return line.trimEnd().endsWith(value) && /[:-]\s+$/u.test(start) ? `${start}${shown}` : line
}

const shortest = 6

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
  if (typeof value !== 'object' || value === null || value instanceof Date) return { ...at, type: typed(value), value }
  const children = Object.entries(value).map(
    ([key, each]): Node => ({ ...at, type: 'property', children: [nodeOf(key), nodeOf(each)] }),
  )
  return { ...at, type: 'object', children }
}

const typed = (value: unknown): Node['type'] => (typeof value === 'string' ? 'string' : 'number')

interface Secret {
  readonly value: Node
  readonly shown: string
}

const tables: ReadonlySet<string> = new Set(['env', 'envs', 'environment', 'headers', 'http_headers'])
const commands: ReadonlySet<string> = new Set(['args', 'command'])

function secretsIn(node: Node, key = ''): readonly Secret[] {
  const { type, children = [] } = node
  if (type === 'string') return changed(node, isSecretName(key) ? masked : maskedText)
  if (type === 'array' && commands.has(key)) {
    const shown = maskedArgs(children.map((each) => (typeof each.value === 'string' ? each.value : '')))
    return children.flatMap((each, at) => changed(each, () => shown[at] ?? ''))
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
    value.length >= shortest || isOpenSecret(name, value) ? masked(value) : value

function changed(node: Node, hide: (value: string) => string): readonly Secret[] {
  if (typeof node.value !== 'string') return []
  const shown = hide(node.value)
  return shown === node.value ? [] : [{ value: node, shown }]
}
