import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type ServerContext,
} from '@modelcontextprotocol/server'
import {
  ancestorsOf,
  Failure,
  gateName,
  isFailure,
  isStrict,
  isWaiting,
  nearest,
  nearestHint,
  type Problem,
  printable,
  reasons,
  resolve,
  type Tool,
  unknownGroup,
} from '@unfold-mcp/core'
import { activatorName, forReader, surfaceSource } from '../../catalog/activators.ts'
import { callerOf } from '../../catalog/call-variants.ts'
import { checkSize } from '../../catalog/message-limits.ts'
import { hidesUnshown, isFound } from '../../runtime/discoverable.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import type { ClientMethod, ClientPort } from '../../tool/client-port.ts'
import type { ToolContext } from '../../tool/context.ts'
import type { ToolEntry } from '../../tool/entry.ts'
import { wordsOf } from '../../tool/report.ts'
import { failureResult, invalidResult, isInputRequired, resultOf, ToolError } from '../../tool/result.ts'
import type { Transition } from '../../tool/transition.ts'
import type { Shown } from '../../view/rendered-view.ts'
import { deadlineOf } from './deadline.ts'
import type { Answers } from './input-required.ts'
import { callThem, changeText, revealMeta, transitionReply, transitionText, unchangedReply } from './transition-reply.ts'

/** A call as it arrives: what the client sent, and how it can be reached meanwhile. */
export interface Call extends Answers {
  readonly name: string
  readonly arguments?: unknown
  readonly id?: RequestId | undefined
  /** `_meta` of the request, without what a 2026-07-28 client states about itself. */
  readonly meta?: CallMeta | undefined
  /** What a 2026-07-28 client states about itself with the call. */
  readonly envelope?: ServerContext['mcpReq']['envelope']
  /** The client; absent for a call without a transport. */
  readonly client?: ClientPort | undefined
  readonly http?: (() => Request) | undefined
  readonly signal?: AbortSignal | undefined
  /** Ends the call when it is aborted, in place of `signal`; it is aborted when the time of the call is up. */
  readonly controller?: AbortController | undefined
}

type CallMeta = ServerContext['mcpReq']['_meta']

/** The answer to a call: permitted, available, and shown or let through by the policy for hidden tools. */
export async function answer(runtime: Runtime, scope: Scope, call: Call): Promise<CallToolResult | InputRequiredResult> {
  checkSize(call.arguments, runtime.declaration.messageLimits)
  const effects: Effects = { made: [], revealed: [], asked: new Set(), open: true }
  try {
    const admitting = runtime.declaration.admit?.({ tool: call.name, scope: scope.cell.key, principal: scope.frame.principal })
    // A call that need not wait is not put off by a turn.
    if (admitting !== undefined) await admitting
    const admission = await admitted(runtime, scope, call.name, effects)
    if (admission.kind === 'answered') return admission.result
    const { entry } = admission
    const before = runtime.views.shown(scope)
    const result = await (entry.source === surfaceSource && entry.work === undefined && !scope.frame.canActivate
      ? unchangedReply(toolsOf(runtime, scope, entry.activates))
      : run(runtime, scope, entry, call, effects))
    if ((entry.source === surfaceSource && !callsOthers(entry)) || isInputRequired(result)) return result
    return withChanges(runtime, scope, entry.isWritten === true ? withFixed(runtime, scope, result, effects) : result, {
      effects,
      before,
    })
  } catch (error) {
    if (isFailure(error, 'group_inactive')) return failureResult('group_inactive', parentFirst(runtime, scope, error.details))
    if (!isFailure(error) || reasons[error.reason] !== 'tool') throw error
    // A model can read these but only the author can mend them.
    const { reason, message } = error
    if (reason === 'invalid_result' || reason === 'hook_failed')
      runtime.declaration.report({ reason, message, error: error.cause })
    return failureResult(reason, message)
  } finally {
    effects.open = false
    if (effects.made.some((effect) => effect.changed)) {
      const notified = await runtime.announcer.tell(scope.cell.scopes, { scope, alongside: alongside(call) })
      if (notified) await runtime.relisted(scope)
    }
  }
}

function parentFirst(runtime: Runtime, scope: Scope, { group, parent }: { group: string; parent: string }): string {
  const where = parent === gateName ? 'once the server is activated' : `inside "${parent}"`
  return `Group "${group}" can only be opened ${where}. Call '${activatorName(runtime.worldOf(scope).surface, parent)}' first.`
}

function alongside({ client }: Call): (() => Promise<void>) | undefined {
  return client === undefined ? undefined : () => client.notify('notifications/tools/list_changed')
}

