import type { Outline, Tool } from '@unfold-mcp/client'
import { toolTokens } from '@unfold-mcp/core'

/** A tool, with about how many tokens its definition costs a model. */
export interface ToolNode {
  readonly name: string
  readonly tokens: number
  /** Whether a client is shown it now. */
  readonly listed: boolean
}

/** What some tools are, plural. */
export interface Sum {
  readonly count: number
  readonly tokens: number
}

/** A group with what lies in it; its sum is of all that, however deep. */
export interface GroupNode extends Sum {
  readonly name: string
  readonly about?: string
  readonly tools: readonly ToolNode[]
  readonly groups: readonly GroupNode[]
}

/** All that a server has: what is in no group, and the groups. */
export interface Tree {
  /** What a client is shown now. */
  readonly listed: Sum
  /** What there is, listed or not, without the tools that are only there to find the others. */
  readonly all: Sum
  readonly tools: readonly ToolNode[]
  readonly groups: readonly GroupNode[]
}

// Nobody's groups are nested as deep as that; those of a server that says so are shown beside one another.
const maxDepth = 20

/** The tools of a server by their groups, as far as it tells of them; else those that it lists. */
export function treeOf(listed: readonly Tool[], outline: Outline | undefined): Tree {
  const shown = listed.map((tool): ToolNode => ({ name: tool.name, tokens: toolTokens(tool), listed: true }))
  if (outline === undefined) return { listed: sumOf(shown), all: sumOf(shown), tools: shown, groups: [] }
  const names = new Set(shown.map(({ name }) => name))
  const known = new Set(outline.tools.map(({ name }) => name))
  const leaves = new Map<string | undefined, ToolNode[]>(outline.groups.map(({ name }) => [name, []]))
  leaves.set(undefined, [])
  for (const { name, tokens, group } of outline.tools)
    (leaves.get(group) ?? leaves.get(undefined))?.push({ name, tokens, listed: names.has(name) })
  return {
    listed: sumOf(shown),
    all: sumOf(outline.tools),
    tools: [...shown.filter(({ name }) => !known.has(name)), ...(leaves.get(undefined) ?? [])],
    groups: groupNodes(outline.groups, leaves),
  }
}

function groupNodes(
  groups: Outline['groups'],
  leaves: ReadonlyMap<string | undefined, readonly ToolNode[]>,
): readonly GroupNode[] {
  const parents = new Map(groups.map(({ name, parent }) => [name, parent]))
  const isPlaced = (name: string): boolean => {
    let above = parents.get(name)
    for (let depth = 0; depth < maxDepth && above !== undefined; depth++) above = parents.get(above)
    return above === undefined
  }
  const children = new Map<string | undefined, Outline['groups'][number][]>([[undefined, []]])
  for (const group of groups) {
    const parent = isPlaced(group.name) && parents.has(group.parent ?? '') ? group.parent : undefined
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [group])
    else siblings.push(group)
  }
  const groupNode = ({ name, about }: Outline['groups'][number]): GroupNode => {
    const tools = leaves.get(name) ?? []
    const inner = (children.get(name) ?? []).map(groupNode)
    const own = sumOf(tools)
    const count = inner.reduce((sum, each) => sum + each.count, own.count)
    const tokens = inner.reduce((sum, each) => sum + each.tokens, own.tokens)
    return { name, ...(about !== undefined && { about }), count, tokens, tools, groups: inner }
  }
  return (children.get(undefined) ?? []).map(groupNode)
}

function sumOf(tools: readonly { readonly tokens: number }[]): Sum {
  return { count: tools.length, tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0) }
}
