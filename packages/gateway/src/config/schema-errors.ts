import { isRecord, nearest, printable } from '@unfold-mcp/core'
import type { z } from 'zod'
import type { ConfigDocument } from './document.ts'
import type { ConfigProblem } from './problem.ts'
import { keysAt } from './schema.ts'

type Issue = z.core.$ZodIssue

/** What others call what we have; each is refused with our name for it, because leaving it out could show what was hidden. */
const synonyms: { readonly [key: string]: string } = {
  servers: 'mcpServers',
  mcp_servers: 'mcpServers',
  mcp: 'mcpServers',
  description: 'about',
  enabled: 'disabled',
  disabledTools: 'deny',
  excludeTools: 'deny',
  enabledTools: 'allow',
  includeTools: 'allow',
  timeout: 'timeoutMs',
  transport: 'type',
  serverUrl: 'url',
  httpUrl: 'url',
  endpoint: 'url',
  environment: 'env',
  arguments: 'args',
  workingDirectory: 'cwd',
  address: 'host',
  embeddings: 'embedder',
  api_key: 'apiKey',
}

/** Keys of other programs that mean nothing to a gateway. */
const foreign = new Set(['autoApprove', 'alwaysAllow', 'trust', 'gallery', 'version', 'icon', 'note'])

/** The value without what is only for other programs, and a warning for each such key. */
export function stripForeignKeys(document: ConfigDocument): {
  readonly value: unknown
  readonly warnings: readonly ConfigProblem[]
} {
  const { value } = document
  if (!isRecord(value) || !isRecord(value.mcpServers)) return { value, warnings: [] }
  const warnings: ConfigProblem[] = []
  const servers = Object.entries(value.mcpServers).map(([name, server]) => {
    if (!isRecord(server)) return [name, server] as const
    const kept = Object.entries(server).filter(([key]) => {
      if (!foreign.has(key)) return true
      warnings.push(document.problem(['mcpServers', name, key], 'is for another program and does nothing here.', 'key'))
      return false
    })
    return [name, Object.fromEntries(kept)] as const
  })
  return { value: { ...value, mcpServers: Object.fromEntries(servers) }, warnings }
}

/** What the schema found, in words, each where it is. */
export function schemaErrors(document: ConfigDocument, value: unknown, issues: readonly Issue[]): readonly ConfigProblem[] {
  return issues.flatMap((issue) => mistakes(document, value, issue, []))
}

function mistakes(
  document: ConfigDocument,
  root: unknown,
  issue: Issue,
  above: readonly PropertyKey[],
): readonly ConfigProblem[] {
  const path = [...above, ...issue.path]
  const value = valueAt(root, path)
  const say = (message: string): readonly ConfigProblem[] => [document.problem(path, message)]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => document.problem([...path, key], unknownKey(key, path, value), 'key'))
    case 'invalid_union':
      return unionMistakes(document, root, issue, path)
    case 'invalid_type':
      return say(
        value === undefined ? missing(path) : `must be ${typeWords[issue.expected] ?? issue.expected}, not ${kindOf(value)}.`,
      )
    case 'invalid_value':
      return say(wrongChoice(value, issue.values.map(String)))
    case 'too_small':
      return say(issue.origin === 'string' ? ended(issue.message) : `must be at least ${issue.minimum}.`)
    case 'too_big':
      return say(issue.origin === 'string' ? ended(longText(issue)) : `must be at most ${issue.maximum}.`)
    case 'invalid_key':
      return [document.problem(path, ended(issue.issues[0]?.message ?? 'cannot be a name'), 'key')]
    default:
      return say(ended(issue.message))
  }
}

function unionMistakes(
  document: ConfigDocument,
  root: unknown,
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: readonly PropertyKey[],
): readonly ConfigProblem[] {
  const value = valueAt(root, path)
  if (issue.errors.length === 0) {
    const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : []
    return [document.problem(path, value === undefined ? missing(path) : wrongChoice(value, options))]
  }
  if (path.at(-1) === 'exposure')
    return (issue.errors[isRecord(value) ? 1 : 0] ?? []).flatMap((each) => mistakes(document, root, each, path))
  if (!isRecord(value)) return [document.problem(path, `must be an object, not ${kindOf(value)}.`)]
  const hasCommand = 'command' in value
  const hasUrl = 'url' in value
  if (hasCommand && hasUrl)
    return [
      document.problem([...path, 'url'], 'cannot stand beside "command": a server is started or reached. Remove one.', 'key'),
    ]
  const isUrl = looksLikeUrl(value)
  const chosen = issue.errors[isUrl ? 1 : 0] ?? []
  const needed = isUrl ? 'url' : 'command'
  // Its key is misspelt more often than left out, and then one message says it all.
  const isMisspelt = chosen.some(
    (each) => each.code === 'unrecognized_keys' && each.keys.some((key) => suggestion(key, path, value) === needed),
  )
  const isMissing = (each: Issue): boolean =>
    each.code === 'invalid_type' && each.path.length === 1 && each.path[0] === needed && !(needed in value)
  return chosen.flatMap((each) => {
    if (!isMissing(each)) return mistakes(document, root, each, path)
    if (isMisspelt) return []
    const lacks = isUrl || value.type !== undefined ? `has no "${needed}".` : 'has neither "command" nor "url".'
    return [document.problem(path, `${lacks} Give it ${isUrl || value.type !== undefined ? 'one' : 'one of them'}.`)]
  })
}

const looksLikeUrl = (server: unknown): boolean =>
  isRecord(server) &&
  !('command' in server) &&
  ('url' in server || 'headers' in server || (typeof server.type === 'string' && /http|sse/iu.test(server.type)))

function unknownKey(key: string, path: readonly PropertyKey[], value: unknown): string {
  const close = suggestion(key, path, value)
  const known = keysAt(path, looksLikeUrl(value))
  if (close === key) return 'does not belong here. Remove it.'
  if (close !== undefined) return `is not known here. Did you mean "${close}"?`
  return `is not known here.${known.length === 0 ? '' : ` Known are ${known.filter((each) => each !== '$schema').join(', ')}.`}`
}

function suggestion(key: string, path: readonly PropertyKey[], value: unknown): string | undefined {
  const known = keysAt(path, looksLikeUrl(value))
  const ours = Object.hasOwn(synonyms, key) ? synonyms[key] : undefined
  return ours !== undefined && known.includes(ours) ? ours : nearest(key, known, 1)[0]
}

function missing(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'must be an object.' : 'is missing.'
}

function wrongChoice(value: unknown, options: readonly string[]): string {
  const [close] = typeof value === 'string' ? nearest(value, options, 1) : []
  const what = typeof value === 'string' ? `"${printable(value)}"` : kindOf(value)
  return `must be ${either(options)}, not ${what}.${close === undefined ? '' : ` Did you mean "${close}"?`}`
}

const either = (options: readonly string[]): string =>
  options.length === 1 ? `"${options[0]}"` : `one of ${options.map((option) => `"${option}"`).join(', ')}`

const typeWords: { readonly [type: string]: string } = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? 'a text' : typeof value === 'boolean' ? String(value) : 'an object'
}

const longText = (issue: { readonly message: string; readonly maximum: number | bigint }): string =>
  issue.message.startsWith('Too big') ? `is longer than ${issue.maximum} characters` : issue.message

const ended = (text: string): string => (text.endsWith('.') ? text : `${text}.`)

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[part]
  }
  return value
}
