import { createHash } from 'node:crypto'
import { canonicalJson, type SecretReference } from '@unfold-mcp/core'
import { type Definition, readDefinition, type SecretValues, type ServerEntry } from './definition.ts'
import { readDocument, toPlain } from './document.ts'
import { type ClientName, type ConfigLocation, configLocations, explicitLocation, type Trust } from './locations.ts'
import type { Problem } from './problem.ts'
import { sectionsOf } from './sections.ts'
import type { System } from './system.ts'
import { maskedTarget, type ServerTarget } from './target.ts'

interface ServerSource {
  readonly client: ClientName
  readonly file: string
  readonly line: number
}

/** A server from a configuration file on this machine. */
export interface FoundServer {
  /** Name in its file, or `name@client` if several servers share that name. */
  readonly name: string
  readonly key: string
  readonly target: ServerTarget
  /** Target as written, with secrets masked. */
  readonly shown: ServerTarget
  /** Target for another configuration file: variables are kept, so that no secret is copied. */
  readonly portable: ServerTarget
  readonly source: ServerSource
  /** Other files with the same definition. */
  readonly also: readonly ServerSource[]
  /** A `project` server requires approval before it is started. */
  readonly trust: Trust
  /** Environment variables that it reads. */
  readonly uses: readonly string[]
  /** Secrets that it needs; `target` contains the references instead of the values. */
  readonly references: readonly SecretReference[]
  /** Returns the target with the values of its secrets. */
  readonly withSecrets: (values: SecretValues) => Promise<ServerTarget>
  /** Hash of the definition as written and its `envFile`; identifies an approval. */
  readonly hash: string
  /** Required variables that are not set. */
  readonly unset: readonly string[]
  readonly disabled: boolean
}

export interface FoundServers {
  readonly servers: readonly FoundServer[]
  /** Servers with unset variables. */
  readonly incomplete: readonly FoundServer[]
  /** All problems, including those of incomplete servers. */
  readonly problems: readonly Problem[]
}

/** Finds the servers of all configuration files, or of one file. Read-only. */
export async function findServers(system: System, { file }: { readonly file?: string } = {}): Promise<FoundServers> {
  const locations = file === undefined ? configLocations(system) : [explicitLocation(file, system)]
  const read = await Promise.all(locations.map((location) => readLocation(location, system, file !== undefined)))
  const all = read.flatMap(({ servers }) => servers)
  const servers = withUniqueNames(all.filter(({ unset }) => unset.length === 0))
  const incomplete = withUniqueNames(
    all.filter(({ unset }) => unset.length > 0),
    servers.map(({ name }) => name),
  )
  return { servers, incomplete, problems: read.flatMap(({ problems }) => problems) }
}

type Unnamed = Omit<FoundServer, 'name'>

async function readLocation(
  location: ConfigLocation,
  system: System,
  mustExist: boolean,
): Promise<{ readonly servers: readonly Unnamed[]; readonly problems: readonly Problem[] }> {
  const document = await readDocument(location.file)
  if (document === undefined) {
    const problem = { file: location.file, line: 1, column: 1, message: 'File not found.' }
    return { servers: [], problems: mustExist ? [problem] : [] }
  }
  if ('problem' in document) return { servers: [], problems: [{ file: location.file, ...document.problem }] }
  const sections = sectionsOf(document.root, location, system)
  const read = await Promise.all(sections.servers.map((entry) => readServer(entry, system)))
  return {
    servers: read.flatMap(({ server }) => server ?? []),
    problems: [...sections.problems, ...read.flatMap(({ problems }) => problems)],
  }
}

async function readServer(
  entry: ServerEntry,
  system: System,
): Promise<{ readonly server?: Unnamed; readonly problems: readonly Problem[] }> {
  const { name, item, location } = entry
  const { file, client, trust } = location
  const { line, column } = item
  const { definition, problems } = await readDefinition(entry, system)
  if (definition === undefined) return { problems }
  const hash = hashOf(entry, definition)
  if (hash === undefined) return { problems: [{ file, line, column, server: name, message: `${name}: nested too deeply.` }] }
  const { target, raw, portable, uses, references, disabled } = definition
  const server = {
    key: name,
    target,
    shown: maskedTarget(raw),
    portable,
    source: { client, file, line },
    also: [],
    trust,
    uses,
    references,
    withSecrets: async (values: SecretValues) => (await readDefinition(entry, system, values)).definition?.target ?? target,
    hash,
    unset: [...new Set(problems.flatMap(({ unset }) => unset ?? []))],
    disabled,
  }
  return { server, problems }
}

function hashOf({ item, sandbox }: ServerEntry, { envText }: Definition): string | undefined {
  try {
    // A weaker sandbox of the file needs approval again, as one of the server does.
    return createHash('sha256')
      .update(canonicalJson([toPlain(item), envText, ...(sandbox === undefined ? [] : [toPlain(sandbox)])]))
      .digest('hex')
  } catch {
    return undefined
  }
}

/** Removes duplicates and assigns unique names, avoiding those in `given`. */
function withUniqueNames(found: readonly Unnamed[], given: readonly string[] = []): readonly FoundServer[] {
  const byKey = new Map<string, Unnamed[]>()
  for (const server of merged(found)) byKey.set(server.key, [...(byKey.get(server.key) ?? []), server])
  const taken = new Set([...byKey.keys(), ...given])
  return [...byKey.entries()].flatMap(([key, same]) => {
    if (same.length === 1 && !given.includes(key)) return same.map((server) => ({ ...server, name: server.key }))
    return same.map((server) => ({ ...server, name: qualified(server, same, taken) }))
  })
}

/** Merges identical definitions; those of the user take precedence over those of a project. */
function merged(found: readonly Unnamed[]): readonly Unnamed[] {
  const kept = new Map<string, Unnamed>()
  for (const server of found) {
    const { key, shown, target, portable, source, unset, disabled } = server
    // The default folder of a project server does not make it a different server.
    const cwd = 'cwd' in shown ? ('cwd' in target ? target.cwd : undefined) : undefined
    // Distinguishes servers with different unset variables.
    const names = unset.length === 0 ? '' : canonicalJson(portable).replaceAll(`\${env:`, `\${`)
    const same = canonicalJson([key, { ...target, cwd }, names])
    const first = kept.get(same)
    kept.set(
      same,
      first === undefined ? server : { ...first, also: [...first.also, source], disabled: first.disabled && disabled },
    )
  }
  return [...kept.values()]
}

function qualified({ key, source, trust }: Unnamed, same: readonly Unnamed[], taken: Set<string>): string {
  const isShared = same.filter((other) => other.source.client === source.client).length > 1
  const base = `${key}@${source.client}${isShared && trust === 'project' ? '-project' : ''}`
  let name = base
  for (let number = 2; taken.has(name); number++) name = `${base}-${number}`
  taken.add(name)
  return name
}
