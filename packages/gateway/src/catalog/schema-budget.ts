import { isRecord, type JsonSchema, printable } from '@unfold-mcp/core'

// How much of a schema is taken from a server: it may be written to keep whoever reads it busy.
const maxNodes = 5_000
const maxDepth = 64
const maxPatterns = 200
const maxPatternLength = 2_000
// How many may apply to one value, through `$ref`, `allOf` and the like.
const maxBranches = 2_000

/** What is wrong with a schema, if it goes beyond the budget; it is never compiled, and its patterns are never run. */
export function schemaProblem(schema: JsonSchema): string | undefined {
  return sizeProblem(schema) ?? branchProblem(schema)
}

function sizeProblem(schema: JsonSchema): string | undefined {
  let seen = 0
  let found = 0
  // Level by level and not by recursion, because how deep it goes is the server's choice.
  let level: object[] = [schema]
  for (let at = 1; level.length > 0; at++) {
    if (at > maxDepth) return `it is nested more than ${maxDepth} levels deep`
    const next: object[] = []
    for (const node of level) {
      seen++
      if (seen > maxNodes) return `it has more than ${maxNodes} parts`
      for (const text of patternsOf(node)) {
        found++
        if (found > maxPatterns) return `it has more than ${maxPatterns} patterns`
        if (text.length > maxPatternLength) return `a pattern is longer than ${maxPatternLength} characters`
      }
      for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) next.push(child)
      if (next.length > maxNodes) return `it has more than ${maxNodes} parts`
    }
    level = next
  }
  return undefined
}

function patternsOf(node: object): readonly string[] {
  const { pattern, patternProperties } = node as { pattern?: unknown; patternProperties?: unknown }
  const keys = isRecord(patternProperties) ? Object.keys(patternProperties) : []
  return typeof pattern === 'string' ? [pattern, ...keys] : keys
}

const lists = ['allOf', 'anyOf', 'oneOf'] as const
const singles = ['not', 'if', 'then', 'else'] as const

/** Whether schemas that apply to one value lead to each other in a circle, or to more than anybody can check. */
function branchProblem(root: JsonSchema): string | undefined {
  if (!mentions(root)) return undefined
  const costs = new Map<object, number>()
  const open = new Set<object>()
  const found: { problem?: string } = {}
  const cost = (node: object): number => {
    const known = costs.get(node)
    if (known !== undefined) return known
    if (open.has(node)) {
      found.problem ??= 'it refers to itself in a circle'
      return 0
    }
    open.add(node)
    let sum = 1
    for (const each of applied(node, root)) {
      sum += cost(each)
      if (sum > maxBranches) found.problem ??= `more than ${maxBranches} schemas apply to one value`
      if (found.problem !== undefined) break
    }
    open.delete(node)
    costs.set(node, sum)
    return sum
  }
  const all: object[] = [root]
  for (let node = all.pop(); node !== undefined; node = all.pop()) {
    if (!Array.isArray(node)) cost(node)
    if (found.problem !== undefined) return found.problem
    for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) all.push(child)
  }
  return undefined
}

const mentions = (root: JsonSchema): boolean => /"(?:\$ref|\$dynamicRef|allOf|anyOf|oneOf|if)":/u.test(JSON.stringify(root))

/** The schemas that apply to the same value as this one. */
function applied(node: object, root: JsonSchema): readonly object[] {
  if (!isRecord(node)) return []
  const found: unknown[] = [
    ...lists.flatMap((key) => (Array.isArray(node[key]) ? node[key] : [])),
    ...singles.map((key) => node[key]),
  ]
  if (isRecord(node.dependentSchemas)) found.push(...Object.values(node.dependentSchemas))
  for (const ref of [node.$ref, node.$dynamicRef]) if (typeof ref === 'string') found.push(target(ref, root))
  return found.filter((each) => typeof each === 'object' && each !== null)
}

/** Where a reference leads within the schema; nothing is ever fetched. */
function target(ref: string, root: JsonSchema): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let node: unknown = root
  for (const part of ref.slice(2, 2_000).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as Readonly<Record<string, unknown>>)[key]
  }
  return node
}

// A repeated group that holds a repetition, or a choice, of its own: the usual way to a pattern that takes forever.
const nested = /\((?:[^()\\]|\\.)*(?:[+*}|])(?:[^()\\]|\\.)*\)[+*{]/u

/** A pattern that could take forever to run, if there is one. Here it is never run; whoever does should know. */
export function slowPattern(schema: JsonSchema): string | undefined {
  const all: unknown[] = [schema]
  for (let node = all.pop(); node !== undefined; node = all.pop()) {
    if (typeof node !== 'object' || node === null) continue
    const found = patternsOf(node).find((pattern) => nested.test(pattern))
    if (found !== undefined) return printable(found)
    for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) all.push(child)
  }
  return undefined
}
