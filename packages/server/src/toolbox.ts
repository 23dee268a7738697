import { readFileSync } from 'node:fs'
import { type Facts, Failure, printable } from '@unfold-mcp/core'
import type { Extension } from './catalog/declaration.ts'
import { type Preview, type PreviewOptions, previewFor } from './operations/preview.ts'
import { runScript } from './operations/scripts/run-stored.ts'
import { changeFor, isActiveFor, toolListChanged } from './runtime/activation.ts'
import { addSource, createRuntime, type Runtime, stopRuntime } from './runtime/runtime.ts'
import { type principalType, servable } from './runtime/servable.ts'
import { inputSchema, type SchemaSource } from './schema/schema.ts'
import { type CompositeConfig, compositeOf, type ModeConfigs, type ModeHandlers } from './tool/composite.ts'
import type { ToolContext } from './tool/context.ts'
import { declared } from './tool/declared.ts'
import type { Source, ToolEntry, ToolHandler } from './tool/entry.ts'
import type { Principal } from './tool/principal.ts'
import {
  type AnyConfig,
  declaredTool,
  definitionOf,
  entryOf,
  type InputOf,
  type ResultOf,
  type ToolConfig,
  toolKeys,
} from './tool/tool-config.ts'
import { declarationOf } from './toolbox-declaration.ts'
import type { GroupsOf, ToolboxOptions } from './toolbox-options.ts'

/** Options of a stored script: those of a tool, and the script. */
export type ScriptToolConfig<
  Name extends string,
  I extends SchemaSource | undefined,
  O extends SchemaSource | undefined,
  F extends Facts,
> = Omit<ToolConfig<Name, I, O, F>, 'activator' | 'timeoutMs'> & {
  /** A module whose default export is a function: it gets the arguments, and its result is that of the tool. */
  readonly code?: string
  /** File with such a module, in place of `code`. */
  readonly file?: string | URL
  /** Tools that it may call although its caller may not, by name. */
  readonly grants?: readonly string[]
}

type AnyScriptConfig = ScriptToolConfig<string, SchemaSource | undefined, SchemaSource | undefined, Facts>

const { activator: _activator, timeoutMs: _timeoutMs, ...keysOfScripts } = toolKeys
const scriptKeys = { ...keysOfScripts, code: true, file: true, grants: true } as const

// A script has limits of its own, which do not count the time that a person takes to answer. The longest timer of Node.
const unlimitedMs = 2_147_483_647

/** Options of a composite tool. */
export type CompositeToolConfig<Name extends string, By extends string, M, C, F extends Facts> = Omit<
  ToolConfig<Name, C, undefined, F>,
  'output' | 'outputSchema' | 'activator'
> &
  CompositeConfig<By, M>

const { output: _, outputSchema: __, activator: ___, ...keysOfAnyMode } = toolKeys
const compositeKeys = { ...keysOfAnyMode, by: true, policy: true, modes: true } as const

/** JavaScript has no compiler that notices a forgotten configuration or handler. */
function checkArguments(name: string, config: unknown, handler: unknown): void {
  const isObject = typeof config === 'object' && config !== null
  if (isObject && typeof handler === 'function') return
  const problem = isObject ? 'has no handler' : 'has no configuration'
  const message = `Tool "${printable(name)}" ${problem}. Declare it as tool(name, { description, inputSchema }, handler).`
  throw new Failure('invalid_declaration', message, { what: name })
}

/** Tools that are declared once, for clients of both protocol eras. Serve it with `serve`, `createHandler` or `listen`. */
export class Toolbox<Name extends string = string, F extends Facts = Facts, P extends Principal = Principal> implements Source {
  readonly name: string
  readonly #options: ToolboxOptions<unknown, F, P>
  readonly #entries: ToolEntry[] = []
  readonly #taken = new Set<string>()
  /** The tool behind each name and former name. */
  readonly #owners = new Map<string, string>()
  readonly #extend: Extension[] = []
  readonly #listeners = new Set<(added?: ToolEntry) => void>()
  readonly #runtime: Runtime
  declare readonly [principalType]?: (principal: P | undefined) => void

