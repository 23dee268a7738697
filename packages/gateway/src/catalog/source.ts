import { canonicalJson, type Tool } from '@unfold-mcp/core'
import type { Source, ToolEntry } from '@unfold-mcp/server'
import type { Config } from '../config/schema.ts'
import { exposedName, serverSlug } from '../names/naming.ts'
import { type CallUpstream, type EntriesOptions, type ToolNote, type UpstreamEntries, upstreamEntries } from './entries.ts'
import { type GroupTable, buildGroups, type SelfDescription } from './groups.ts'

interface Provided {
  readonly tools: readonly Tool[]
  readonly options: EntriesOptions
  /** What the options were made from, as text. */
  readonly basis: string
  readonly made: UpstreamEntries
}

const noEntries: readonly ToolEntry[] = []

/**
 * The tools of all upstreams as one source of the library. A change of one upstream makes only the entries anew that changed;
 * all others stay the same objects, so that nothing is computed for them again.
 */
export class UpstreamSource implements Source {
  readonly name = 'upstreams'
  readonly #callOf: (server: string) => CallUpstream
  readonly #provided = new Map<string, Provided>()
  readonly #says = new Map<string, SelfDescription>()
  readonly #listeners = new Set<() => void>()
  #config: Config
  #entries: readonly ToolEntry[] | undefined
  #groups: GroupTable | undefined

  /** `callOf` says how the tools of a server are called. */
  constructor(config: Config, callOf: (server: string) => CallUpstream) {
    this.#config = config
    this.#callOf = callOf
  }

  /** In the order of the configuration, so that a list does not depend on who was faster. */
  entries(): readonly ToolEntry[] {
    this.#entries ??= Object.keys(this.#config.mcpServers).flatMap((server) => this.#provided.get(server)?.made.entries ?? [])
    return this.#entries
  }

  /** Those of one server: the same array for as long as they are the same. */
  entriesOf(server: string): readonly ToolEntry[] {
    return this.#provided.get(server)?.made.entries ?? noEntries
  }

  /** Only those that have something in them: a group that opens nothing would be in the way. */
  groups(): GroupTable {
    this.#groups ??= this.#filled(buildGroups(this.#config, (server) => this.#says.get(server) ?? {}))
    return this.#groups
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** How many tools of a server clients may have. */
  count(server: string): number {
    return this.#provided.get(server)?.made.entries.length ?? 0
  }

  /** What the operator should know of the tools of a server. */
  notes(server: string): readonly ToolNote[] {
    return this.#provided.get(server)?.made.notes ?? []
  }

  /** What a server says of each tool that clients may have; the entry is the same object for as long as it says the same. */
  definitions(server: string): readonly { readonly entry: ToolEntry; readonly own: string; readonly said: object }[] {
    const made = this.#provided.get(server)?.made
    if (made === undefined) return []
    return [...made.made.values()].flatMap(({ entry, said }) => {
      const own = entry === undefined ? undefined : made.names.get(entry.tool.name)
      return entry === undefined || own === undefined || said === undefined ? [] : [{ entry, own, said }]
    })
  }

  /** What a server says of itself. */
  says(server: string): SelfDescription | undefined {
    return this.#says.get(server)
  }

  /** The server's own name for a tool, by the one that clients see; and the latter where it is one that the configuration gives. */
  namesOf(server: string, exposed: string): { readonly own: string; readonly given: string | undefined } {
    const own = this.ownName(server, exposed) ?? exposed
    return { own, given: exposed === exposedName(serverSlug(server), own) ? undefined : exposed }
  }

  /** The server's own name for a tool, by the one that clients see. */
  ownName(server: string, exposed: string): string | undefined {
    return this.#provided.get(server)?.made.names.get(exposed)
  }

  /** A tool as clients see it, by the server's own name. */
  toolOf(server: string, own: string): Tool | undefined {
    const made = this.#provided.get(server)?.made
    return made?.entries.find(({ tool }) => made.names.get(tool.name) === own)?.tool
  }

  /** Takes another configuration into use; `toolsOf` has the tools of each server that is part of it. */
  configure(config: Config, toolsOf: (server: string) => readonly Tool[]): void {
    this.#config = config
    for (const known of [this.#provided, this.#says])
      for (const server of [...known.keys()]) if (!Object.hasOwn(config.mcpServers, server)) known.delete(server)
    for (const server of Object.keys(config.mcpServers)) this.#provide(server, toolsOf(server))
    this.#changed()
  }

  /** These are the tools of a server now. */
  replace(server: string, tools: readonly Tool[]): void {
    this.#provide(server, tools)
    this.#changed()
  }

  /** What a server says of itself: its group is described with it. */
  describe(server: string, says: SelfDescription): void {
    const before = this.#says.get(server)
    this.#says.set(server, says)
    const texts = ({ instructions, title, info }: SelfDescription = {}): unknown[] => [instructions, title, info?.description]
    if (JSON.stringify(texts(before)) !== JSON.stringify(texts(says))) this.#changed()
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
    const basis = canonicalJson({ overrides, allow, deny, timeoutMs, limit })
    const options = before?.basis === basis ? before.options : { server, config, call: this.#callOf(server), limit }
    if (before?.tools === tools && before.options === options) return
    this.#provided.set(server, { tools, options, basis, made: upstreamEntries(tools, options, before?.made) })
  }

  #changed(): void {
    this.#entries = undefined
    this.#groups = undefined
    for (const listener of this.#listeners) listener()
  }

  #filled(groups: GroupTable): GroupTable {
    const kept = new Set<string>()
    for (const { visibility } of this.entries())
      for (let name = visibility.group; name !== undefined && !kept.has(name); name = groups[name]?.parent) kept.add(name)
    return Object.fromEntries(Object.entries(groups).filter(([name]) => kept.has(name)))
  }
}
