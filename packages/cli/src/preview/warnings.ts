import type { Tool } from '@unfold-mcp/client'
import { type HostProfile, surfaceNames } from '@unfold-mcp/core'
import { amount, counted } from '../text/amount.ts'
import { schemaKeywords } from './schema-keywords.ts'
import type { Sent } from './sent.ts'
import { callerIn, finderIn } from './surface.ts'

// Nobody can change the definitions of these.
const own: ReadonlySet<string> = new Set([...surfaceNames, 'read_result', 'deactivate'])

/** Something that keeps a model from a tool, or from knowing what it does. */
export interface Warning {
  readonly kind:
    | 'missing_description'
    | 'unreachable_group'
    | 'dropped_activator'
    | 'unreachable_tool'
    | 'truncated_description'
    | 'truncated_instructions'
    | 'long_name'
    | 'too_many_tools'
    | 'dropped_keywords'
  readonly message: string
}

/** What to fix for any client, and for this host. */
export function warningsOf(
  sent: Sent,
  { host, serverName }: { readonly host: HostProfile | undefined; readonly serverName: string },
): readonly Warning[] {
  const seen = seenTools(sent)
  const undescribed = [...seen, ...sent.unlisted].filter(
    ({ name, description = '' }) => description.trim() === '' && !own.has(name),
  )
  return [
    ...naming('missing_description', undescribed, ['has no description', 'have no description']),
    ...groupWarnings(sent, seen),
    ...unreachableTools(sent, seen, host),
    ...(host === undefined ? [] : hostWarnings(sent, seen, host, serverName)),
  ]
}

/** Every tool that was listed at some time. */
const seenTools = ({ tools, steps }: Sent): readonly Tool[] => [
  ...new Map([...tools, ...steps.flatMap(({ appeared }) => appeared)].map((tool) => [tool.name, tool])).values(),
]

function groupWarnings(sent: Sent, seen: readonly Tool[]): readonly Warning[] {
  const { outline, steps, skipped, era, tools } = sent
  const listed = new Set(seen.map(({ name }) => name))
  const isSearched = finderIn(tools) !== undefined
  return (outline?.groups ?? []).flatMap(({ name, activator = '' }): readonly Warning[] => {
    const step = steps.find((each) => each.group === name)
    if (step?.isError === true) return [{ kind: 'unreachable_group', message: `${step.name} fails: ${firstLine(step.reply)}` }]
    if (hasTools(name, outline) || skipped.includes(activator)) return []
    if (era === 'session' && !isSearched && step === undefined && activator !== '' && !listed.has(activator))
      return [
        { kind: 'dropped_activator', message: `group "${name}" cannot be activated: its activator "${activator}" is not listed` },
      ]
    return [{ kind: 'unreachable_group', message: `group "${name}" has no tools that this client can reach` }]
  })
}

/** Whether a group, or one inside it, has a tool. */
function hasTools(group: string, outline: Sent['outline'], above: readonly string[] = []): boolean {
  if (outline === undefined || above.includes(group)) return false
  if (outline.tools.some((tool) => tool.group === group)) return true
  return outline.groups.some(({ name, parent }) => parent === group && hasTools(name, outline, [...above, group]))
}

function unreachableTools(sent: Sent, seen: readonly Tool[], host: HostProfile | undefined): readonly Warning[] {
  const { tools, outline, steps } = sent
  const listed = new Set(seen.map(({ name }) => name))
  const hidden = (outline?.tools ?? []).filter(({ name }) => !listed.has(name))
  const isStuck = hidden.length > 0 && finderIn(tools) === undefined
  const later = steps.flatMap(({ appeared }) => appeared)
  const isUnseen = host?.relists === 'never' && later.length > 0 && callerIn(tools) === undefined
  return [
    ...(isStuck
      ? [
          unreachable(
            `${counted(hidden.length, 'tool')} cannot be reached by this client: ${few(hidden.map(({ name }) => name))}`,
          ),
        ]
      : []),
    ...(isUnseen
      ? [unreachable(`${host.title} does not list again, so it never sees ${few(later.map(({ name }) => name))}`)]
      : []),
  ]
}

const unreachable = (message: string): Warning => ({ kind: 'unreachable_tool', message })

function hostWarnings(
  { tools, instructions = '' }: Sent,
  seen: readonly Tool[],
  { title, limits, droppedKeywords }: HostProfile,
  serverName: string,
): readonly Warning[] {
  const { description: longest, toolName, instructions: room, tools: most } = limits
  const isCut = ({ description = '' }: Tool): boolean => longest !== undefined && description.length > longest
  // Hosts put such a prefix before each name, so that tools of two servers can share one.
  const prefix = `mcp__${serverName}__`
  const isLong = ({ name }: Tool): boolean => toolName !== undefined && prefix.length + name.length > toolName
  const atMost = `${title} truncates descriptions to ${amount(longest ?? 0)} characters`
  const limit = `${title} accepts ${amount(toolName ?? 0)} characters including its own prefix, such as "${prefix}"`
  return [
    ...naming('truncated_description', seen.filter(isCut), [
      `has a description that is too long: ${atMost}`,
      `have descriptions that are too long (${atMost})`,
    ]),
    ...(room !== undefined && instructions.length > room
      ? [
          {
            kind: 'truncated_instructions' as const,
            message: `the instructions have ${amount(instructions.length)} characters: ${title} truncates them to ${amount(room)}`,
          },
        ]
      : []),
    ...naming('long_name', seen.filter(isLong), [
      `has a name that is too long: ${limit}`,
      `have names that are too long (${limit})`,
    ]),
    ...(most !== undefined && tools.length > most
      ? [{ kind: 'too_many_tools' as const, message: `${tools.length} tools are listed: ${title} accepts ${most}` }]
      : []),
    ...keywordWarnings(seen, title, droppedKeywords),
  ]
}

function keywordWarnings(tools: readonly Tool[], title: string, dropped: readonly string[]): readonly Warning[] {
  const used = tools
    .filter(({ name }) => !own.has(name))
    .map(({ name, inputSchema }) => ({ name, keywords: schemaKeywords(inputSchema) }))
  const parts = dropped.flatMap((keyword) => {
    const names = used.filter(({ keywords }) => keywords.has(keyword)).map(({ name }) => name)
    return names.length === 0 ? [] : [`${keyword} (${few(names, 2)})`]
  })
  if (parts.length === 0) return []
  return [{ kind: 'dropped_keywords', message: `${title} does not pass these schema keywords to the model: ${parts.join(', ')}` }]
}

function naming(kind: Warning['kind'], tools: readonly Tool[], [one, many]: readonly [string, string]): readonly Warning[] {
  const names = tools.map(({ name }) => name)
  if (names.length === 0) return []
  return [{ kind, message: names.length === 1 ? `${names[0]} ${one}` : `${names.length} tools ${many}: ${few(names)}` }]
}

const few = (names: readonly string[], most = 5): string =>
  names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ')

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''
