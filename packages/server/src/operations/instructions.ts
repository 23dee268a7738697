import { type Exposure, firstSentence, gateName } from '@unfold-mcp/core'
import { activatorName, groupDescription, sentence } from '../catalog/activators.ts'
import { groupStatuses, readerFor } from '../runtime/groups.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

// More names than these help nobody who can search.
const named = 24
// Hosts cut instructions at about 2,000 characters, and how to reach tools that are not listed must not be lost.
const longIntro = 1_000

// Claude Code cuts instructions off here. The essentials come first, and groups that do not fit are counted.
const mostBytes = 2_048

/** What a model reads when it connects: what the server is for, and what it can open. */
export function instructionsFor(runtime: Runtime, scope: Scope): string | undefined {
  const { about, instructions } = runtime.declaration
  const { callVariants } = scope.settings.exposureSettings
  if (instructions !== undefined) return instructions
  const intro = about === undefined ? [] : [sentence(about)]
  const { exposure } = runtime.views.decision(scope)
  const how = ways[exposure]?.(callVariants ? 'call_tool_read, call_tool_write or call_tool_destructive' : 'call_tool')
  if (how !== undefined) {
    const head = (about?.length ?? 0) > longIntro ? [how, ...intro] : [...intro, how]
    const lines = groupLines(runtime, scope, (name) => name)
    return fitted(head, lines)
  }
  const { groups, surface } = runtime.catalogs.of(scope)
  const gate = groups.byName.get(gateName)
  if (scope.settings.canActivate && gate !== undefined) {
    const activator = activatorName(surface, gateName)
    const behind = gate.about === about ? '.' : `: ${sentence(groupDescription(groups, gate, readerFor(runtime, scope)))}`
    const lines = groupLines(runtime, scope, (name, each) => `${name} (${each})`, runtime.declaration.menu === 'stepwise')
    const lead =
      lines.length === 0 ? [] : ['Its tools come in groups that you open after that, by calling the tool named in brackets:']
    return fitted([...intro, `Call ${activator} to list its tools${behind}`, ...lead], lines)
  }
  const opens = scope.settings.canActivate && exposure === 'groups'
  const isStepwise = opens && runtime.declaration.menu === 'stepwise'
  const lines = groupLines(runtime, scope, (name, activator) => (opens ? `${name} (${activator})` : name), isStepwise)
  const canWait = scope.settings.era === 'session' && exposure === 'groups' && !scope.missesChanges
  const waits = canWait ? [...runtime.catalogs.of(scope).catalog.awaited] : []
  if (waits.length > 0) intro.push(`Begin with ${waits.join(' or ')}: more tools are listed after the first call that succeeds.`)
  if (lines.length === 0) return intro.length === 0 ? undefined : intro.join('\n')
  const lead = opens
    ? 'Tools come in groups that you open when you need them, by calling the tool named in brackets:'
    : 'Its tools come in these groups:'
  return fitted([...intro, lead], lines)
}

/** The head with as many of these lines as fit, and how many were left out. */
function fitted(head: readonly string[], lines: readonly string[]): string {
  const more = (count: number): string => `- … and ${count} more`
  const isTooLong = (count: number): boolean =>
    Buffer.byteLength([...head, ...lines.slice(0, count), more(lines.length)].join('\n')) > mostBytes
  let count = Math.min(named, lines.length)
  while (count > 0 && isTooLong(count)) count--
  return [...head, ...lines.slice(0, count), ...(count < lines.length ? [more(lines.length - count)] : [])].join('\n')
}

const ways: { readonly [E in Exposure]?: (caller: string) => string } = {
  lazy: () => 'Its tools are listed when you enable them: find them with manage_tools, enable what you need, then call it.',
  search: (caller) => `Its tools are not listed: find one with search_tools, then run it with ${caller}.`,
}

function groupLines(
  runtime: Runtime,
  scope: Scope,
  label: (name: string, activator: string) => string,
  isStepwise = false,
): readonly string[] {
  const known = groupStatuses(runtime, scope).filter(({ parent }) => !isStepwise || parent === undefined)
  return known.map(({ name, about, activator }) => `- ${label(name, activator)}: ${sentence(firstSentence(about))}`)
}
