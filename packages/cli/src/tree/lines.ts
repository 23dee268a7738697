import { firstSentence } from '@unfold-mcp/core'
import { formatNumber, plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import { widthOf } from '../text/width.ts'
import { fitted } from '../text/wrap.ts'
import type { GroupNode, Sum, ToolNode, Tree } from './tree.ts'

/** If some tools are unlisted, the listed ones are marked. */
export function treeLines(server: string, { listed, all, tools, groups }: Tree, width: number): readonly string[] {
  const isPartial = [...toolNodes({ tools, groups })].some((leaf) => !leaf.listed)
  const head = isPartial ? `${sumText(all)}; listed now: ${sumText(listed)}` : sumText(listed)
  return [`${safeText(server)}  ${head}`, ...branchLines({ tools, groups }, { before: '', isPartial, width })]
}

type Branch = Pick<GroupNode, 'tools' | 'groups'>

interface Drawing {
  readonly before: string
  readonly isPartial: boolean
  readonly width: number
}

function branchLines({ tools, groups }: Branch, { before, isPartial, width }: Drawing): readonly string[] {
  const rows = [...tools, ...groups]
  return rows.flatMap((row, index) => {
    const isLast = index === rows.length - 1
    const stem = `${before}${isLast ? '└─' : '├─'} `
    if ('listed' in row)
      return [`${stem}${safeText(row.name)}  ~${formatNumber(row.tokens)}${isPartial && row.listed ? '  listed' : ''}`]
    const head = `${stem}[${safeText(row.name)}]  ${sumText(row)}`
    const room = width - widthOf(head) - 2
    const description = room < minDescriptionWidth ? '' : fitted(safeText(firstSentence(row.description ?? '')), room)
    const inner = branchLines(row, { before: `${before}${isLast ? '   ' : '│  '}`, isPartial, width })
    return [description === '' ? head : `${head}  ${description}`, ...inner]
  })
}

const minDescriptionWidth = 12

const sumText = ({ count, tokens }: Sum): string => `${plural(count, 'tool')}, ~${formatNumber(tokens)} tokens`

function* toolNodes({ tools, groups }: Branch): Generator<ToolNode> {
  yield* tools
  for (const group of groups) yield* toolNodes(group)
}
