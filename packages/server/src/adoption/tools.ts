import { Failure, isFailure, type Tool } from '@unfold-mcp/core'
import type { Era, ToolContext } from '../tool/context.ts'
import type { Source, ToolEntry } from '../tool/entry.ts'
import type { Reporter } from '../tool/report.ts'
import type { HandlerResult } from '../tool/result.ts'

/** One page of a server's own tools, as its `tools/list` gives it. */
export type ListPage = (cursor: string | undefined) => Promise<unknown>

/** Reads from a server that is there for no longer than that. */
export type WithList = <T>(read: (list: ListPage) => Promise<T>) => Promise<T>

/** What holds for the tools of every server that one factory makes. */
export interface Rules {
  readonly groupOf: (tool: Tool) => string | undefined
  readonly report: Reporter
  /** The same object for the same definition, so that what was computed from one serves every client. */
  readonly known: (text: string) => Tool
  /** Hears which tools a new server has. */
  readonly met: (tools: readonly Tool[]) => void
}

interface Options {
  /** The server's name. */
  readonly name: string
  readonly rules: Rules
  /** That of the client that it was made for. */
  readonly era: Era
  /** Throws for an entry that cannot be served. */
  readonly admit: (entry: ToolEntry) => void
  readonly list: ListPage
  readonly call: (name: string, args: unknown, ctx: ToolContext) => Promise<HandlerResult>
}

/** The tools of one adopted server: read when it was made, and again whenever they may have changed. */
export class AdoptedTools implements Source {
  readonly name: string
  readonly #options: Options
  readonly #listeners = new Set<() => void>()
  #entries: readonly ToolEntry[] = []
  #reading: Promise<void> | undefined
  #readAgain = false
  #isFresh = true

  constructor(options: Options) {
    this.name = options.name
    this.#options = options
  }

  /** Reads the tools of a new server; throws when one of them cannot be served. */
  async begin(): Promise<void> {
    const { list, rules } = this.#options
    const found = await this.#listed(list)
    rules.met(found)
    this.#entries = this.#entriesOf(found, (failure) => {
      throw failure
    })
  }

  entries(): readonly ToolEntry[] {
    return this.#entries
  }

  has(name: string): boolean {
    return this.#entries.some(({ tool }) => tool.name === name)
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Done when the entries are what the server would list now. What was read when it was made serves the first list. */
  async upToDate(): Promise<void> {
    if (this.#isFresh) this.#isFresh = false
    else await this.#read()
  }

  /** Reads them again because they may have changed: the server said so, or its author. */
  changed(of?: WithList): void {
    this.#read(of).catch((error: unknown) => {
      const message = `The tools of ${this.name} could not be read again; those it had are served.`
      this.#options.rules.report({ reason: 'unsupported_server', message, error })
    })
  }

  #read(of: WithList = (read) => read(this.#options.list)): Promise<void> {
    this.#isFresh = false
    this.#readAgain = true
    this.#reading ??= this.#readWhileChanging(of).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  // A change that is told while reading may have come too late to be read.
  async #readWhileChanging(of: WithList): Promise<void> {
    while (this.#readAgain) {
      this.#readAgain = false
      this.#replace(await of((list) => this.#listed(list)))
    }
  }

  #replace(found: readonly Tool[]): void {
    const before = this.#entries
    const entries = this.#entriesOf(found, ({ reason, message }) => this.#options.rules.report({ reason, message }))
    if (entries.length === before.length && entries.every(({ tool }, index) => tool === before[index]?.tool)) return
    this.#entries = entries
    for (const listener of this.#listeners) listener()
  }

  #entriesOf(found: readonly Tool[], refuse: (failure: Failure) => void): readonly ToolEntry[] {
    const entries = new Map<string, ToolEntry>()
    for (const tool of found) {
      const entry = this.#entryOf(tool)
      try {
        if (entries.has(tool.name)) throw listedTwice(this.name, tool.name)
        this.#options.admit(entry)
        entries.set(tool.name, entry)
      } catch (error) {
        if (!isFailure(error)) throw error
        refuse(error)
      }
    }
    return [...entries.values()]
  }

  #entryOf(tool: Tool): ToolEntry {
    const { rules, call } = this.#options
    const group = rules.groupOf(tool)
    return {
      tool,
      origin: 'static',
      source: this.name,
      visibility: group === undefined ? {} : { group },
      tags: [],
      aliases: [],
      // Arguments are the server's own to check, in its own words.
      input: { json: tool.inputSchema, check: (value) => ({ value }) },
      handler: (input: unknown, ctx: ToolContext) => call(tool.name, input, ctx),
    }
  }

  async #listed(list: ListPage): Promise<readonly Tool[]> {
    const tools: Tool[] = []
    const cursors = new Set<string>()
    for (let cursor: string | undefined; ; ) {
      const page = pageOf(this.name, await list(cursor))
      for (const tool of page.tools) tools.push(this.#options.rules.known(definitionOf(this.name, tool, this.#options.era)))
      cursor = page.nextCursor
      if (cursor === undefined) return tools
      if (cursors.has(cursor))
        throw unusable(this.name, `its list of tools never ends: the cursor "${cursor}" leads back to itself`)
      if (cursors.size >= mostPages) throw unusable(this.name, `its list of tools has more than ${mostPages} pages`)
      cursors.add(cursor)
    }
  }
}

const mostPages = 1_000

function pageOf(server: string, page: unknown): { readonly tools: readonly unknown[]; readonly nextCursor: string | undefined } {
  const { tools, nextCursor } = (page ?? {}) as { tools?: unknown; nextCursor?: unknown }
  if (!Array.isArray(tools)) throw unusable(server, 'its tools/list gave no list of tools')
  return { tools, nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined }
}

/** The definition as JSON keeps it, which is what clients of this era get to see: 2026-07-28 knows no `execution`. */
function definitionOf(server: string, tool: unknown, era: Era): string {
  const { execution: _, ...rest } = (tool ?? {}) as { name?: unknown; inputSchema?: unknown; execution?: unknown }
  const { name, inputSchema } = rest
  if (typeof name === 'string' && typeof inputSchema === 'object' && inputSchema !== null)
    return JSON.stringify(era === 'stateless' ? rest : tool)
  throw unusable(server, 'its tools/list gave a tool without a name or an input schema')
}

/** An adopted server that cannot be served as it is. */
export function unusable(server: string, problem: string): Failure<'unsupported_server'> {
  return new Failure('unsupported_server', `${server} cannot be adopted: ${problem}.`, { problem })
}

function listedTwice(server: string, name: string): Failure<'duplicate_name'> {
  return new Failure('duplicate_name', `The tool "${name}" is listed twice by ${server}. Rename one.`, {
    name,
    sources: [server],
  })
}
