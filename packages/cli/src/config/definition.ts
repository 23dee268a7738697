import { parseEnv } from 'node:util'
import type { Sandbox } from '@unfold-mcp/client'
import { nearest, printable, type SecretReference } from '@unfold-mcp/core'
import { type Item, isList, isTable, typeName } from './document.ts'
import type { Dialect } from './formats/dialects.ts'
import { readText } from './formats/text.ts'
import type { ConfigLocation } from './locations.ts'
import type { Problem } from './problem.ts'
import { readSandbox } from './sandbox.ts'
import { envVariable, pathModule, type System } from './system.ts'
import type { CommandTarget, ServerTarget, UrlTarget } from './target.ts'
import { expand, portableText, unsetProblem, type Variables } from './variables.ts'

/** Server definition from a configuration file. */
export interface Definition {
  /** Target with all variables expanded. */
  readonly target: ServerTarget
  /** Target as written in the file. */
  readonly raw: ServerTarget
  /** Target for another configuration file: variables are kept, paths are absolute. */
  readonly portable: ServerTarget
  /** Environment variables that it reads. */
  readonly uses: readonly string[]
  /** Secrets that it needs. */
  readonly references: readonly SecretReference[]
  readonly disabled: boolean
  /** Content of its `envFile`. */
  readonly envText: string
}

/** Unparsed server entry of a configuration file. */
export interface ServerEntry {
  readonly name: string
  readonly item: Item
  readonly location: ConfigLocation
  readonly dialect: Dialect
  /** Folder that relative paths start from; can differ from the folder of the file. */
  readonly folder: string
  /** Whether the user's own file defines it for this folder only. */
  readonly isProject?: boolean
  readonly inputs: ReadonlyMap<string, string>
  /** `sandbox` of the whole file; only in `unfold.json`. */
  readonly sandbox?: Item
}

/** With `problems` the server cannot be used; a server that only lacks variables still has a definition. */
export interface ReadDefinition {
  readonly definition?: Definition
  readonly problems: readonly Problem[]
}

/** Values of secrets by reference, as written. */
export type SecretValues = ReadonlyMap<string, string>

/** Parses a server entry and collects all problems. References to secrets without a value are kept. */
export async function readDefinition(
  entry: ServerEntry,
  system: System,
  secrets: SecretValues = new Map(),
): Promise<ReadDefinition> {
  const reader = new Reader(entry, system, secrets)
  const definition = await reader.read()
  const problems = [...reader.problems, ...reader.unsetProblems]
  return definition === undefined || reader.problems.length > 0 ? { problems } : { definition, problems }
}

type Position = Pick<Item, 'line' | 'column'>

type Kind = 'stdio' | 'http' | 'sse' | 'auto'

const kinds: { readonly [type: string]: Kind } = {
  stdio: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  sse: 'sse',
}

const urlFields = ['httpUrl', 'url', 'serverUrl'] as const

interface Text {
  readonly raw: string
  readonly expanded: string
  readonly portable: string
  /** Whether it refers to a variable that is not set. */
  readonly isUnset: boolean
}

interface Targets<T extends ServerTarget> {
  readonly target: T
  readonly raw: T
  readonly portable: T
}

class Reader {
  readonly problems: Problem[] = []
  readonly unsetProblems: Problem[] = []
  readonly #entry: ServerEntry
  readonly #system: System
  readonly #variables: Variables
  readonly #uses = new Set<string>()
  readonly #references = new Map<string, SecretReference>()

  constructor(entry: ServerEntry, system: System, secrets: SecretValues) {
    this.#entry = entry
    this.#system = system
    const { folder, inputs, dialect, location } = entry
    const secret = (reference: SecretReference): string => {
      this.#references.set(reference.text, reference)
      return secrets.get(reference.text) ?? reference.text
    }
    // Other programs do not have them, or mean something else.
    const own = location.client === 'unfold' ? { secret } : {}
    this.#variables = { system, folder, inputs, bareNames: dialect.bareNames === true, ...own }
  }