/** What a call changed so far. Changes made after it ended are told by themselves. */
export interface Effects {
  readonly made: Transition[]
  /** Those of them that let an unlisted tool run: no part of what the tool itself answers. */
  readonly revealed: Transition[]
  /** The groups that the handler asked to activate. */
  readonly asked: Set<string>
  open: boolean
}

/** What the client gets for a failure that is its own to mend: a standard code, and the reason as data. */
export function protocolError(failure: Failure): ProtocolError {
  const code = reasons[failure.reason] === 'operator' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
  return new ProtocolError(code, failure.message, { reason: failure.reason, ...failure.details })
}

type Admission =
  | { readonly kind: 'entry'; readonly entry: ToolEntry }
  | { readonly kind: 'answered'; readonly result: CallToolResult }

/** The entry that the name stands for, or what the policy for hidden tools answers instead. */
export async function admitted(runtime: Runtime, scope: Scope, name: string, effects: Effects): Promise<Admission> {
  const { catalog } = runtime.worldOf(scope)
  const look = runtime.views.look(scope)
  const meaning = resolve(catalog, look, name)
  if (meaning.kind === 'shown') return { kind: 'entry', entry: meaning.entry }
  if (meaning.kind === 'unknown') throw unknownTool(runtime, scope, name)
  const { entry } = meaning
  if (entry.origin === 'surface') {
    if (entry.work === undefined || (runtime.offersSurface(scope) && isRightCaller(entry, scope))) return { kind: 'entry', entry }
    throw unknownTool(runtime, scope, name)
  }
  const { hiddenCalls } = runtime.declaration
  if (hidesUnshown(runtime, scope)) throw unknownTool(runtime, scope, name)
  if (isFound(look) && hiddenCalls !== 'reveal') return { kind: 'answered', result: unlistedHint(scope, entry) }
  if (isWaiting(entry, look) && hiddenCalls === 'hint') return { kind: 'answered', result: waitingHint(entry) }
  const group = entry.visibility.group
  if (group === undefined) {
    if (isWaiting(entry, look) || hiddenCalls === 'reveal') return { kind: 'entry', entry }
    throw unknownTool(runtime, scope, name)
  }
  if (hiddenCalls === 'hint') return { kind: 'answered', result: activationHint(runtime, scope, name, group) }
  // Where tools are found by search the list stays short: only a group whose hooks must run is activated.
  const activates = look.exposure !== 'search' || isStrict(look.groups, group)
  if (scope.frame.canActivate && activates) await reveal(runtime, scope, group, effects)
  return { kind: 'entry', entry }
}

const callsOthers = ({ surface }: ToolEntry): boolean => surface === 'call' || surface === 'call-variants'

/** Whether a tool that calls others is the one for this client: those for each kind of effect exist so that a person can approve by name. */
function isRightCaller(entry: ToolEntry, { frame }: Scope): boolean {
  return !callsOthers(entry) || (entry.surface === 'call-variants') === frame.presentation.callVariants
}

/** Activates the group of an unlisted tool so that it can run. */
export async function reveal(runtime: Runtime, scope: Scope, group: string, effects: Effects): Promise<void> {
  const transition = await runtime.activateAll(scope, [group])
  effects.made.push(transition)
  if (transition.changed) effects.revealed.push(transition)
}

function unknownTool(runtime: Runtime, scope: Scope, name: string): Failure {
  const shown = runtime.views.shown(scope).entries.map((entry) => entry.tool.name)
  const close = nearest(name, shown)
  const shownName = printable(name)
  return new Failure('unknown_tool', `Tool "${shownName}" not found.${nearestHint(close)} List the tools to see what there is.`, {
    name: shownName,
    nearest: close,
  })
}

function waitingHint({ tool: { name }, after }: ToolEntry): CallToolResult {
  return failureResult('requires_activation', `Tool '${name}' can be called after '${after}'. Call '${after}' first.`)
}

/** How to call a tool that is to be found rather than listed. */
function unlistedHint({ frame }: Scope, { tool }: ToolEntry): CallToolResult {
  const enable = frame.canActivate && frame.wish === 'lazy' ? ', or enable it with manage_tools first' : ''
  const text = `Tool '${tool.name}' is not listed. Call it with ${callerOf(tool, frame.presentation.callVariants)}(name, arguments)${enable}.`
  return failureResult('requires_activation', text)
}

export function activationHint(runtime: Runtime, scope: Scope, tool: string, group: string): CallToolResult {
  if (!scope.frame.canActivate) {
    return failureResult(
      'requires_activation',
      group === gateName
        ? `Tool '${tool}' is not part of this view. Connect without it to have the tool.`
        : `Tool '${tool}' is in group '${group}', which is not part of this view. Connect with ?groups=${group} to have it.`,
    )
  }
  const { groups, surface } = runtime.worldOf(scope)
  const missing = [...ancestorsOf(groups, group)]
    .reverse()
    .concat(group)
    .filter((name) => !runtime.isActive(scope, name))
  const activators = missing.map((name) => `'${activatorName(surface, name)}'`)
  return failureResult('requires_activation', `Tool '${tool}' requires activation. Call ${activators.join(', then ')} first.`)
}

