import { AsyncLocalStorage } from 'node:async_hooks'
import { Failure, gateName } from '@unfold-mcp/core'
import { packageVersion } from './package-version.ts'
import type { ToolRegistry } from './registry.ts'
import { isActiveFor } from './runtime/activation.ts'
import { runtimeOf, servableClass } from './runtime/servable.ts'
import { checkSchemaSource, type SchemaSource } from './schema/schema.ts'
import type { ToolContext } from './tool/context.ts'
import { type Declared, declared, type Keys } from './tool/declared.ts'
import type { ToolHandler } from './tool/entry.ts'
import type { HandlerResult } from './tool/result.ts'
import { type AnyConfig, type DeclaredTool, type InputOf, type ToolConfig, toolKeys } from './tool/tool-config.ts'
import type { ToolGroups } from './tool-groups.ts'
import { Toolbox } from './toolbox.ts'
import { type ToolboxOptions, toolboxKeys } from './toolbox-options.ts'

/** Options of a decorated class: those of a toolbox, and the names of its fields. */
export interface ServerAttributes extends Partial<Omit<ToolboxOptions<unknown>, 'groups' | 'gate' | 'hiddenCalls'>> {
  /** The boolean field behind one gate for everything, groups included. Each client has its own value. */
  readonly activation?: string
  /** The field that holds the `ToolGroups`. */
  readonly groups?: string
  /** The field that holds the `ToolRegistry`. */
  readonly registry?: string
  /** Responds to a call to a hidden tool with what to activate first. */
  readonly hiddenToolHint?: boolean
}

/** Options of a decorated method. Default of `name`: the name of the method. */
export interface ToolAttributes<I extends SchemaSource | undefined, O extends SchemaSource | undefined = undefined>
  extends Omit<ToolConfig<string, I, O, never>, 'when'> {
  readonly name?: string
  readonly when?: AnyConfig['when']
}

type FieldsOf<A> = (A extends { readonly activation: infer F extends string } ? Record<F, boolean> : unknown) &
  (A extends { readonly groups: infer F extends string } ? Record<F, ToolGroups> : unknown) &
  (A extends { readonly registry: infer F extends string } ? Record<F, ToolRegistry> : unknown)

/** A method that `tool` accepts. */
export type Method<I> = (this: never, input: InputOf<I>, ctx: ToolContext) => HandlerResult | Promise<HandlerResult>

const { gate: _, hiddenCalls: __, ...sharedKeys } = toolboxKeys

const serverKeys: Keys<ServerAttributes> = { ...sharedKeys, activation: true, registry: true, hiddenToolHint: true }

const methodKeys: Keys<AnyConfig & { readonly name?: string }> = { ...toolKeys, name: true }

// Decorators store their data here because Node 20 has no Symbol.metadata.
const toolMethods = new WeakMap<object, { readonly name: string; readonly config: DeclaredTool }>()
const toolboxes = new WeakMap<object, Toolbox>()

/** Makes a method a tool. */
export function tool<const I extends SchemaSource | undefined = undefined, const O extends SchemaSource | undefined = undefined>(
  attributes: ToolAttributes<I, O> = {},
): (method: Method<I>, context: ClassMethodDecoratorContext) => void {
  return (method, context) => {
    const called = attributes.name ?? String(context.name)
    const given = attributes as AnyConfig & { readonly name?: string }
    const { name: _name, ...config } = declared(`tool "${called}"`, given, methodKeys)
    // The entry is created when an instance is served; a wrong schema throws where it is written.
    checkSchemaSource(called, config.inputSchema, 'input')
    checkSchemaSource(called, config.outputSchema, 'output')
    toolMethods.set(method, { name: called, config })
  }
}

/** Makes instances of a class servable: `await serve(new MyServer())`. */
export function mcpServer<const A extends ServerAttributes>(
  attributes: A,
): <C extends abstract new (...args: never[]) => FieldsOf<A>>(target: C, context: ClassDecoratorContext<C>) => void {
  return (target) => {
    const own = declared(`class "${target.name}"`, attributes as ServerAttributes, serverKeys)
    servableClass(target, (instance) => runtimeOf(toolboxFor(instance, own)))
  }
}

