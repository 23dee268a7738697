import { type GroupOutline, isRecord, type OutlinedTool } from '@unfold-mcp/core'
import type { Identity } from './identity.ts'

export interface OutlinedGroup extends GroupOutline {
  readonly name: string
}

/** All tools available to this client, listed or not, and their groups. */
export interface Outline {
  readonly tools: readonly OutlinedTool[]
  readonly groups: readonly OutlinedGroup[]
  /** Tool that unlocks the others, if there is one. */
  readonly gate?: string
}

/** Parses the outline in a `server/identity` result; `undefined` if there is none. */
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
    groups: Object.entries(isRecord(groups) ? groups : {}).map(([name, group]) => {
      const { description, about, parent, activator } = isRecord(group) ? group : {}
      // Servers of earlier versions send `about`.
      return { name, ...text('description', description ?? about), ...text('parent', parent), ...text('activator', activator) }
    }),
    ...text('gate', gate),
  }
}

type TextKey = 'activator' | 'description' | 'gate' | 'group' | 'identity' | 'parent'

const text = <K extends TextKey>(key: K, value: unknown): { readonly [each in K]?: string } =>
  typeof value === 'string' ? ({ [key]: value } as { [each in K]: string }) : {}
