import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import {
  checkToolName,
  type Facts,
  Failure,
  fingerprint,
  nearest,
  nearestHint,
  type Page,
  type Predicate,
  pageOf,
  type Tool,
  toolFingerprint,
  type Visibility,
} from '@unfold-mcp/core'
import type { GroupOptions } from './catalog/declaration.ts'
import type { SchemaSource } from './schema/schema.ts'
import type { ToolContext } from './tool/context.ts'
import { declared, type Keys } from './tool/declared.ts'
import type { Source, ToolEntry, ToolHandler } from './tool/entry.ts'
import { invalidArguments } from './tool/invalid-arguments.ts'
import { resultOf } from './tool/result.ts'
import { declaredTool, entryOf, type InputOf, type ToolConfig, toolKeys } from './tool/tool-config.ts'
import { ToolGroups } from './tool-groups.ts'

/** A registered tool, with the same keys as in a toolbox. */
export interface RegisteredTool<I extends SchemaSource | undefined = SchemaSource | undefined>
  extends ToolConfig<string, I, SchemaSource | undefined, Facts> {
  readonly execution?: Tool['execution']
}

const registeredKeys: Keys<RegisteredTool> = { ...toolKeys, execution: true }

export interface RegistryOptions {
  readonly name?: string
  /** Declared as in a toolbox, or step by step with `ToolGroups`. */
  readonly groups?: ToolGroups | { readonly [name: string]: GroupOptions }
}

const registryKeys: Keys<RegistryOptions> = { name: true, groups: true }

let registries = 0

/**
 * Tools that come and go while the server runs. `toolbox.use(registry)` lists them after the toolbox's own tools. Without a
 * toolbox, the registry lists and calls its tools itself, and its own groups decide what is visible.
 */
export class ToolRegistry implements Source {
  readonly name: string
  readonly #groups: ToolGroups | undefined
  readonly #entries = new Map<string, ToolEntry>()
  readonly #listeners = new Set<(added?: ToolEntry) => void>()

  constructor(options: RegistryOptions = {}) {
    const { name = `registry ${++registries}`, groups } = declared('the options of a registry', options, registryKeys)
    this.name = name
    this.#groups = groups === undefined || groups instanceof ToolGroups ? groups : new ToolGroups(groups)
  }

  register<const I extends SchemaSource | undefined = undefined>(
    name: string,
    tool: RegisteredTool<I>,
    handler: ToolHandler<InputOf<I>>,
  ): () => void {
    return this.#add(name, tool, {}, handler)
  }

  registerInGroup<const I extends SchemaSource | undefined = undefined>(
    name: string,
    tool: RegisteredTool<I>,
    group: string,
    handler: ToolHandler<InputOf<I>>,
  ): () => void {
    return this.#add(name, tool, { group }, handler)
  }

  /** Registers a tool that exists only while `visible` returns true. */
  registerConditional<const I extends SchemaSource | undefined = undefined>(
    name: string,
    tool: RegisteredTool<I>,
    visible: Predicate,
    handler: ToolHandler<InputOf<I>>,
  ): () => void {
    return this.#add(name, tool, { when: visible }, handler)
  }

  /** Removes a tool and returns it, or `undefined` if there was none. */
  unregister(name: string): Tool | undefined {
    const found = [...this.#entries.values()].filter((entry) => entry.tool.name === name)
    for (const entry of found) this.#entries.delete(keyOf(entry))
    if (found.length > 0) this.#announce()
    return found.at(-1)?.tool
  }

  hasTool(name: string): boolean {
    return this.#visible().some((entry) => entry.tool.name === name)
  }

  listTools(cursor?: string, pageSize?: number): { readonly tools: readonly Tool[]; readonly nextCursor?: string } {
    const tools = this.#visible().map((entry) => entry.tool)
    const { items, nextCursor }: Page<Tool> = pageOf(tools, pageSize, fingerprint(tools.map(toolFingerprint).join()), cursor)
    return { tools: items, ...(nextCursor !== undefined && { nextCursor }) }
  }

  /** Calls a visible tool. */
  async callTool(
    name: string,
    args: unknown = {},
    ctx: ToolContext = this.#ownContext(),
  ): Promise<CallToolResult | InputRequiredResult> {
    const entry = this.#visible().find((each) => each.tool.name === name || each.aliases.includes(name))
    if (entry === undefined) {
      const close = nearest(
        name,
        this.#visible().map((each) => each.tool.name),
      )
      throw new Failure('unknown_tool', `Tool "${name}" not found.${nearestHint(close)}`, { name, nearest: close })
    }
    const checked = await entry.input.check(args)
    return 'problems' in checked
      ? invalidArguments(name, checked.problems)
      : resultOf(name, await entry.handler(checked.value as never, ctx))
  }

  entries(): readonly ToolEntry[] {
    return [...this.#entries.values()]
  }

  subscribe(changed: (added?: ToolEntry) => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  #add(name: string, given: RegisteredTool, visibility: Visibility, handler: ToolHandler): () => void {
    checkToolName(name)
    const { execution, ...config } = declaredTool(name, given, registeredKeys)
    const made = entryOf(this.name, name, { ...config, ...visibility }, { handler, origin: 'dynamic' })
    const entry: ToolEntry = execution === undefined ? made : { ...made, tool: { ...made.tool, execution } }
    if (this.#entries.has(keyOf(entry))) {
      throw new Failure('duplicate_name', `The tool "${keyOf(entry)}" is registered already. Unregister it first.`, {
        name,
        sources: [this.name],
      })
    }
    this.#announce(entry)
    this.#entries.set(keyOf(entry), entry)
    return () => {
      if (this.#entries.get(keyOf(entry)) === entry && this.#entries.delete(keyOf(entry))) this.#announce()
    }
  }

  // Listeners come first: a tool that one of them refuses leaves no trace.
  #announce(added?: ToolEntry): void {
    for (const listener of this.#listeners) listener(added)
  }

  #visible(): readonly ToolEntry[] {
    const snapshot = { facts: {}, isActive: (group: string) => this.#groups?.isActive(group) === true }
    return [...this.#entries.values()].filter(({ visibility: { group, when } }) => {
      if (group !== undefined && !snapshot.isActive(group)) return false
      try {
        return when === undefined || when(snapshot) === true
      } catch {
        return false
      }
    })
  }

  #ownContext(): ToolContext {
    const groups = this.#groups
    const unchanged = { changed: false, activated: [], deactivated: [], appeared: [], disappeared: [] }
    return {
      scope: this.name,
      era: 'session',
      principal: undefined,
      share: undefined,
      facts: {},
      signal: new AbortController().signal,
      meta: undefined,
      envelope: undefined,
      inputResponses: undefined,
      requestState: undefined,
      isRepeated: false,
      client: undefined,
      request: undefined,
      isActive: (group) => group !== undefined && groups?.isActive(group) === true,
      groups: () => [],
      activate: async (group) => {
        if (group !== undefined) await groups?.activate(group)
        return unchanged
      },
      deactivate: async (group) => {
        if (group !== undefined) await groups?.deactivate(group)
        return unchanged
      },
      toolListChanged: () => undefined,
      progress: async () => undefined,
      log: async () => undefined,
      elicit: () => noClient('elicit'),
      sample: () => noClient('sample'),
    }
  }
}

async function noClient(operation: string): Promise<never> {
  throw new Failure('no_scope', `ctx.${operation}() needs a client, but the tool was called without a transport.`, {
    operation,
  })
}

const keyOf = ({ tool, version }: ToolEntry): string => (version === undefined ? tool.name : `${tool.name}@${version}`)
