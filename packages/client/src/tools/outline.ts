import { type GroupOutline, isRecord, type OutlinedTool } from '@unfold-mcp/core'
import type { Identity } from './identity.ts'

export interface OutlinedGroup extends GroupOutline {
  readonly name: string
}

/** All tools that a server has for this client, listed or not, and the groups they lie in; in the server's own words. */
export interface Outline {
  readonly tools: readonly OutlinedTool[]
  readonly groups: readonly OutlinedGroup[]
  /** The tool that opens the gate, where the server has one. */
  readonly gate?: string
}

/** What an answer to `server/identity` tells of all tools; `undefined` when it tells nothing of them. */
export function outlineIn({ catalog, groups }: Identity): Outline | undefined {
  const { tools, gate } = isRecord(catalog) ? catalog : {}
  if (!Array.isArray(tools)) return undefined
  return {
    tools: tools
      .filter(isRecord)
      .flatMap(({ name, identity, tokens, group }) =>
        typeof name === 'string' && typeof tokens === 'number'
          ? [{ name, tokens, ...text('identity', identity), ...text('group', group) }]
          : [],
      ),
    groups: Object.entries(isRecord(groups) ? groups : {}).map(([name, told]) =>
      isRecord(told)
        ? { name, ...text('about', told.about), ...text('parent', told.parent), ...text('activator', told.activator) }
        : { name },
    ),
    ...text('gate', gate),
  }
}

type TextKey = 'about' | 'activator' | 'gate' | 'group' | 'identity' | 'parent'

const text = <K extends TextKey>(key: K, value: unknown): { readonly [each in K]?: string } =>
  typeof value === 'string' ? ({ [key]: value } as { [each in K]: string }) : {}