  constructor(options: ToolboxOptions<unknown, F, P>) {
    this.name = options.name
    this.#options = options
    const runtime = createRuntime(declarationOf(options, { extend: this.#extend }), [this])
    this.#runtime = runtime
    servable(this, () => runtime)
  }

  /** Adds a tool. If the toolbox is already being served, clients are notified. */
  tool<const I extends SchemaSource | undefined = undefined, const O extends SchemaSource | undefined = undefined>(
    name: string,
    config: ToolConfig<Name, I, O, F>,
    handler: (input: InputOf<I>, ctx: ToolContext<Name, F, P>) => ResultOf<O> | Promise<ResultOf<O>>,
  ): this {
    checkArguments(name, config, handler)
    return this.#add(
      entryOf(this.name, name, declaredTool(name, config as unknown as AnyConfig, toolKeys), {
        handler: handler as unknown as ToolHandler,
        gated: this.#options.gate !== undefined,
      }),
    )
  }

  /** Adds a composite tool: one parameter chooses between modes, each with its own handler, and only modes with data are listed. */
  composite<const By extends string, const M extends ModeConfigs<F>, const C extends SchemaSource | undefined = undefined>(
    name: string,
    config: CompositeToolConfig<Name, By, M, C, F>,
    handlers: ModeHandlers<By, C, M, ToolContext<Name, F, P>>,
  ): this {
    const given = config as unknown as CompositeToolConfig<string, string, ModeConfigs<never>, SchemaSource | undefined, Facts>
    const { by, policy = 'filtered', modes, inputSchema: common, ...plain } = declared(`tool "${name}"`, given, compositeKeys)
    const { json } = inputSchema(name, common)
    const made = compositeOf(definitionOf(name, plain, json, undefined), {
      by,
      policy,
      common,
      modes,
      handlers: handlers as unknown as { readonly [mode: string]: ToolHandler },
    })
    return this.#add(
      entryOf(this.name, name, plain, { handler: made.handler, gated: this.#options.gate !== undefined, composite: made }),
    )
  }

  /**
   * Adds a tool that runs a stored script over the other tools, as `run_code` runs one that a model writes. It reaches what its
   * caller may call, listed or not, and what is granted to it.
   */
  script<const I extends SchemaSource | undefined = undefined, const O extends SchemaSource | undefined = undefined>(
    name: string,
    config: ScriptToolConfig<Name, I, O, F>,
  ): this {
    const { code, file, grants = [], ...plain } = declared(`script "${name}"`, config as unknown as AnyScriptConfig, scriptKeys)
    const source = code ?? (file === undefined ? undefined : readFileSync(file, 'utf8'))
    if (source === undefined)
      throw new Failure('invalid_declaration', `Script "${name}" has neither code nor a file.`, { what: `${name}.code` })
    const script = { name, code: source, grants: (tool: string) => grants.includes(tool) }
    const handler: ToolHandler<Record<string, unknown>> = (input, ctx) => runScript(script, input, ctx)
    const entry = entryOf(this.name, name, declaredTool(name, plain, toolKeys), {
      handler,
      gated: this.#options.gate !== undefined,
    })
    return this.#add({ ...entry, runsScript: true, timeoutMs: unlimitedMs })
  }

  #add(entry: ToolEntry): this {
    const { name } = entry.tool
    const key = entry.version === undefined ? name : `${name}@${entry.version}`
    if (this.#taken.has(key)) {
      throw new Failure(
        'duplicate_name',
        `The tool "${key}" is declared twice in ${this.name}. Rename one, or give each its own version.`,
        {
          name,
          sources: [this.name],
        },
      )
    }
    this.#refuseSharedName(entry)
    for (const listener of this.#listeners) listener(entry)
    this.#taken.add(key)
    for (const each of [name, ...entry.aliases]) this.#owners.set(each, name)
    this.#entries.push(entry)
    return this
  }

  /** Adds a source, such as a `ToolRegistry`, and follows its changes. */
  use(source: Source): this {
    addSource(this.#runtime, source)
    return this
  }

  /**
   * Registers prompts, resources, completions and custom methods (everything except tools) on each protocol server before it
   * connects.
   */
  extend(register: Extension): this {
    this.#extend.push(register)
    return this
  }

  /** Activates a group outside of a request: for a scope (`ctx.scope`), for `principal:<id>`, or for `all` connected clients. */
  activate(group: Name, scope: string): Promise<void> {
    return changeFor(this.#runtime, scope, 'activate', group)
  }

  deactivate(group: Name, scope: string): Promise<void> {
    return changeFor(this.#runtime, scope, 'deactivate', group)
  }

  /**
   * Returns whether a group is active, outside of a request: for a scope (`ctx.scope`), for all sessions of `principal:<id>`, or
   * without a scope for the only client over stdio.
   */
  isActive(group: Name, scope?: string): boolean {
    return isActiveFor(this.#runtime, group, scope)
  }

  /** Releases everything that hooks prepared. The toolbox cannot be served afterwards. `serve` does this itself. */
  close(): Promise<void> {
    return stopRuntime(this.#runtime)
  }

  /** Evaluates predicates again and notifies every client whose view changed. */
  toolListChanged(): void {
    toolListChanged(this.#runtime)
  }

  /** Returns what a client that connects now would be listed first, and everything it may use. */
  preview(client: PreviewOptions<P> = {}): Promise<Preview> {
    return previewFor(this.#runtime, client)
  }

  entries(): readonly ToolEntry[] {
    return this.#entries
  }

  subscribe(changed: (added?: ToolEntry) => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Throws if two tools share a name or former name; versions of one tool may. */
  #refuseSharedName({ tool: { name }, aliases }: ToolEntry): void {
    for (const each of [name, ...aliases]) {
      const owner = this.#owners.get(each) ?? name
      if (owner === name) continue
      const message = `In ${this.name} "${name}" and "${owner}" share the name "${each}". Rename one, or remove the alias.`
      throw new Failure('duplicate_name', message, { name: each, sources: [this.name] })
    }
  }
}

/** Declares a toolbox. The compiler checks the groups of tools against the declared ones. */
export function defineToolbox<const Name extends string = never, F extends Facts = Facts, P extends Principal = Principal>(
  options: ToolboxOptions<GroupsOf<Name>, F, P>,
): Toolbox<Name, F, P> {
  return new Toolbox(options)
}
