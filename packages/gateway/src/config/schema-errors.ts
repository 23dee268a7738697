import { isRecord, nearest, printable } from '@unfold-mcp/core'
import type { z } from 'zod'
import type { ConfigDocument } from './document.ts'
import type { ConfigProblem } from './problem.ts'
import { keysAt } from './schema.ts'

type Issue = z.core.$ZodIssue

/** Keys of other programs with our equivalent. They are errors, because ignoring `disabledTools` would expose hidden tools. */
const synonyms: { readonly [key: string]: string } = {
  servers: 'mcpServers',
  mcp_servers: 'mcpServers',
  mcp: 'mcpServers',
  about: 'description',
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

/** Keys of other programs that have no meaning here. */
const foreign = new Set(['autoApprove', 'alwaysAllow', 'gallery', 'version', 'icon', 'note'])

/** Gemini CLI has a `trust` that is true or false. */
const isForeign = (key: string, value: unknown): boolean => foreign.has(key) || (key === 'trust' && typeof value === 'boolean')

/** Removes keys of other programs, with a warning for each. */
export function stripForeignKeys(document: ConfigDocument): {
  readonly value: unknown
  readonly warnings: readonly ConfigProblem[]
} {
  const { value } = document
  if (!isRecord(value) || !isRecord(value.mcpServers)) return { value, warnings: [] }
  const warnings: ConfigProblem[] = []
  const servers = Object.entries(value.mcpServers).map(([name, server]) => {
    if (!isRecord(server)) return [name, server] as const
    const ownKeys = Object.entries(server).filter(([key, setting]) => {
      if (!isForeign(key, setting)) return true
      warnings.push(document.problem(['mcpServers', name, key], 'is a setting of another program and is ignored.', 'key'))
      return false
    })
    return [name, Object.fromEntries(ownKeys)] as const
  })
  return { value: { ...value, mcpServers: Object.fromEntries(servers) }, warnings }
}

/** Translates schema issues into located messages. */
export function schemaErrors(document: ConfigDocument, value: unknown, issues: readonly Issue[]): readonly ConfigProblem[] {
  return issues.flatMap((issue) => issueProblems(document, value, issue, []))
}

function issueProblems(
  document: ConfigDocument,
  root: unknown,
  issue: Issue,
  parent: readonly PropertyKey[],
): readonly ConfigProblem[] {
  const path = [...parent, ...issue.path]
  const value = valueAt(root, path)
  const problem = (message: string): readonly ConfigProblem[] => [document.problem(path, message)]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => document.problem([...path, key], unknownKey(key, path, value), 'key'))
    case 'invalid_union':
      return unionProblems(document, root, issue, path)
    case 'invalid_type':
      return problem(
        value === undefined ? missing(path) : `must be ${typeNames[issue.expected] ?? issue.expected}, not ${kindOf(value)}.`,
      )
    case 'invalid_value':
      return problem(wrongChoice(value, issue.values.map(String)))
    case 'too_small':
      return problem(issue.origin === 'string' ? sentence(issue.message) : `must be at least ${issue.minimum}.`)
    case 'too_big':
      return problem(issue.origin === 'string' ? sentence(longText(issue)) : `must be at most ${issue.maximum}.`)
    case 'invalid_key':
      return [document.problem(path, sentence(issue.issues[0]?.message ?? 'is not a valid name'), 'key')]
    default:
      return problem(sentence(issue.message))
  }
}

function unionProblems(
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
  // Either a name or an object.
  if (path.at(-1) === 'exposure' || path.at(-1) === 'sandbox')
    return (issue.errors[isRecord(value) ? 1 : 0] ?? []).flatMap((each) => issueProblems(document, root, each, path))
  if (path[0] === 'policy') return alternativeProblems(document, root, issue, path)
  if (!isRecord(value)) return [document.problem(path, `must be an object, not ${kindOf(value)}.`)]
  const hasCommand = 'command' in value
  const hasUrl = 'url' in value
  if (hasCommand && hasUrl)
    return [document.problem([...path, 'url'], 'cannot be combined with "command". Remove one of them.', 'key')]
  const isUrl = looksLikeUrl(value)
  const issues = issue.errors[isUrl ? 1 : 0] ?? []
  const needed = isUrl ? 'url' : 'command'
  // A misspelt key would otherwise be reported twice: as unknown and as missing.
  const isMisspelt = issues.some(
    (each) => each.code === 'unrecognized_keys' && each.keys.some((key) => suggestion(key, path, value) === needed),
  )
  const isMissing = (each: Issue): boolean =>
    each.code === 'invalid_type' && each.path.length === 1 && each.path[0] === needed && !(needed in value)
  return issues.flatMap((each) => {
    if (!isMissing(each)) return issueProblems(document, root, each, path)
    if (isMisspelt) return []
    const isKnownKind = isUrl || value.type !== undefined
    return [document.problem(path, isKnownKind ? `requires "${needed}".` : 'requires "command" or "url".')]
  })
}

/** Reports the problems of the alternative that has the type of the value. */
function alternativeProblems(
  document: ConfigDocument,
  root: unknown,
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: readonly PropertyKey[],
): readonly ConfigProblem[] {
  const ofType = issue.errors.find((errors) => errors.every((each) => each.path.length > 0 || each.code !== 'invalid_type'))
  if (ofType !== undefined) return ofType.flatMap((each) => issueProblems(document, root, each, path))
  const expected = issue.errors.flatMap(([each]) =>
    each?.code === 'invalid_type' ? [typeNames[each.expected] ?? each.expected] : [],
  )
  return [document.problem(path, `must be ${expected.join(' or ')}, not ${kindOf(valueAt(root, path))}.`)]
}

const looksLikeUrl = (server: unknown): boolean =>
  isRecord(server) &&
  !('command' in server) &&
  ('url' in server || 'headers' in server || (typeof server.type === 'string' && /http|sse/iu.test(server.type)))

function unknownKey(key: string, path: readonly PropertyKey[], value: unknown): string {
  const close = suggestion(key, path, value)
  const known = keysAt(path, looksLikeUrl(value))
  if (close === key) return 'is not allowed here. Remove it.'
  if (close !== undefined) return `is not a known key. Did you mean "${close}"?`
  const keys = known.filter((each) => each !== '$schema').join(', ')
  return `is not a known key.${known.length === 0 ? '' : ` Known keys: ${keys}.`}`
}

function suggestion(key: string, path: readonly PropertyKey[], value: unknown): string | undefined {
  const known = keysAt(path, looksLikeUrl(value))
  const equivalent = Object.hasOwn(synonyms, key) ? synonyms[key] : undefined
  return equivalent !== undefined && known.includes(equivalent) ? equivalent : nearest(key, known, 1)[0]
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

const typeNames: { readonly [type: string]: string } = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? 'a string' : typeof value === 'boolean' ? String(value) : 'an object'
}

const longText = (issue: { readonly message: string; readonly maximum: number | bigint }): string =>
  issue.message.startsWith('Too big') ? `is longer than ${issue.maximum} characters` : issue.message

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`)

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[part]
  }
  return value
}
