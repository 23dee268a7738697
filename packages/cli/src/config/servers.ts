import { createHash } from 'node:crypto'
import { canonicalJson } from '@unfold-mcp/core'
import { type Definition, readDefinition, type ServerEntry } from './definition.ts'
import { readDocument, toPlain } from './document.ts'
import { type ClientName, type ConfigLocation, configLocations, explicitLocation, type Trust } from './locations.ts'
import type { Problem } from './problem.ts'
import { sectionsOf } from './sections.ts'
import type { System } from './system.ts'
import { maskedTarget, type ServerTarget } from './target.ts'

/** Where a server is defined. */
interface ServerSource {
  readonly client: ClientName
  readonly file: string
  readonly line: number
}

/** A server that some program on this machine has been told of. */
export interface FoundServer {
  /** What to call it: the name in its file, or `name@client` where several of that name differ. */
  readonly name: string
  /** Its name in the file. */
  readonly key: string
  readonly target: ServerTarget
  /** The target as it is raw, for showing: variables are not filled in, and other values that could be secrets are masked. */
  readonly shown: ServerTarget
  /** The target for a configuration elsewhere: variables stay variables, so that it holds no secret that its file does not. */
  readonly portable: ServerTarget
  readonly source: ServerSource
  /** Where else the same is defined. */
  readonly also: readonly ServerSource[]
  /** A `project` server is never started before the user agreed to it. */
  readonly trust: Trust
  /** The variables of the environment that it gets to know. */
  readonly uses: readonly string[]
  /** A hash of the definition as it is raw, with its file of variables: what the user agrees to. */
  readonly hash: string
  /** The variables that it needs and that are not set. */
  readonly unset: readonly string[]
  /** Whether its own program has it switched off. */
  readonly disabled: boolean
}

export interface FoundServers {
  readonly servers: readonly FoundServer[]
  /** Servers that can be used once their variables are set. */
  readonly incomplete: readonly FoundServer[]
  /** Everything that is wrong, also with those. */
  readonly problems: readonly Problem[]
}

/** Finds every server that the programs on this machine know of here, or those of one file. No file is ever raw. */
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
    const problem = { file: location.file, line: 1, column: 1, message: 'There is no such file.' }
    return { servers: [], problems: mustExist ? [problem] : [] }
  }
  if ('problem' in document) return { servers: [], problems: [{ file: location.file, ...document.problem }] }
  const sections = sectionsOf(document.root, location, system)
  const read = await Promise.all(sections.servers.map((where) => readServer(where, system)))
  return {
    servers: read.flatMap(({ server }) => server ?? []),
    problems: [...sections.problems, ...read.flatMap(({ problems }) => problems)],
  }
}

async function readServer(
  where: ServerEntry,
  system: System,
): Promise<{ readonly server?: Unnamed; readonly problems: readonly Problem[] }> {
  const { name, item, location } = where
  const { file, client, trust } = location
  const { line, column } = item
  const { definition, problems } = await readDefinition(where, system)
  if (definition === undefined) return { problems }
  const hash = hashOf(where, definition)
  if (hash === undefined)
    return { problems: [{ file, line, column, server: name, message: `${name}: is nested too deeply to be meant.` }] }
  const { target, raw, portable, uses, disabled } = definition
  const server = {
    key: name,
    target,
    shown: maskedTarget(raw),
    portable,
    source: { client, file, line },
    also: [],
    trust,
    uses,
    hash,
    unset: [...new Set(problems.flatMap(({ unset }) => unset ?? []))],
    disabled,
  }
  return { server, problems }
}

function hashOf({ item }: ServerEntry, { envText }: Definition): string | undefined {
  try {
    return createHash('sha256')
      .update(canonicalJson([toPlain(item), envText]))
      .digest('hex')
  } catch {
    return undefined
  }
}

/** The servers, each once, under names that tell them apart, also from those that are `given` already. */
function withUniqueNames(found: readonly Unnamed[], given: readonly string[] = []): readonly FoundServer[] {
  const byKey = new Map<string, Unnamed[]>()
  for (const server of merged(found)) byKey.set(server.key, [...(byKey.get(server.key) ?? []), server])
  const taken = new Set([...byKey.keys(), ...given])
  return [...byKey.entries()].flatMap(([key, same]) => {
    if (same.length === 1 && !given.includes(key)) return same.map((server) => ({ ...server, name: server.key }))
    return same.map((server) => ({ ...server, name: qualified(server, same, taken) }))
  })
}

/** What is defined the same in several files is one server. A user's own definition counts before that of a project. */
function merged(found: readonly Unnamed[]): readonly Unnamed[] {
  const kept = new Map<string, Unnamed>()
  for (const server of found) {
    const { key, shown, target, portable, source, unset, disabled } = server
    // A project's server runs in its folder by default, which makes it no other server.
    const cwd = 'cwd' in shown ? ('cwd' in target ? target.cwd : undefined) : undefined
    // What is not set is told apart by its names.
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
