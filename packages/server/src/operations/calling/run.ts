import { type CallToolResult, type InputRequiredResult, ProtocolError } from '@modelcontextprotocol/server'
import { gateName, isFailure, reasons, unknownGroup } from '@unfold-mcp/core'
import { forReader, surfaceSource } from '../../catalog/activators.ts'
import { noteCall, noteSuccess } from '../../runtime/activation.ts'
import { openableGroups, readerFor } from '../../runtime/groups.ts'
import { inHandler } from '../../runtime/handler-context.ts'
import { readerKey } from '../../runtime/list-identity.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import type { ToolEntry } from '../../tool/entry.ts'
import { boundedProblems, invalidArguments } from '../../tool/invalid-arguments.ts'
import { errorMessage } from '../../tool/report.ts'
import { failureResult, invalidResult, isInputRequired, resultOf, ToolError } from '../../tool/result.ts'
import type { Transition } from '../../tool/transition.ts'
import type { Call, CallEffects } from './call.ts'
import { contextOf } from './context.ts'
import { deadlineOf } from './deadline.ts'
import { callThem, transitionReply } from './transition-reply.ts'

/** Runs the handler of a tool: checks the arguments, limits the time and checks the result. */
export async function run(
  runtime: Runtime,
  scope: Scope,
  entry: ToolEntry,
  call: Call,
  effects: CallEffects,
): Promise<CallToolResult | InputRequiredResult> {
  const { name } = entry.tool
  // Problems with the arguments of an activator name groups, so they are limited to those that the caller may know of.
  const { input } =
    entry.source === surfaceSource ? forReader(entry, runtime.catalogs.of(scope).surface, readerFor(runtime, scope)) : entry
  const checked = await input.check(call.arguments ?? {}, entry.modes === undefined ? undefined : runtime.views.snapshot(scope))
  if ('problems' in checked) return invalidArguments(name, checked.problems)
  refuseUnknownGroup(runtime, scope, entry, checked.value)
  noteCall(runtime, scope, entry)
  const perform = (): Promise<CallToolResult | InputRequiredResult> =>
    handle(runtime, scope, entry, { call, effects, input: checked.value })
  // A script would hold a slot while its own calls wait for one.
  if (entry.source === surfaceSource || entry.runsScript === true) return perform()
  return runtime.slots.call({ scope, signal: call.controller?.signal ?? call.signal, run: perform })
}

interface CheckedCall {
  readonly call: Call
  readonly effects: CallEffects
  /** The checked arguments. */
  readonly input: unknown
}

/** Runs the handler within its deadline, and checks its result. */
async function handle(
  runtime: Runtime,
  scope: Scope,
  entry: ToolEntry,
  { call, effects, input }: CheckedCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { name } = entry.tool
  const deadline = deadlineOf(entry.timeoutMs ?? runtime.declaration.callTimeoutMs, call, name)
  const ctx = contextOf(runtime, scope, call, { signal: deadline.signal, effects })
  effects.hasRun = true
  const outcome = await handled(runtime, entry, deadline, () =>
    inHandler({ runtime, tool: name }, () => entry.handler(input as never, ctx)),
  ).finally(deadline.lift)
  if ('failure' in outcome) return outcome.failure
  if (entry.source === surfaceSource) return activatorReply(runtime, scope, entry, outcome.value as Transition)
  const result = resultOf(name, outcome.value)
  if (isInputRequired(result)) return result
  const checkedResult = await checkedOutput(entry, result)
  if (checkedResult.isError !== true) {
    effects.transitions.push(noteSuccess(runtime, scope, entry))
    runtime.shapes.observe(readerKey(scope), entry.tool, checkedResult)
  }
  return checkedResult
}

/** The generated `deactivate` accepts only groups that its caller may know of. */
function refuseUnknownGroup(runtime: Runtime, scope: Scope, entry: ToolEntry, input: unknown): void {
  if (entry.source !== surfaceSource || entry.activates !== undefined) return
  const { group } = input as { group: string }
  const { groups } = readerFor(runtime, scope)
  if (!groups.has(group)) throw unknownGroup(group, groups)
}

/** Runs a handler. If it throws or times out, the author gets a report and the model a failure. */
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
    const message = errorMessage(error)
    if (error instanceof ToolError) return { failure: failureResult(error.reason, message) }
    runtime.declaration.report({ reason: 'tool_failed', message: `Tool "${name}" threw: ${message}`, error })
    return { failure: failureResult('tool_failed', message === '' ? `Tool "${name}" failed without a message.` : message) }
  }
}

// An error with data that JSON cannot represent would never be sent, and its caller would wait forever.
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
  const problems = boundedProblems(checked.problems).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const more = checked.problems.length - problems.length
  throw invalidResult(name, [...problems, ...(more > 0 ? [`and ${more} more`] : [])].join('; '))
}

function activatorReply(runtime: Runtime, scope: Scope, entry: ToolEntry, transition: Transition): CallToolResult {
  const unchanged =
    entry.activates === undefined
      ? 'That group was not active; nothing changed.'
      : entry.activates === gateName
        ? 'Already active: its tools are listed.'
        : `Group "${entry.activates}" is already active.`
  const again = scope.missesChanges && entry.activates !== undefined ? ` ${callThem}` : ''
  return transitionReply(transition, openableGroups(runtime, scope, transition), `${unchanged}${again}`)
}