  async read(): Promise<Definition | undefined> {
    const { item } = this.#entry
    if (!isTable(item.value)) return this.#fail(item, '', `must be an object, not ${typeName(item.value)}`)
    const fields = item.value
    const kind = this.#kind(fields)
    if (kind === undefined) return undefined
    const envText = kind === 'stdio' ? await this.#envFile(fields) : ''
    const targets = kind === 'stdio' ? this.#command(fields, envText) : this.#url(fields, kind)
    if (targets === undefined) return undefined
    const disabled = this.#flag(fields, 'disabled') === true || this.#flag(fields, 'enabled') === false
    return { ...targets, uses: [...this.#uses].sort(), references: [...this.#references.values()], disabled, envText }
  }

  /** Transport, explicit or derived from the fields. */
  #kind(fields: ReadonlyMap<string, Item>): Kind | undefined {
    const { item, dialect } = this.#entry
    const field = fields.has('type') ? 'type' : 'transport'
    const type = fields.get(field)
    const urlField = urlFields.find((name) => fields.has(name))
    const hasCommand = fields.has('command')
    if (type !== undefined) {
      const known = { ...kinds, ...dialect.types }
      const kind = typeof type.value === 'string' && Object.hasOwn(known, type.value) ? known[type.value] : undefined
      if (kind === undefined) return this.#unknownKind(type, field, Object.keys(known))
      if (kind === 'stdio' && !hasCommand) return this.#fail(item, '', 'type "stdio" requires "command"')
      if (kind !== 'stdio' && urlField === undefined) return this.#fail(item, '', `type "${kind}" requires "url"`)
      return kind
    }
    if (hasCommand && urlField !== undefined)
      return this.#fail(item, '', `has both "command" and "${urlField}". Remove one, or set "type"`)
    if (hasCommand) return 'stdio'
    if (urlField === 'httpUrl') return 'http'
    if (urlField !== undefined) return 'auto'
    return this.#fail(item, '', 'requires "command" or "url"')
  }

  #unknownKind(type: Item, field: string, known: readonly string[]): undefined {
    if (typeof type.value !== 'string') return this.#wrong(type, field, 'a string')
    const [close] = nearest(type.value.replace(/[_ ]/gu, '-'), known, 1)
    const hint = close === undefined ? '' : ` Did you mean "${close}"?`
    return this.#fail(type, field, `unknown type "${printable(type.value)}".${hint} Known types: ${known.join(', ')}`)
  }

  #command(fields: ReadonlyMap<string, Item>, envText: string): Targets<CommandTarget> | undefined {
    const command = this.#text(fields.get('command'), 'command')
    const args = this.#texts(fields.get('args'), 'args')
    const env = this.#table(fields.get('env'), 'env')
    const cwd = fields.has('cwd') ? this.#text(fields.get('cwd'), 'cwd') : undefined
    if (command?.expanded === '' && !command.isUnset) return this.#fail(fields.get('command'), 'command', 'must not be empty')
    for (const [name, item] of tableOf(fields.get('env')))
      if (name === '' || /[=\0]/u.test(name)) this.#fail(item, `env.${name}`, 'is not a valid variable name')
    if (command === undefined || args === undefined || env === undefined) return undefined
    const limits = this.#sandbox(fields)
    const expanded = { ...parsedEnv(envText), ...this.#passedOn(fields.get('env_vars')), ...valuesOf(env, 'expanded') }
    return {
      target: commandTarget(
        command.expanded,
        args.map(({ expanded: each }) => each),
        expanded,
        this.#cwd(cwd?.expanded),
        limits,
      ),
      raw: commandTarget(
        command.raw,
        args.map(({ raw }) => raw),
        valuesOf(env, 'raw'),
        cwd?.raw,
        limits,
      ),
      portable: commandTarget(
        command.portable,
        args.map(({ portable }) => portable),
        {
          ...references(parsedEnv(envText)),
          ...references(this.#passedOn(fields.get('env_vars'))),
          ...valuesOf(env, 'portable'),
        },
        cwd?.isUnset === true ? cwd.portable : this.#cwd(cwd?.expanded),
        limits,
      ),
    }
  }

  #sandbox(fields: ReadonlyMap<string, Item>): Sandbox | undefined {
    const { location, sandbox: all } = this.#entry
    if (location.client !== 'unfold') return undefined
    const { platform, home } = this.#system
    const paths = pathModule(platform)
    const read = readSandbox(fields.get('sandbox'), all, {
      expand: (item, field) => this.#text(item, field)?.expanded,
      resolve: (path) =>
        /^~(?:\/|$)/u.test(path) ? paths.join(home, path.slice(1)) : paths.resolve(paths.dirname(location.file), path),
      fail: (item, field, message) => this.#fail(item, field, message),
    })
    const cwd = fields.has('cwd') ? this.#cwd(this.#text(fields.get('cwd'), 'cwd')?.expanded) : undefined
    // A working directory that the server names is readable; the home folder has to be named in `read`.
    if (read === undefined || cwd === undefined || !paths.relative(cwd, home).startsWith('..')) return read
    return { ...read, read: [...(read.read ?? []), cwd] }
  }

