import type { Outline, Tool } from '@unfold-mcp/client'
import { toolTokens } from '@unfold-mcp/core'

export interface ToolNode {
  readonly name: string
  readonly tokens: number
  readonly listed: boolean
}

export interface Sum {
  readonly count: number
  readonly tokens: number
}

/** Totals include nested groups. */
export interface GroupNode extends Sum {
  readonly name: string
  readonly description?: string
  readonly tools: readonly ToolNode[]
  readonly groups: readonly GroupNode[]
}

export interface Tree {
  readonly listed: Sum
  /** Without the generated search and activation tools. */
  readonly all: Sum
  readonly tools: readonly ToolNode[]
  readonly groups: readonly GroupNode[]
}

// Deeper or cyclic groups are moved to the top level.
const maxDepth = 20

/** Tools by group, if the server reports them; otherwise the listed tools. */
export function treeOf(listed: readonly Tool[], outline: Outline | undefined): Tree {
  const nodes = listed.map((tool): ToolNode => ({ name: tool.name, tokens: toolTokens(tool), listed: true }))
  if (outline === undefined) return { listed: sumOf(nodes), all: sumOf(nodes), tools: nodes, groups: [] }
  const names = new Set(nodes.map(({ name }) => name))
  const known = new Set(outline.tools.map(({ name }) => name))
  const toolsByGroup = new Map<string | undefined, ToolNode[]>(outline.groups.map(({ name }) => [name, []]))
  toolsByGroup.set(undefined, [])
  for (const { name, tokens, group } of outline.tools)
    (toolsByGroup.get(group) ?? toolsByGroup.get(undefined))?.push({ name, tokens, listed: names.has(name) })
  return {
    listed: sumOf(nodes),
    all: sumOf(outline.tools),
    tools: [...nodes.filter(({ name }) => !known.has(name)), ...(toolsByGroup.get(undefined) ?? [])],
    groups: groupNodes(outline.groups, toolsByGroup),
  }
}

function groupNodes(
  groups: Outline['groups'],
  toolsByGroup: ReadonlyMap<string | undefined, readonly ToolNode[]>,
): readonly GroupNode[] {
  const parents = new Map(groups.map(({ name, parent }) => [name, parent]))
  const isReachable = (name: string): boolean => {
    let above = parents.get(name)
    for (let depth = 0; depth < maxDepth && above !== undefined; depth++) above = parents.get(above)
    return above === undefined
  }
  const children = new Map<string | undefined, Outline['groups'][number][]>([[undefined, []]])
  for (const group of groups) {
    const parent = isReachable(group.name) && parents.has(group.parent ?? '') ? group.parent : undefined
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [group])
    else siblings.push(group)
  }
  const groupNode = ({ name, description }: Outline['groups'][number]): GroupNode => {
    const tools = toolsByGroup.get(name) ?? []
    const inner = (children.get(name) ?? []).map(groupNode)
    const own = sumOf(tools)
    const count = inner.reduce((sum, each) => sum + each.count, own.count)
    const tokens = inner.reduce((sum, each) => sum + each.tokens, own.tokens)
    return { name, ...(description !== undefined && { description }), count, tokens, tools, groups: inner }
  }
  return (children.get(undefined) ?? []).map(groupNode)
}

function sumOf(tools: readonly { readonly tokens: number }[]): Sum {
  return { count: tools.length, tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0) }
}
