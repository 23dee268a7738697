import { canonicalJson, type Tool } from '@unfold-mcp/core'
import type { Source, ToolEntry } from '@unfold-mcp/server'
import { type Config, isScriptServer } from '../config/schema.ts'
import { exposedName, serverSlug } from '../names/naming.ts'
import {
  type CallUpstream,
  codeIn,
  type EntriesOptions,
  type ToolNote,
  type UpstreamEntries,
  upstreamEntries,
} from './entries.ts'
import { buildGroups, type GroupTable, type SelfDescription } from './groups.ts'

interface Provided {
  /** As the server lists them. */
  readonly tools: readonly Tool[]
  /** Those that clients may see. */
  readonly admitted: readonly Tool[]
  readonly options: EntriesOptions
  /** Canonical JSON of the settings in `options`. */
  readonly optionsKey: string
  readonly built: UpstreamEntries
}

export interface UpstreamSourceOptions {
  readonly callOf: (server: string) => CallUpstream
  /** Returns the tools of a server that clients may see. */
  readonly admit: (server: string, tools: readonly Tool[]) => readonly Tool[]
}

const noEntries: readonly ToolEntry[] = []

/**
 * The tools of all upstreams as one source of the library. Only entries of changed tools are rebuilt; the others stay the same
 * objects, so nothing is recomputed for them.
 */
export class UpstreamSource implements Source {
  readonly name = 'upstreams'
  readonly #options: UpstreamSourceOptions
  readonly #provided = new Map<string, Provided>()
  readonly #selfDescriptions = new Map<string, SelfDescription>()
  readonly #listeners = new Set<() => void>()
  #config: Config
  #entries: readonly ToolEntry[] | undefined
  #groups: GroupTable | undefined

  constructor(config: Config, options: UpstreamSourceOptions) {
    this.#config = config
    this.#options = options
  }

  /** In the order of the configuration, so that the list does not depend on which server starts first. */
  entries(): readonly ToolEntry[] {
    this.#entries ??= Object.keys(this.#config.mcpServers).flatMap((server) => this.#provided.get(server)?.built.entries ?? [])
    return this.#entries
  }

  /** Entries of one server; the same array while nothing changes. */
  entriesOf(server: string): readonly ToolEntry[] {
    return this.#provided.get(server)?.built.entries ?? noEntries
  }

  /** Groups that contain tools. */
  groups(): GroupTable {
    this.#groups ??= this.#nonEmpty(buildGroups(this.#config, (server) => this.#selfDescriptions.get(server) ?? {}))
    return this.#groups
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  toolCount(server: string): number {
    return this.#provided.get(server)?.built.entries.length ?? 0
  }

  notes(server: string): readonly ToolNote[] {
    return this.#provided.get(server)?.built.notes ?? []
  }

  /** Definitions as the server sent them, before sanitizing. The entry object stays the same while the definition does. */
  originals(server: string): readonly { readonly entry: ToolEntry; readonly name: string; readonly definition: object }[] {
    const built = this.#provided.get(server)?.built
    if (built === undefined) return []
    return [...built.built.values()].flatMap(({ entry, original }) => {
      const name = entry === undefined ? undefined : built.names.get(entry.tool.name)
      return entry === undefined || name === undefined || original === undefined ? [] : [{ entry, name, definition: original }]
    })
  }

  selfDescription(server: string): SelfDescription | undefined {
    return this.#selfDescriptions.get(server)
  }

  /** Returns the tool's name on the server, and the exposed name if it is a configured one. */
  namesOf(server: string, exposed: string): { readonly original: string; readonly configured: string | undefined } {
    const original = this.originalName(server, exposed) ?? exposed
    return { original, configured: exposed === exposedName(serverSlug(server), original) ? undefined : exposed }
  }

  /** Returns the name on the server of an exposed tool. */
  originalName(server: string, exposed: string): string | undefined {
    return this.#provided.get(server)?.built.names.get(exposed)
  }

  /** Returns the exposed tool for a name on the server. */
  toolOf(server: string, originalName: string): Tool | undefined {
    const built = this.#provided.get(server)?.built
    return built?.entries.find(({ tool }) => built.names.get(tool.name) === originalName)?.tool
  }

  /** Applies a new configuration; `toolsOf` returns the tools of each server in it. */
  configure(config: Config, toolsOf: (server: string) => readonly Tool[]): void {
    this.#config = config
    for (const byServer of [this.#provided, this.#selfDescriptions])
      for (const server of [...byServer.keys()]) if (!Object.hasOwn(config.mcpServers, server)) byServer.delete(server)
    for (const server of Object.keys(config.mcpServers)) this.#provide(server, toolsOf(server))
    this.#changed()
  }

  replace(server: string, tools: readonly Tool[]): void {
    this.#provide(server, tools)
    this.#changed()
  }

  /** Decides again which tools of a server clients may see. */
  readmit(server: string): void {
    const provided = this.#provided.get(server)
    if (provided !== undefined) this.replace(server, provided.tools)
  }

  /** The code of a stored script as it was admitted, so that what runs is what was reviewed. */
  codeOf(server: string, originalName: string): string | undefined {
    const { built, admitted, options } = this.#provided.get(server) ?? {}
    if (options?.areScripts !== true || built?.originalNames.has(originalName) !== true) return undefined
    const definition = admitted?.find(({ name }) => name === originalName)
    return definition === undefined ? undefined : codeIn(definition)
  }

  /** True if clients may call a tool now, by its name on the server. */
  isServed(server: string, originalName: string): boolean {
    return this.#provided.get(server)?.built.originalNames.has(originalName) === true
  }

  /** Sets the self-description of a server, which also describes its group. */
  describe(server: string, description: SelfDescription): void {
    const before = this.#selfDescriptions.get(server)
    this.#selfDescriptions.set(server, description)
    const texts = ({ instructions, title, info }: SelfDescription = {}): unknown[] => [instructions, title, info?.description]
    if (JSON.stringify(texts(before)) !== JSON.stringify(texts(description))) this.#changed()
  }

  #provide(server: string, tools: readonly Tool[]): void {
    const config = this.#config.mcpServers[server]
    if (config === undefined || config.disabled) {
      this.#provided.delete(server)
      return
    }
    const before = this.#provided.get(server)
    const { tools: overrides, allow, deny, timeoutMs } = config
    const limit = this.#config.limits.tools
    const optionsKey = canonicalJson({ overrides, allow, deny, timeoutMs, limit })
    const options =
      before?.optionsKey === optionsKey
        ? before.options
        : { server, config, call: this.#options.callOf(server), limit, areScripts: isScriptServer(config) }
    const admitted = this.#options.admit(server, tools)
    if (before?.options === options && isSame(before.admitted, admitted)) {
      this.#provided.set(server, { ...before, tools, admitted })
      return
    }
    this.#provided.set(server, { tools, admitted, options, optionsKey, built: upstreamEntries(admitted, options, before?.built) })
  }

  #changed(): void {
    this.#entries = undefined
    this.#groups = undefined
    for (const listener of this.#listeners) listener()
  }

  #nonEmpty(groups: GroupTable): GroupTable {
    const used = new Set<string>()
    for (const { visibility } of this.entries())
      for (let name = visibility.group; name !== undefined && !used.has(name); name = groups[name]?.parent) used.add(name)
    return Object.fromEntries(Object.entries(groups).filter(([name]) => used.has(name)))
  }
}

const isSame = (one: readonly Tool[], other: readonly Tool[]): boolean =>
  one === other || (one.length === other.length && one.every((tool, at) => tool === other[at]))
