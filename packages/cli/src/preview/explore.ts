import {
  type CallResult,
  type Connection,
  isClientError,
  type Outline,
  type OutlinedGroup,
  type OutlinedTool,
  type Tool,
} from '@unfold-mcp/client'
import type { Step, Transcript } from './transcript.ts'

export interface ExploreOptions {
  /** Whether the client re-lists on `list_changed`. */
  readonly relists: boolean
  /** Whether other clients use the server: then only read-only calls are made, and are undone. */
  readonly isShared: boolean
}

type Explored = Pick<Transcript, 'tools' | 'outline' | 'steps' | 'unlisted' | 'skipped'>

const maxActivations = 40
const maxDescribed = 200

/** Records the initial list and the list after each step that a model can take. */
export async function explore(connection: Connection, options: ExploreOptions): Promise<Explored> {
  // Servers treat clients that do not re-list in time differently, so behave like the host.
  const unwatch = options.relists
    ? await connection.watch((sign) => {
        if (sign === 'changed') void connection.refresh().catch(() => undefined)
      })
    : () => undefined
  try {
    return await new Exploration(connection, options).run()
  } finally {
    unwatch()
  }
}

class Exploration {
  readonly #connection: Connection
  readonly #options: ExploreOptions
  readonly #steps: Step[] = []
  readonly #skipped = new Set<string>()
  readonly #seen = new Map<string, Tool>()
  readonly #tools = new Map<string, OutlinedTool>()
  readonly #groups = new Map<string, OutlinedGroup>()
  #list: readonly Tool[] = []

  constructor(connection: Connection, options: ExploreOptions) {
    this.#connection = connection
    this.#options = options
  }

