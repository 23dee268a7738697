import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import {
  availableModes,
  awaitsPrerequisite,
  correctArguments,
  isStrict,
  isSurface,
  metaKeys,
  modeNames,
  nearest,
  type Problem,
  resolve,
  type Snapshot,
  type Tool,
} from '@unfold-mcp/core'
import { callerOf, type Kind, kindOf } from '../../catalog/call-variants.ts'
import { discoverable, hidesUnlisted } from '../../runtime/discoverable.ts'
import { isActive } from '../../runtime/groups.ts'
import type { ToolEntry } from '../../tool/entry.ts'
import { boundedProblems, problemLines } from '../../tool/invalid-arguments.ts'
import { failureResult } from '../../tool/result.ts'
import { inputsWith } from '../../view/granted.ts'
import { activationHint, admit, reveal } from '../calling/admission.ts'
import { run } from '../calling/run.ts'
import type { DiscoveryCall } from './discovery-call.ts'
import { unknownLine } from './search-tools.ts'

export interface CallRequest {
  readonly name: string
  readonly arguments?: Record<string, unknown>
}

/** `call_tool` and its variants: runs a permitted, available tool, listed or not. Invalid arguments get the schema and an example. */
export async function callByName(
  { name, arguments: args = {} }: CallRequest,
  { runtime, scope, call, effects }: DiscoveryCall,
  kind?: Kind,
): Promise<CallToolResult | InputRequiredResult> {
  const { catalog, groups } = runtime.catalogs.of(scope)
  const inputs = inputsWith(call.grants, runtime.views.inputs(scope))
  const meaning = resolve(catalog, inputs, name)
  // Stored scripts reach what is hidden from lists.
  const isHidden = meaning.kind === 'hidden' && call.grants === undefined && hidesUnlisted(runtime, scope)
  if (meaning.kind === 'unknown' || isHidden) {
    const known = discoverable(runtime, scope).tools.map((tool) => tool.name)
    const next = hidesUnlisted(runtime, scope) ? '' : ' Find tools with search_tools.'
    return failureResult('unknown_tool', `${unknownLine(name, known)}${next}`)
  }
  // Where a client opens groups itself, it reaches what it has opened; the rest follows the policy for hidden calls.
  const { entry } = meaning
  const isInactive = entry.visibility.group !== undefined && !awaitsPrerequisite(entry, inputs)
  if (meaning.kind === 'hidden' && isInactive && inputs.exposure === 'groups' && scope.settings.canActivate) {
    const admission = await admit(runtime, scope, name, effects)
    if (admission.kind === 'refused') return admission.result
  }
  if (isSurface(entry, inputs)) return failureResult('invalid_arguments', `Call ${name} itself, not through another tool.`)
  if (kind !== undefined && kindOf(entry.tool) !== kind) return wrongKind(entry)
  const snapshot = entry.modes === undefined ? undefined : runtime.views.snapshot(scope)
  const checked = await entry.input.check(args, snapshot)
  if ('problems' in checked) return invalidCall(await helpFor(entry, args, checked.problems, snapshot))
  const { group } = entry.visibility
  if (group !== undefined && isStrict(groups, group) && !isActive(runtime, scope, group)) {
    if (!scope.settings.canActivate) return activationHint(runtime, scope, name, group)
    await reveal(runtime, scope, group, effects)
  }
  return run(runtime, scope, entry, { ...call, name, arguments: args }, effects)
}

function wrongKind({ tool }: ToolEntry): CallToolResult {
  return failureResult('invalid_arguments', `${tool.name} is called with ${callerOf(tool, true)}.`)
}

// A longer one costs more to read than to look up in parts, and the problems and the example say what matters of it.
const longestSchema = 20_000

const wrongIn = (problems: readonly Problem[]): ReadonlySet<string> =>
  new Set(problems.flatMap(({ path }) => (path === '' ? [] : [path.split('.', 1)[0] ?? ''])))

/** The tool as it can be called now, with arguments like these that would fit. */
async function helpFor(
  { tool, modes, input }: ToolEntry,
  args: Record<string, unknown>,
  problems: readonly Problem[],
  snapshot: Snapshot | undefined,
): Promise<Help> {
  if (modes === undefined || snapshot === undefined)
    return { tool, problems, example: correctArguments(tool.inputSchema, args, wrongIn(problems)) }
  const available = availableModes(modes, snapshot, () => undefined)
  const names = modeNames(modes, available)
  const asked = String(args[modes.by])
  const meant = modes.all.find(({ name }) => name === (nearest(asked, names)[0] ?? names[0]))
  const fitting = meant === undefined ? tool.inputSchema : modes.inputOf(meant)
  const first = correctArguments(fitting, args, wrongIn(problems))
  // What else is wrong shows once there is a mode.
  const again = await input.check(first, snapshot)
  const example = 'problems' in again ? correctArguments(fitting, first, wrongIn(again.problems)) : first
  return { tool: modes.toolWith(tool, available), problems, example }
}

interface Help {
  readonly tool: Tool
  readonly problems: readonly Problem[]
  readonly example: { readonly [name: string]: unknown }
}

/** What is wrong, the schema, and a call that would fit. */
function invalidCall({ tool, problems, example }: Help): CallToolResult {
  const schema = JSON.stringify(tool.inputSchema)
  const call = JSON.stringify({ name: tool.name, arguments: example })
  // It repeats the arguments that are correct, which may be megabytes.
  const isShort = call.length <= longestSchema
  const text = [
    `Invalid arguments for ${tool.name}:`,
    ...problemLines(problems),
    schema.length > longestSchema ? 'Its schema is too long to show here; describe_tools gives it.' : `Its schema: ${schema}`,
    ...(isShort ? [`For example: ${call}`] : []),
  ].join('\n')
  const data = { problems: boundedProblems(problems), ...(isShort && { example }) }
  return failureResult('invalid_arguments', text, { _meta: { [metaKeys.data]: data } })
}