  /** Relative to the project folder, where project servers also run by default. */
  #cwd(cwd: string | undefined): string | undefined {
    const { folder, location, isProject } = this.#entry
    if (cwd === undefined) return location.trust === 'project' || isProject ? folder : undefined
    return pathModule(this.#system.platform).resolve(folder, cwd)
  }

  #url(fields: ReadonlyMap<string, Item>, kind: 'auto' | 'http' | 'sse'): Targets<UrlTarget> | undefined {
    const field = urlFields.find((name) => fields.has(name)) ?? 'url'
    const url = this.#text(fields.get(field), field)
    const headers = this.#table(fields.get('headers') ?? fields.get('http_headers'), 'headers')
    const own = this.#codexHeaders(fields)
    if (url === undefined || headers === undefined) return undefined
    if (!isWebAddress(url.expanded) && !url.isUnset)
      return this.#fail(fields.get(field), field, 'must be an http:// or https:// URL')
    const all = new Map([...headers, ...own])
    for (const [name, { expanded }] of all) {
      const at = tableOf(fields.get('headers') ?? fields.get('http_headers')).get(name) ?? this.#entry.item
      if (!/^[\w!#$%&'*+.^`|~-]+$/u.test(name)) this.#fail(at, `headers.${name}`, 'is not a valid header name')
      if (/[\r\n\0]/u.test(expanded)) this.#fail(at, `headers.${name}`, 'must not contain line breaks')
    }
    return {
      target: urlTarget(url.expanded, valuesOf(all, 'expanded'), kind),
      raw: urlTarget(url.raw, valuesOf(all, 'raw'), kind),
      portable: urlTarget(url.portable, valuesOf(all, 'portable'), kind),
    }
  }

  /** Codex names variables instead of writing `${NAME}`. */
  #codexHeaders(fields: ReadonlyMap<string, Item>): ReadonlyMap<string, Text> {
    const named = tableOf(fields.get('env_http_headers'))
    const bearer = fields.get('bearer_token_env_var')
    const headers = new Map<string, Text>()
    if (bearer !== undefined) {
      const token = this.#named(bearer, 'bearer_token_env_var')
      if (token !== undefined)
        headers.set('Authorization', {
          raw: `Bearer ${token.raw}`,
          expanded: `Bearer ${token.expanded}`,
          portable: `Bearer ${token.portable}`,
          isUnset: token.isUnset,
        })
    }
    for (const [header, item] of named) {
      const value = this.#named(item, `env_http_headers.${header}`)
      if (value !== undefined) headers.set(header, value)
    }
    return headers
  }

