import type { Source, ToolEntry } from '@unfold-mcp/server'
import { isServable } from '../names/reserved.ts'
import type { UpstreamSource } from './source.ts'

interface View {
  readonly of: readonly ToolEntry[]
  readonly entries: readonly ToolEntry[]
  /** From the name that is shown here to the one that it has among the tools of all servers. */
  readonly names: ReadonlyMap<string, string>
}

/**
 * The tools of one upstream under its own names for them: a view of what clients of all servers see. It changes with this
 * upstream alone.
 */
export class ServerSource implements Source {
  readonly name: string
  readonly #all: UpstreamSource
  readonly #made = new WeakMap<ToolEntry, ToolEntry>()
  #view: View | undefined

  constructor(all: UpstreamSource, server: string) {
    this.#all = all
    this.name = server
  }

  entries(): readonly ToolEntry[] {
    return this.#current().entries
  }

  subscribe(changed: () => void): () => void {
    let known = this.#all.entriesOf(this.name)
    return this.#all.subscribe(() => {
      const now = this.#all.entriesOf(this.name)
      if (now === known) return
      known = now
      changed()
    })
  }

  /** The name of a tool among those of all servers, by which profiles name it; `undefined` for one that is not the server's. */
  sharedName(shown: string): string | undefined {
    return this.#current().names.get(shown)
  }

  #current(): View {
    const of = this.#all.entriesOf(this.name)
    if (this.#view?.of !== of) this.#view = this.#make(of)
    return this.#view
  }

  #make(of: readonly ToolEntry[]): View {
    const names = new Map<string, string>()
    const tools = of.map(({ tool }) => ({ shared: tool.name, ...this.#all.namesOf(this.name, tool.name) }))
    const taken = new Set(tools.map(({ given }) => given))
    const isOwn = ({ own, given }: (typeof tools)[number]): boolean => given === undefined && isServable(own) && !taken.has(own)
    // What cannot have its own name is named first: a tool that calls itself like that must not take the place of another.
    for (const tool of tools.toSorted((a, b) => Number(isOwn(a)) - Number(isOwn(b)))) {
      const wanted = tool.given ?? (isOwn(tool) ? tool.own : tool.shared)
      const free = [wanted, tool.shared].find((name) => !names.has(name))
      if (free !== undefined) names.set(free, tool.shared)
    }
    const shownAs = new Map([...names].map(([shown, shared]) => [shared, shown]))
    const entries = of.flatMap((entry) => {
      const shown = shownAs.get(entry.tool.name)
      return shown === undefined ? [] : [this.#renamed(entry, shown)]
    })
    return { of, names, entries }
  }

  /** The same entry under this name, in no group. The same object for as long as nothing of it changes. */
  #renamed(entry: ToolEntry, name: string): ToolEntry {
    const known = this.#made.get(entry)
    if (known?.tool.name === name) return known
    const made = { ...entry, tool: { ...entry.tool, name }, visibility: {} }
    this.#made.set(entry, made)
    return made
  }
}