/** The tools of a group that exist for this scope and can be used now. */
function toolsOf(runtime: Runtime, scope: Scope, group: string | undefined): readonly Tool[] {
  const { forbidden, unavailable } = runtime.views.look(scope)
  const members = group === undefined ? [] : (runtime.worldOf(scope).catalog.byGroup.get(group) ?? [])
  return members.filter((member) => !forbidden.has(member) && !unavailable.has(member)).map(({ tool }) => tool)
}

/** Runs a tool for this scope: its arguments are checked, its time is bounded, its result is one that can be sent. */
export async function run(
  runtime: Runtime,
  scope: Scope,
  entry: ToolEntry,
  call: Call,
  effects: Effects,
): Promise<CallToolResult | InputRequiredResult> {
  const { name } = entry.tool
  if (entry.work !== undefined) {
    const checked = await entry.input.check(call.arguments ?? {})
    if ('problems' in checked) return invalidArguments(name, checked.problems)
    return entry.work(checked.value as never, { runtime, scope, call, effects })
  }
  // What is wrong with the arguments of a surface tool names groups, so it is said in terms of what the caller may know.
  const { input } =
    entry.source === surfaceSource ? forReader(entry, runtime.worldOf(scope).surface, runtime.reader(scope)) : entry
  const checked = await input.check(call.arguments ?? {}, entry.modes === undefined ? undefined : runtime.views.snapshot(scope))
  if ('problems' in checked) return invalidArguments(name, checked.problems)
  refuseUnknownGroup(runtime, scope, entry, checked.value)
  runtime.used(scope, entry)
  const deadline = deadlineOf(entry.timeoutMs ?? runtime.declaration.callTimeoutMs, call, name)
  const ctx = contextOf(runtime, scope, call, { signal: deadline.signal, effects })
  const given = await handled(runtime, entry, deadline, () => entry.handler(checked.value as never, ctx)).finally(deadline.lift)
  if ('failure' in given) return given.failure
  if (entry.source === surfaceSource) return surfaceReply(runtime, scope, entry, given.value as Transition)
  const result = resultOf(name, given.value)
  if (isInputRequired(result)) return result
  const checkedResult = await checkedOutput(entry, result)
  if (checkedResult.isError !== true) effects.made.push(runtime.succeeded(scope, entry))
  return checkedResult
}

/** Every problem at once, so that the next try can be right. */
export function invalidArguments(tool: string, problems: readonly Problem[]): CallToolResult {
  const lines = problems.slice(0, 50).map(({ path, message }) => `- ${path === '' ? 'arguments' : path}: ${message}`)
  const rest = problems.length > 50 ? [`- … and ${problems.length - 50} more`] : []
  return failureResult(
    'invalid_arguments',
    [`The arguments of ${tool} are not valid:`, ...lines, ...rest, 'Correct them and call again.'].join('\n'),
  )
}

/** The generated `deactivate` knows only the groups that its caller may know of. */
function refuseUnknownGroup(runtime: Runtime, scope: Scope, entry: ToolEntry, input: unknown): void {
  if (entry.source !== surfaceSource || entry.activates !== undefined) return
  const { group } = input as { group: string }
  const { groups } = runtime.reader(scope)
  if (!groups.has(group)) throw unknownGroup(group, groups)
}

/** What the handler gave, or a failure in words for the model: a handler that throws or hangs is its author's to mend. */
async function handled(
  runtime: Runtime,
  { tool: { name } }: ToolEntry,
  deadline: { readonly passed: Promise<never> },
  work: () => unknown,
): Promise<{ value: unknown } | { failure: CallToolResult }> {
  try {
    return { value: await Promise.race([work(), deadline.passed]) }
  } catch (error) {
    if (error instanceof ProtocolError) throw sendable(error)
    if (isFailure(error) && reasons[error.reason] === 'tool') throw error
    const message = wordsOf(error)
    if (error instanceof ToolError) return { failure: failureResult('tool_failed', message) }
    runtime.declaration.report({ reason: 'tool_failed', message: `Tool "${name}" threw: ${message}`, error })
    return { failure: failureResult('tool_failed', message === '' ? `Tool "${name}" failed without saying why.` : message) }
  }
}

