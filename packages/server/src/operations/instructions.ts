import { type Exposure, firstSentence, gateName } from '@unfold-mcp/core'
import { activatorName, groupDescription, sentence } from '../catalog/activators.ts'
import { groupStatuses, readerFor } from '../runtime/groups.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

// More names do not help a model that can search.
const named = 24
// Hosts truncate instructions at about 2,000 characters, and how to reach unlisted tools must survive that.
const longIntro = 1_000

// Claude Code truncates instructions here. The essentials come first, and groups that do not fit are counted.
const mostBytes = 2_048

/** The instructions for a model: what the server is for, and what it can activate. */
export function instructionsFor(runtime: Runtime, scope: Scope): string | undefined {
  const { description, instructions } = runtime.declaration
  const { callVariants } = scope.settings.exposureSettings
  if (instructions !== undefined) return instructions
  const intro = description === undefined ? [] : [sentence(description)]
  const { exposure } = runtime.views.decision(scope)
  const how = ways[exposure]?.(callVariants ? 'call_tool_read, call_tool_write or call_tool_destructive' : 'call_tool')
  if (how !== undefined) {
    const head = (description?.length ?? 0) > longIntro ? [how, ...intro] : [...intro, how]
    const lines = groupLines(runtime, scope, (name) => name)
    return fitted(head, lines)
  }
  const { groups, surface } = runtime.catalogs.of(scope)
  const gate = groups.byName.get(gateName)
  if (scope.settings.canActivate && gate !== undefined) {
    const activator = activatorName(surface, gateName)
    const behind =
      gate.description === description ? '.' : `: ${sentence(groupDescription(groups, gate, readerFor(runtime, scope)))}`
    const lines = groupLines(runtime, scope, (name, each) => `${name} (${each})`, runtime.declaration.menu === 'stepwise')
    const lead = lines.length === 0 ? [] : ['Then activate groups of tools as you need them, by calling the tool in parentheses:']
    return fitted([...intro, `Call ${activator} to list its tools${behind}`, ...lead], lines)
  }
  const opens = scope.settings.canActivate && exposure === 'groups'
  const isStepwise = opens && runtime.declaration.menu === 'stepwise'
  const lines = groupLines(runtime, scope, (name, activator) => (opens ? `${name} (${activator})` : name), isStepwise)
  const canWait = scope.settings.era === 'session' && exposure === 'groups' && !scope.missesChanges
  const waits = canWait ? [...runtime.catalogs.of(scope).catalog.awaited] : []
  if (waits.length > 0) intro.push(`Start with ${waits.join(' or ')}: more tools are listed after it succeeds.`)
  if (lines.length === 0) return intro.length === 0 ? undefined : intro.join('\n')
  const lead = opens
    ? 'Tools are grouped. Activate a group when you need it, by calling the tool in parentheses:'
    : 'Its tool groups:'
  return fitted([...intro, lead], lines)
}

/** Adds as many lines as fit, and the number of those left out. */
function fitted(head: readonly string[], lines: readonly string[]): string {
  const more = (count: number): string => `- … and ${count} more`
  const isTooLong = (count: number): boolean =>
    Buffer.byteLength([...head, ...lines.slice(0, count), more(lines.length)].join('\n')) > mostBytes
  let count = Math.min(named, lines.length)
  while (count > 0 && isTooLong(count)) count--
  return [...head, ...lines.slice(0, count), ...(count < lines.length ? [more(lines.length - count)] : [])].join('\n')
}

const ways: { readonly [E in Exposure]?: (caller: string) => string } = {
  lazy: () => 'Its tools are listed after you enable them: find and enable them with manage_tools, then call them.',
  code: () =>
    'Its tools are not listed: find them with search_tools, see their definitions with describe_tools, then call them from a script with run_code.',
  search: (caller) => `Its tools are not listed: find one with search_tools, then call it with ${caller}.`,
}

function groupLines(
  runtime: Runtime,
  scope: Scope,
  label: (name: string, activator: string) => string,
  isStepwise = false,
): readonly string[] {
  const known = groupStatuses(runtime, scope).filter(({ parent }) => !isStepwise || parent === undefined)
  return known.map(({ name, description, activator }) => `- ${label(name, activator)}: ${sentence(firstSentence(description))}`)
}
