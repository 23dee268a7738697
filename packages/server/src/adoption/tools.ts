import { Failure, isFailure, type Tool } from '@unfold-mcp/core'
import { costProblem } from '../schema/cost-limit.ts'
import type { Era, ToolContext } from '../tool/context.ts'
import type { Source, ToolEntry } from '../tool/entry.ts'
import type { Reporter } from '../tool/report.ts'
import type { HandlerResult } from '../tool/result.ts'

/** Calls the server's own `tools/list`. */
export type ListPage = (cursor: string | undefined) => Promise<unknown>

/** Runs `read` with a server that exists only during that time. */
export type WithLister = <T>(read: (list: ListPage) => Promise<T>) => Promise<T>

/** Shared by the tools of all servers of one factory. */
export interface AdoptionRules {
  readonly groupOf: (tool: Tool) => string | undefined
  readonly report: Reporter
  /** Returns the same object for equal definitions, so that derived data is shared between clients. */
  readonly intern: (text: string) => Tool
  /** Called with the tools of each new server. */
  readonly onTools: (tools: readonly Tool[]) => void
}

interface Options {
  readonly name: string
  readonly rules: AdoptionRules
  readonly era: Era
  /** Throws for an entry that cannot be served. */
  readonly admit: (entry: ToolEntry) => void
  readonly list: ListPage
  readonly call: (name: string, args: unknown, ctx: ToolContext) => Promise<HandlerResult>
}

/** The tools of one adopted server, listed when it is created and whenever they may have changed. */
export class AdoptedTools implements Source {
  readonly name: string
  readonly #options: Options
  readonly #listeners = new Set<() => void>()
  #entries: readonly ToolEntry[] = []
  #reading: Promise<void> | undefined
  #isStale = false
  #isFresh = true

  constructor(options: Options) {
    this.name = options.name
    this.#options = options
  }

  /** Lists the tools of a new server; throws if one of them cannot be served. */
  async load(): Promise<void> {
    const { list, rules } = this.#options
    const listed = await this.#listAll(list)
    rules.onTools(listed)
    this.#entries = this.#toEntries(listed, (failure) => {
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

  /** Resolves when the entries are current. The first call uses the tools listed by `load`. */
  async upToDate(): Promise<void> {
    if (this.#isFresh) this.#isFresh = false
    else await this.#read()
  }

  /** Lists the tools again after a change. */
  refresh(withLister?: WithLister): void {
    this.#read(withLister).catch((error: unknown) => {
      const message = `tools/list of ${this.name} failed; its previous tools are still served.`
      this.#options.rules.report({ reason: 'unsupported_server', message, error })
    })
  }

  #read(withLister: WithLister = (read) => read(this.#options.list)): Promise<void> {
    this.#isFresh = false
    this.#isStale = true
    this.#reading ??= this.#readWhileStale(withLister).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  // A change during a read may have come too late for it.
  async #readWhileStale(withLister: WithLister): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      this.#replace(await withLister((list) => this.#listAll(list)))
    }
  }

  #replace(listed: readonly Tool[]): void {
    const previous = this.#entries
    const entries = this.#toEntries(listed, ({ reason, message }) => this.#options.rules.report({ reason, message }))
    if (entries.length === previous.length && entries.every(({ tool }, index) => tool === previous[index]?.tool)) return
    this.#entries = entries
    for (const listener of this.#listeners) listener()
  }

  #toEntries(listed: readonly Tool[], refuse: (failure: Failure) => void): readonly ToolEntry[] {
    const entries = new Map<string, ToolEntry>()
    for (const tool of listed) {
      const entry = this.#toEntry(tool)
      try {
        if (entries.has(tool.name)) throw duplicateName(this.name, tool.name)
        this.#options.admit(entry)
        entries.set(tool.name, entry)
      } catch (error) {
        if (!isFailure(error)) throw error
        refuse(error)
      }
    }
    return [...entries.values()]
  }

  #toEntry(tool: Tool): ToolEntry {
    const { rules, call } = this.#options
    const group = rules.groupOf(tool)
    return {
      tool,
      origin: 'static',
      source: this.name,
      visibility: group === undefined ? {} : { group },
      tags: [],
      aliases: [],
      // The server validates the arguments itself, unless that would block all clients.
      input: {
        json: tool.inputSchema,
        check(value) {
          const problem = costProblem(tool.inputSchema, value)
          return problem === undefined ? { value } : { problems: [problem] }
        },
      },
      handler: (input: unknown, ctx: ToolContext) => call(tool.name, input, ctx),
    }
  }

  async #listAll(list: ListPage): Promise<readonly Tool[]> {
    const tools: Tool[] = []
    const cursors = new Set<string>()
    for (let cursor: string | undefined; ; ) {
      const page = parsePage(this.name, await list(cursor))
      for (const tool of page.tools) tools.push(this.#options.rules.intern(definitionJson(this.name, tool, this.#options.era)))
      cursor = page.nextCursor
      if (cursor === undefined) return tools
      if (cursors.has(cursor)) throw unsupportedServer(this.name, `its tools/list repeats the cursor "${cursor}"`)
      if (cursors.size >= maxPages) throw unsupportedServer(this.name, `its tools/list has more than ${maxPages} pages`)
      cursors.add(cursor)
    }
  }
}

const maxPages = 1_000

function parsePage(
  server: string,
  page: unknown,
): { readonly tools: readonly unknown[]; readonly nextCursor: string | undefined } {
  const { tools, nextCursor } = (page ?? {}) as { tools?: unknown; nextCursor?: unknown }
  if (!Array.isArray(tools)) throw unsupportedServer(server, 'its tools/list returned no array of tools')
  return { tools, nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined }
}

/** Returns the definition as clients of this era see it: 2026-07-28 has no `execution`. */
function definitionJson(server: string, tool: unknown, era: Era): string {
  const { execution: _, ...rest } = (tool ?? {}) as { name?: unknown; inputSchema?: unknown; execution?: unknown }
  const { name, inputSchema } = rest
  if (typeof name === 'string' && typeof inputSchema === 'object' && inputSchema !== null)
    return JSON.stringify(era === 'stateless' ? rest : tool)
  throw unsupportedServer(server, 'its tools/list returned a tool without a name or an input schema')
}

export function unsupportedServer(server: string, problem: string): Failure<'unsupported_server'> {
  return new Failure('unsupported_server', `${server} cannot be adopted: ${problem}.`, { problem })
}

function duplicateName(server: string, name: string): Failure<'duplicate_name'> {
  return new Failure('duplicate_name', `${server} lists the tool "${name}" twice. Rename one.`, {
    name,
    sources: [server],
  })
}