  #named(item: Item, field: string): Text | undefined {
    if (typeof item.value !== 'string') return this.#wrong(item, field, 'a variable name')
    return this.#expanded(item, field, `\${env:${item.value}}`)
  }

  /** Variables that Codex passes on; unset ones are skipped. */
  #passedOn(item: Item | undefined): Record<string, string> {
    if (item === undefined || !isList(item.value)) return {}
    const names = item.value.flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
    return Object.fromEntries(
      names.flatMap((name) => {
        const value = envVariable(this.#system, name)
        if (value !== undefined) this.#uses.add(name)
        return value === undefined ? [] : [[name, value]]
      }),
    )
  }

  async #envFile(fields: ReadonlyMap<string, Item>): Promise<string> {
    const item = fields.get('envFile')
    const file = item === undefined ? undefined : this.#text(item, 'envFile')
    if (item === undefined || file === undefined) return ''
    if (file.isUnset) {
      this.#fail(item, 'envFile', 'refers to a variable that is not set')
      return ''
    }
    const path = pathModule(this.#system.platform).resolve(this.#entry.folder, file.expanded)
    const read = await readText(path)
    if (read === undefined) this.#fail(item, 'envFile', `file not found: ${printable(path)}`)
    else if ('problem' in read) this.#fail(item, 'envFile', `${printable(path)}: ${read.problem}`)
    else return read.text
    return ''
  }

  #flag(fields: ReadonlyMap<string, Item>, name: string): boolean | undefined {
    const item = fields.get(name)
    if (item === undefined) return undefined
    if (typeof item.value === 'boolean') return item.value
    return this.#wrong(item, name, 'true or false')
  }

  #text(item: Item | undefined, field: string): Text | undefined {
    if (item === undefined) return undefined
    return typeof item.value === 'string' ? this.#expanded(item, field, item.value) : this.#wrong(item, field, 'a string')
  }

  #texts(item: Item | undefined, field: string): readonly Text[] | undefined {
    if (item === undefined) return []
    if (!isList(item.value)) return this.#wrong(item, field, 'a list of strings')
    const texts = item.value.map((each, index) => this.#text(each, `${field}[${index}]`))
    return texts.every((text) => text !== undefined) ? texts : undefined
  }

  #table(item: Item | undefined, field: string): ReadonlyMap<string, Text> | undefined {
    if (item === undefined) return new Map()
    if (!isTable(item.value)) return this.#wrong(item, field, 'an object of strings')
    const texts = new Map<string, Text>()
    for (const [name, each] of item.value) {
      const text = this.#text(each, `${field}.${name}`)
      if (text !== undefined) texts.set(name, text)
    }
    return texts
  }

  #expanded(item: Item, field: string, raw: string): Text | undefined {
    const known = this.#references.size
    const { text, uses, unset, problems } = expand(raw, this.#variables)
    if (this.#references.size > known && /^(?:command|args|cwd|envFile)/u.test(field))
      this.#fail(item, field, 'secrets are not allowed here, because other users can see commands. Use env')
    for (const name of uses) this.#uses.add(name)
    for (const name of unset) this.unsetProblems.push({ ...this.#problem(item, field, unsetProblem(name)), unset: name })
    for (const problem of problems) this.#fail(item, field, problem)
    if (text.includes('\0')) this.#fail(item, field, 'must not contain NUL characters')
    if (problems.length > 0) return undefined
    return { raw, expanded: text, portable: portableText(raw, this.#variables), isUnset: unset.length > 0 }
  }

  #wrong({ line, column, value }: Item, field: string, expected: string): undefined {
    const quoted = typeof value === 'number' || typeof value === 'boolean' ? `. Put it in quotes: "${value}"` : ''
    return this.#fail(
      { line, column },
      field,
      `must be ${expected}, not ${typeName(value)}${expected.includes('string') ? quoted : ''}`,
    )
  }

  #fail(item: Position | undefined, field: string, message: string): undefined {
    this.problems.push(this.#problem(item, field, message))
  }

  #problem(item: Position | undefined, field: string, message: string): Problem {
    const { name: server, location, item: entry } = this.#entry
    const { line, column } = item ?? entry
    const path = printable(field === '' ? server : `${server}.${field}`)
    return { file: location.file, line, column, server, message: `${path}: ${message}.` }
  }
}

const tableOf = (item: Item | undefined): ReadonlyMap<string, Item> =>
  item !== undefined && isTable(item.value) ? item.value : new Map<string, Item>()

const valuesOf = (texts: ReadonlyMap<string, Text>, which: 'raw' | 'expanded' | 'portable'): Record<string, string> =>
  Object.fromEntries([...texts].map(([name, text]) => [name, text[which]]))

/** Replaces values by references to the variables. */
const references = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.keys(values).map((name) => [name, `\${${name}}`]))

function commandTarget(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd: string | undefined,
  sandbox: Sandbox | undefined,
): CommandTarget {
  return {
    command,
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(sandbox !== undefined && { sandbox }),
  }
}

function urlTarget(url: string, headers: Record<string, string>, transport: 'auto' | 'http' | 'sse'): UrlTarget {
  return { url, ...(Object.keys(headers).length > 0 && { headers }), transport }
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}

function parsedEnv(text: string): Record<string, string> {
  const variables = text === '' ? {} : parseEnv(text)
  return Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