/** Returns the toolbox behind an instance of a decorated class, to extend or control it. */
export function toolboxOf(instance: object): Toolbox {
  runtimeOf(instance)
  const found = toolboxes.get(instance)
  if (found !== undefined) return found
  throw new Failure('unsupported_server', 'This is not an instance of a class with @mcpServer.', { problem: typeof instance })
}

/** The current call, the value it assigned to the activation field, and the work that this started. */
interface Current {
  readonly ctx: ToolContext
  readonly started: Promise<unknown>[]
  activated: boolean | undefined
}

const current = new AsyncLocalStorage<Current>()

function toolboxFor(instance: object, attributes: Declared<ServerAttributes>): Toolbox {
  const { activation, groups: groupsField, registry, hiddenToolHint, name, version, ...options } = attributes
  const groups = groupsField === undefined ? undefined : (fieldOf(instance, groupsField) as ToolGroups)
  const toolbox = new Toolbox({
    ...options,
    name: name ?? snakeCase(instance.constructor.name),
    version: version ?? packageVersion(),
    hiddenCalls: hiddenToolHint === true ? 'hint' : 'opaque',
    ...(groups !== undefined && { groups: groups.declarations }),
    ...(activation !== undefined && {
      gate: {
        ...(options.description !== undefined && { description: options.description }),
        default: fieldOf(instance, activation) === true,
      },
    }),
  })
  const runtime = runtimeOf(toolbox)
  const box = 'toolboxOf(server)'
  groups?.belongTo(
    () => current.getStore()?.ctx,
    (group) => isActiveFor(runtime, group, undefined, { box }),
  )
  if (activation !== undefined)
    bindField(instance, activation, () => isActiveFor(runtime, gateName, undefined, { asked: `"${activation}"`, box }))
  for (const [method, { name: toolName, config }] of methodsOf(instance)) toolbox.tool(toolName, config, within(instance, method))
  if (registry !== undefined) toolbox.use(fieldOf(instance, registry) as ToolRegistry)
  toolboxes.set(instance, toolbox)
  return toolbox
}

/** Binds the field to the activation of the client whose call is running; `outside` applies elsewhere. */
function bindField(instance: object, field: string, outside: () => boolean): void {
  Object.defineProperty(instance, field, {
    get: () => {
      const call = current.getStore()
      return call === undefined ? outside() : (call.activated ?? call.ctx.isActive(gateName))
    },
    set: (value: boolean) => {
      const call = current.getStore()
      if (call === undefined) {
        const message = `"${field}" belongs to each client, so it can only be set while a call is answered. Elsewhere use toolboxOf(server).activate('all', scope).`
        throw new Failure('no_scope', message, { operation: `set ${field}` })
      }
      call.activated = value
      call.started.push(value ? call.ctx.activate(gateName) : call.ctx.deactivate(gateName))
    },
  })
}

function within(instance: object, method: ToolHandler): (input: unknown, ctx: ToolContext) => Promise<HandlerResult> {
  return async (input, ctx) => {
    const call: Current = { ctx, started: [], activated: undefined }
    const result = await current.run(call, () => method.call(instance, input as never, ctx))
    await Promise.all(call.started)
    return result
  }
}

function* methodsOf(instance: object): Generator<[ToolHandler, { readonly name: string; readonly config: DeclaredTool }]> {
  const seen = new Set<string>()
  for (
    let at: object | null = Object.getPrototypeOf(instance);
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const key of Object.getOwnPropertyNames(at)) {
      const method = Object.getOwnPropertyDescriptor(at, key)?.value as unknown
      const found = typeof method === 'function' ? toolMethods.get(method) : undefined
      if (found === undefined || seen.has(found.name)) continue
      seen.add(found.name)
      yield [method as ToolHandler, found]
    }
  }
}

const fieldOf = (instance: object, field: string): unknown => (instance as Record<string, unknown>)[field]

const snakeCase = (name: string): string => name.replace(/([a-z0-9])([A-Z])/gu, '$1_$2').toLowerCase()
