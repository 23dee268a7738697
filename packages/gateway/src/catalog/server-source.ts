import type { Source, ToolEntry } from '@unfold-mcp/server'
import { isServable } from '../names/reserved.ts'
import type { UpstreamSource } from './source.ts'

interface View {
  readonly sharedEntries: readonly ToolEntry[]
  readonly entries: readonly ToolEntry[]
  /** Name here to name among the tools of all servers. */
  readonly names: ReadonlyMap<string, string>
}

/**
 * The tools of one upstream under their original names: a view of the source of all servers. It changes only with this upstream.
 */
export class ServerSource implements Source {
  readonly name: string
  readonly #all: UpstreamSource
  readonly #renamedEntries = new WeakMap<ToolEntry, ToolEntry>()
  #view: View | undefined

  constructor(all: UpstreamSource, server: string) {
    this.#all = all
    this.name = server
  }

  entries(): readonly ToolEntry[] {
    return this.#current().entries
  }

  subscribe(changed: () => void): () => void {
    let previous = this.#all.entriesOf(this.name)
    return this.#all.subscribe(() => {
      const now = this.#all.entriesOf(this.name)
      if (now === previous) return
      previous = now
      changed()
    })
  }

  /** Returns the name of a tool among those of all servers, which profiles refer to. */
  sharedName(name: string): string | undefined {
    return this.#current().names.get(name)
  }

  #current(): View {
    const sharedEntries = this.#all.entriesOf(this.name)
    if (this.#view?.sharedEntries !== sharedEntries) this.#view = this.#build(sharedEntries)
    return this.#view
  }

  #build(sharedEntries: readonly ToolEntry[]): View {
    const names = new Map<string, string>()
    const tools = sharedEntries.map(({ tool }) => ({ shared: tool.name, ...this.#all.namesOf(this.name, tool.name) }))
    const configuredNames = new Set(tools.map(({ configured }) => configured))
    const keepsName = ({ original, configured }: (typeof tools)[number]): boolean =>
      configured === undefined && isServable(original) && !configuredNames.has(original)
    // Renamed tools come first, so that another tool cannot claim their names.
    for (const tool of tools.toSorted((a, b) => Number(keepsName(a)) - Number(keepsName(b)))) {
      const preferred = tool.configured ?? (keepsName(tool) ? tool.original : tool.shared)
      const free = [preferred, tool.shared].find((name) => !names.has(name))
      if (free !== undefined) names.set(free, tool.shared)
    }
    const nameOf = new Map([...names].map(([name, shared]) => [shared, name]))
    const entries = sharedEntries.flatMap((entry) => {
      const name = nameOf.get(entry.tool.name)
      return name === undefined ? [] : [this.#renamed(entry, name)]
    })
    return { sharedEntries, names, entries }
  }

  #renamed(entry: ToolEntry, name: string): ToolEntry {
    const cached = this.#renamedEntries.get(entry)
    if (cached?.tool.name === name) return cached
    const renamed = { ...entry, tool: { ...entry.tool, name }, visibility: {} }
    this.#renamedEntries.set(entry, renamed)
    return renamed
  }
}
