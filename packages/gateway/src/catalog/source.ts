import { canonicalJson, type Tool } from '@unfold-mcp/core'
import type { Source, ToolEntry } from '@unfold-mcp/server'
import type { Config } from '../config/schema.ts'
import { exposedName, serverSlug } from '../names/naming.ts'
import { type CallUpstream, type EntriesOptions, type ToolNote, type UpstreamEntries, upstreamEntries } from './entries.ts'
import { buildGroups, type GroupTable, type SelfDescription } from './groups.ts'

interface Provided {
  readonly tools: readonly Tool[]
  readonly options: EntriesOptions
  /** Canonical JSON of the settings in `options`. */
  readonly optionsKey: string
  readonly built: UpstreamEntries
}

const noEntries: readonly ToolEntry[] = []

/**
 * The tools of all upstreams as one source of the library. Only entries of changed tools are rebuilt; the others stay the same
 * objects, so nothing is recomputed for them.
 */
export class UpstreamSource implements Source {
  readonly name = 'upstreams'
  readonly #callOf: (server: string) => CallUpstream
  readonly #provided = new Map<string, Provided>()
  readonly #selfDescriptions = new Map<string, SelfDescription>()
  readonly #listeners = new Set<() => void>()
  #config: Config
  #entries: readonly ToolEntry[] | undefined
  #groups: GroupTable | undefined

  constructor(config: Config, callOf: (server: string) => CallUpstream) {
    this.#config = config
    this.#callOf = callOf
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
    const options = before?.optionsKey === optionsKey ? before.options : { server, config, call: this.#callOf(server), limit }
    if (before?.tools === tools && before.options === options) return
    this.#provided.set(server, { tools, options, optionsKey, built: upstreamEntries(tools, options, before?.built) })
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