  async run(): Promise<Explored> {
    const tools = await this.#relist()
    const first = await this.#outline()
    if (this.#connection.era === 'session') await this.#activate()
    await this.#find(first)
    return {
      tools,
      outline: first === undefined ? undefined : { tools: [...this.#tools.values()], groups: [...this.#groups.values()] },
      steps: this.#steps,
      unlisted: await this.#described(),
      skipped: [...this.#skipped],
    }
  }

  /** Accumulates tools and groups: closed groups hide their tools, and a gate hides groups. */
  async #outline(): Promise<Outline | undefined> {
    const outline = await this.#connection.outline()
    for (const tool of outline?.tools ?? []) this.#tools.set(tool.name, tool)
    for (const group of outline?.groups ?? []) this.#groups.set(group.name, group)
    return outline
  }

  async #relist(): Promise<readonly Tool[]> {
    this.#list = await this.#connection.refresh()
    for (const tool of this.#list) this.#seen.set(tool.name, tool)
    return this.#list
  }

  /** Activates all groups, parents first. */
  async #activate(): Promise<void> {
    const tried = new Set<string>()
    const opened: string[] = []
    for (let count = 0; count < maxActivations; count++) {
      const outline = await this.#outline()
      const next = openings(outline, this.#list).find(({ activator }) => !tried.has(activator.name))
      if (next === undefined) break
      const { activator, group, ancestors } = next
      tried.add(activator.name)
      if (!this.#mayCall(activator)) {
        this.#skipped.add(activator.name)
        continue
      }
      // An earlier step may have deactivated these.
      for (const name of ancestors) if (this.#isListed(name) && !this.#skipped.has(name)) await this.#called(name, {})
      if (ancestors.length > 0) await this.#relist()
      const { isError } = await this.#step(activator.name, {}, { group, first: ancestors })
      if (group !== undefined && !isError) opened.push(group)
    }
    if (this.#options.isShared) await this.#deactivate(opened)
  }

  async #deactivate(groups: readonly string[]): Promise<void> {
    const deactivate = this.#list.find(({ name }) => name === 'deactivate')
    if (deactivate === undefined || !this.#mayCall(deactivate, ['group'])) return
    for (const group of groups.toReversed()) await this.#called('deactivate', { group })
    await this.#relist()
  }

  /** Searches for one unlisted tool by name. */
  async #find(outline: Outline | undefined): Promise<void> {
    const target = outline?.tools.find(({ name }) => !this.#seen.has(name))?.name
    if (target === undefined) return
    const query = target.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim()
    if (this.#isListed('search_tools')) await this.#step('search_tools', { query })
    else if (this.#isListed('manage_tools')) {
      await this.#step('manage_tools', { action: 'search', query })
      if (this.#connection.era !== 'session') return
      await this.#step('manage_tools', { action: 'enable', tools: [target] })
      if (this.#options.isShared) await this.#called('manage_tools', { action: 'disable', tools: [target] })
    }
  }

  async #described(): Promise<readonly Tool[]> {
    const names = [...this.#tools.keys()].filter((name) => !this.#seen.has(name))
    const found: Tool[] = []
    for (const name of names.slice(0, maxDescribed)) {
      const description = await this.#connection.describe(name).catch(() => undefined)
      if (description !== undefined) found.push(description.tool)
    }
    return found
  }

  readonly #isListed = (name: string): boolean => this.#list.some((tool) => tool.name === name)

  #mayCall({ inputSchema, annotations }: Tool, given: readonly string[] = []): boolean {
    const required = Array.isArray(inputSchema.required) ? (inputSchema.required as readonly unknown[]) : []
    if (required.some((name) => !given.includes(String(name)))) return false
    return !this.#options.isShared || annotations?.readOnlyHint === true
  }

  async #step(name: string, args: Step['arguments'], { group, first = [] }: Within = {}): Promise<Step> {
    const before = new Set(this.#list.map((tool) => tool.name))
    const { text, isError } = await this.#called(name, args)
    const appeared = (await this.#relist()).filter((tool) => !before.has(tool.name))
    const step = {
      ...{ name, arguments: args, reply: text, isError, appeared },
      ...(group !== undefined && { group }),
      ...(first.length > 0 && { first }),
    }
    this.#steps.push(step)
    return step
  }

  async #called(name: string, args: Step['arguments']): Promise<{ readonly text: string; readonly isError: boolean }> {
    try {
      const result = await this.#connection.call(name, args, { validate: false })
      return { text: textIn(result), isError: result.isError === true }
    } catch (error) {
      if (this.#connection.isClosed || !isClientError(error)) throw error
      return { text: error.message, isError: true }
    }
  }
}

const textIn = ({ content }: CallResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')

interface Within {
  readonly group?: string | undefined
  readonly first?: readonly string[]
}

interface Opening {
  readonly activator: Tool
  readonly group?: string
  /** Activators of its ancestor groups, outermost first. */
  readonly ancestors: readonly string[]
}

/** Listed activators, outer groups first. */
function openings(outline: Outline | undefined, list: readonly Tool[]): readonly Opening[] {
  if (outline === undefined) return []
  const listed = new Map(list.map((tool) => [tool.name, tool]))
  const gate = listed.get(outline.gate ?? '')
  const groups = new Map(outline.groups.map((group) => [group.name, group]))
  const ancestorsOf = (name: string | undefined, depth = 0): readonly string[] => {
    const group = groups.get(name ?? '')
    if (group === undefined || depth > groups.size) return outline.gate === undefined ? [] : [outline.gate]
    return [...ancestorsOf(group.parent, depth + 1), ...(group.activator === undefined ? [] : [group.activator])]
  }
  const found = outline.groups.flatMap(({ name, parent, activator = '' }) => {
    const tool = listed.get(activator)
    return tool === undefined ? [] : [{ activator: tool, group: name, ancestors: ancestorsOf(parent) }]
  })
  return [
    ...(gate === undefined ? [] : [{ activator: gate, ancestors: [] }]),
    ...found.toSorted((a, b) => a.ancestors.length - b.ancestors.length),
  ]
}