// An error whose data JSON cannot hold would never be sent, and its caller would wait in vain.
function sendable(error: ProtocolError): ProtocolError {
  try {
    JSON.stringify(error.data)
    return error
  } catch {
    return new ProtocolError(error.code, error.message)
  }
}

async function checkedOutput(entry: ToolEntry, result: CallToolResult): Promise<CallToolResult> {
  if (entry.output === undefined || result.isError === true) return result
  const { name } = entry.tool
  if (result.structuredContent === undefined)
    throw invalidResult(name, 'it declares an output schema but returned no structured content')
  const checked = await entry.output.check(result.structuredContent)
  if (!('problems' in checked)) return result
  throw invalidResult(
    name,
    checked.problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '),
  )
}

function surfaceReply(runtime: Runtime, scope: Scope, entry: ToolEntry, transition: Transition): CallToolResult {
  const asked =
    entry.activates === undefined
      ? 'That group was not active; nothing changed.'
      : entry.activates === gateName
        ? 'Already active: its tools are listed.'
        : `Group "${entry.activates}" is already active.`
  const again = scope.missesChanges && entry.activates !== undefined ? ` ${callThem}` : ''
  return transitionReply(transition, runtime.openable(scope, transition), `${asked}${again}`)
}

/** The result of an activator that the author wrote, with what its calls of `ctx.activate` did not change. */
function withFixed(runtime: Runtime, scope: Scope, result: CallToolResult, { made, asked }: Effects): CallToolResult {
  if (!made.some(({ listIsFixed }) => listIsFixed === true)) return result
  const { content } = unchangedReply([...asked].flatMap((group) => toolsOf(runtime, scope, group)))
  return { ...result, content: [...result.content, ...content] }
}

/** A result of any other tool during which this scope's list changed says how: by activation, or with the world. */
function withChanges(
  runtime: Runtime,
  scope: Scope,
  result: CallToolResult,
  { effects, before }: { readonly effects: Effects; readonly before: Shown },
): CallToolResult {
  const { made, revealed } = effects
  const activations = made.filter((effect) => effect.changed && !revealed.includes(effect))
  const texts = activations.map((effect) => transitionText(effect, runtime.openable(scope, effect), ''))
  if (activations.length + revealed.length === 0) {
    const after = runtime.views.shown(scope)
    if (after.fingerprint !== before.fingerprint) texts.push(changeText(before.tools, after.tools))
  }
  const told = texts.filter((text) => text !== '').map((text) => ({ type: 'text' as const, text }))
  const noted = revealed.length === 0 ? result : { ...result, _meta: { ...result._meta, ...revealMeta(revealed) } }
  return told.length === 0 ? noted : { ...noted, content: [...noted.content, ...told] }
}

function contextOf(
  runtime: Runtime,
  scope: Scope,
  { client, http, meta, envelope, inputResponses, requestState }: Call,
  { signal, effects }: { signal: AbortSignal; effects: Effects },
): ToolContext {
  const facts = runtime.views.facts()
  const noted = async (work: Promise<Transition>): Promise<Transition> => {
    const transition = await work
    if (effects.open) effects.made.push(transition)
    else if (transition.changed) runtime.announcer.tellSoon(scope.cell.scopes)
    return transition
  }
  return {
    scope: scope.cell.key,
    era: scope.frame.era,
    principal: scope.frame.principal,
    facts,
    signal,
    meta,
    envelope,
    inputResponses,
    requestState,
    isRepeated: inputResponses !== undefined || requestState !== undefined,
    client,
    get request() {
      return http?.()
    },
    isActive: (group = gateName) => runtime.isActive(scope, group),
    groups: () => runtime.groups(scope),
    activate(group = gateName) {
      effects.asked.add(group)
      return noted(runtime.activate(scope, group))
    },
    deactivate: (group = gateName) => noted(runtime.deactivate(scope, group)),
    toolListChanged: () => runtime.toolListChanged(),
    elicit: (params) => askClient(client, 'elicitation/create', params, signal) as ReturnType<ToolContext['elicit']>,
    sample: (params) => askClient(client, 'sampling/createMessage', params, signal) as ReturnType<ToolContext['sample']>,
    async progress(progress, total, message) {
      const progressToken = meta?.progressToken
      if (progressToken === undefined) return
      const params = { progressToken, progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
      await client?.notify('notifications/progress', params)
    },
    async log(level, data, logger) {
      await client?.log(level, data, logger)
    },
  }
}

async function askClient(
  client: ClientPort | undefined,
  method: ClientMethod,
  params: object,
  signal: AbortSignal,
): Promise<unknown> {
  if (client !== undefined) return client.ask(method, params, { signal })
  throw new Failure('no_scope', `There is no client to send ${method} to: the call came without a transport.`, {
    operation: method,
  })
}
