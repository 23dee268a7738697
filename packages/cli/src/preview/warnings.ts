import type { Tool } from '@unfold-mcp/client'
import { type HostProfile, surfaceNames } from '@unfold-mcp/core'
import { formatNumber, plural } from '../text/number.ts'
import { schemaKeywords } from './schema-keywords.ts'
import { callToolIn, searchToolIn } from './surface.ts'
import type { Transcript } from './transcript.ts'

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
  transcript: Transcript,
  { host, serverName }: { readonly host: HostProfile | undefined; readonly serverName: string },
): readonly Warning[] {
  const seen = listedTools(transcript)
  const undescribed = [...seen, ...transcript.unlisted].filter(
    ({ name, description = '' }) => description.trim() === '' && !own.has(name),
  )
  return [
    ...naming('missing_description', undescribed, ['has no description', 'have no description']),
    ...groupWarnings(transcript, seen),
    ...unreachableTools(transcript, seen, host),
    ...(host === undefined ? [] : hostWarnings(transcript, seen, host, serverName)),
  ]
}

/** Every tool that was listed at some time. */
const listedTools = ({ tools, steps }: Transcript): readonly Tool[] => [
  ...new Map([...tools, ...steps.flatMap(({ appeared }) => appeared)].map((tool) => [tool.name, tool])).values(),
]

function groupWarnings(transcript: Transcript, seen: readonly Tool[]): readonly Warning[] {
  const { outline, steps, skipped, era, tools } = transcript
  const listed = new Set(seen.map(({ name }) => name))
  const isSearched = searchToolIn(tools) !== undefined
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
function hasTools(group: string, outline: Transcript['outline'], above: readonly string[] = []): boolean {
  if (outline === undefined || above.includes(group)) return false
  if (outline.tools.some((tool) => tool.group === group)) return true
  return outline.groups.some(({ name, parent }) => parent === group && hasTools(name, outline, [...above, group]))
}

function unreachableTools(transcript: Transcript, seen: readonly Tool[], host: HostProfile | undefined): readonly Warning[] {
  const { tools, outline, steps } = transcript
  const listed = new Set(seen.map(({ name }) => name))
  const hidden = (outline?.tools ?? []).filter(({ name }) => !listed.has(name))
  const isStuck = hidden.length > 0 && searchToolIn(tools) === undefined
  const later = steps.flatMap(({ appeared }) => appeared)
  const isUnseen = host?.relists === 'never' && later.length > 0 && callToolIn(tools) === undefined
  return [
    ...(isStuck
      ? [unreachable(`${plural(hidden.length, 'tool')} cannot be reached by this client: ${few(hidden.map(({ name }) => name))}`)]
      : []),
    ...(isUnseen
      ? [unreachable(`${host.title} does not list again, so it never sees ${few(later.map(({ name }) => name))}`)]
      : []),
  ]
}

const unreachable = (message: string): Warning => ({ kind: 'unreachable_tool', message })

function hostWarnings(
  { tools, instructions = '' }: Transcript,
  seen: readonly Tool[],
  { title, limits, droppedKeywords }: HostProfile,
  serverName: string,
): readonly Warning[] {
  const { description: longest, toolName, instructions: room, tools: most } = limits
  const isCut = ({ description = '' }: Tool): boolean => longest !== undefined && description.length > longest
  // Hosts put such a prefix before each name, so that tools of two servers can share one.
  const prefix = `mcp__${serverName}__`
  const isLong = ({ name }: Tool): boolean => toolName !== undefined && prefix.length + name.length > toolName
  const atMost = `${title} truncates descriptions to ${formatNumber(longest ?? 0)} characters`
  const limit = `${title} accepts ${formatNumber(toolName ?? 0)} characters including its own prefix, such as "${prefix}"`
  return [
    ...naming('truncated_description', seen.filter(isCut), [
      `has a description that is too long: ${atMost}`,
      `have descriptions that are too long (${atMost})`,
    ]),
    ...(room !== undefined && instructions.length > room
      ? [
          {
            kind: 'truncated_instructions' as const,
            message: `the instructions have ${formatNumber(instructions.length)} characters: ${title} truncates them to ${formatNumber(room)}`,
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
