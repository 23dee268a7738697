import type { Tool } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'

const keyword = 'x-mcp-header'
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u
const types = new Set(['string', 'integer', 'boolean'])
const literal = new Set(['const', 'enum', 'default', 'examples'])
const mostNodes = 50_000

/**
 * What is wrong with the headers that a tool's schema asks a 2026-07-28 client to send, if anything is. Over HTTP, such a
 * tool is to be treated as if it were not there.
 */
export function headerProblem({ inputSchema }: Tool): string | undefined {
  return mentionsHeaders(inputSchema, 0) ? firstProblem(inputSchema) : undefined
}

const shallow = 50

/** Whether there is anything to look at: there hardly ever is, and lists are long. */
function mentionsHeaders(node: object, depth: number): boolean {
  if (depth > shallow || keyword in node) return true
  return Object.values(node).some(
    (child: unknown) => typeof child === 'object' && child !== null && mentionsHeaders(child, depth + 1),
  )
}

function firstProblem(inputSchema: unknown): string | undefined {
  const names = new Set<string>()
  // By hand and not by recursion, because how deep it goes is the server's choice.
  const open: { readonly node: unknown; readonly path: string; readonly isReachable: boolean }[] = [
    { node: inputSchema, path: '', isReachable: true },
  ]
  for (let visited = 0; visited < mostNodes; visited++) {
    const next = open.pop()
    if (next === undefined) return undefined
    const { node, path, isReachable } = next
    if (typeof node !== 'object' || node === null) continue
    const problem = isRecord(node) && keyword in node ? problemOf(node, names, isReachable && path !== '') : undefined
    if (problem !== undefined) return `${path === '' ? 'the root' : path}: ${problem}`
    for (const [key, child] of Object.entries(node)) {
      if (key === 'properties' && isRecord(node) && isRecord(child))
        for (const [name, property] of Object.entries(child))
          open.push({ node: property, path: path === '' ? name : `${path}.${name}`, isReachable })
      else if (!literal.has(key)) open.push({ node: child, path, isReachable: false })
    }
  }
  return undefined
}

function problemOf(node: Readonly<Record<string, unknown>>, names: Set<string>, isReachable: boolean): string | undefined {
  const header = node[keyword]
  if (!isReachable) return `${keyword} may only stand on properties of objects`
  if (typeof header !== 'string' || !token.test(header)) return `${keyword} is no name of a header`
  if (typeof node.type !== 'string' || !types.has(node.type)) return `${keyword} needs a string, an integer or a boolean`
  if (names.has(header.toLowerCase())) return `the header ${header} is used twice`
  names.add(header.toLowerCase())
  return undefined
}
