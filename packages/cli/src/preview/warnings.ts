import type { OutlinedTool } from '@unfold-mcp/client'
import type { HostProfile } from '@unfold-mcp/core'
import { amount, counted } from '../text/amount.ts'
import type { Sent } from './preview.ts'

const openers = /^(?:search_tools|manage_tools|call_tool|activate(?:_.+)?)$/u

/** What an author or user should fix: about any client, and about this host. */
export function warningsOf(sent: Sent, host: HostProfile | undefined, unlisted: readonly OutlinedTool[]): readonly string[] {
  const { tools, outline, instructions = '' } = sent
  const undescribed = tools.filter(({ description }) => (description ?? '').trim() === '').map(({ name }) => name)
  const empty = (outline?.groups ?? []).filter(({ name }) => !isReached(name, outline)).map(({ name }) => name)
  const isStuck = unlisted.length > 0 && !tools.some(({ name }) => openers.test(name))
  return [
    ...naming(undescribed, 'has no description', 'have no description'),
    ...empty.map((name) => `group "${name}" has no tools`),
    ...(isStuck
      ? [`${counted(unlisted.length, 'tool')} cannot be reached by this client: ${few(unlisted.map(({ name }) => name))}`]
      : []),
    ...(host === undefined ? [] : hostWarnings(sent, host, instructions)),
  ]
}

function hostWarnings({ tools }: Sent, { title, limits, droppedKeywords }: HostProfile, instructions: string): readonly string[] {
  const { description: longest, toolName, instructions: room, tools: most } = limits
  const cut = longest === undefined ? [] : tools.filter(({ description = '' }) => description.length > longest)
  const long = toolName === undefined ? [] : tools.filter(({ name }) => name.length > toolName)
  const dropped = droppedKeywords.filter((keyword) => tools.some((tool) => uses(tool.inputSchema, keyword)))
  return [
    ...naming(
      cut.map(({ name }) => name),
      `has a description that ${title} cuts at ${amount(longest ?? 0)} characters`,
      `have descriptions that ${title} cuts at ${amount(longest ?? 0)} characters`,
    ),
    ...naming(
      long.map(({ name }) => name),
      `has a name longer than the ${toolName} characters that ${title} accepts`,
      `have names longer than the ${toolName} characters that ${title} accepts`,
    ),
    ...(room !== undefined && instructions.length > room
      ? [`the instructions have ${amount(instructions.length)} characters; ${title} cuts them at ${amount(room)}`]
      : []),
    ...(most !== undefined && tools.length > most ? [`${title} accepts ${most} tools; this server lists ${tools.length}`] : []),
    ...dropped.map((keyword) => `${title} drops the schema keyword "${keyword}"`),
  ]
}

/** Whether a group, or one inside it, has a tool. */
function isReached(group: string, outline: Sent['outline'], depth = 0): boolean {
  if (outline === undefined || depth > 20) return true
  if (outline.tools.some((tool) => tool.group === group)) return true
  return outline.groups.some(({ name, parent }) => parent === group && isReached(name, outline, depth + 1))
}

function uses(schema: unknown, keyword: string): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.hasOwn(schema, keyword) || Object.values(schema).some((value) => uses(value, keyword))
}

function naming(names: readonly string[], one: string, many: string): readonly string[] {
  if (names.length === 0) return []
  return names.length === 1 ? [`${names[0]} ${one}`] : [`${names.length} tools ${many}: ${few(names)}`]
}

const few = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
