import { isRecord, type JsonSchema, printable } from '@unfold-mcp/core'

// A hostile server may send schemas that are expensive to process.
const maxNodes = 5_000
const maxDepth = 64
const maxPatterns = 200
const maxPatternLength = 2_000
// Schemas that apply to one value through `$ref`, `allOf` and similar.
const maxBranches = 2_000

/** Returns why a schema exceeds the limits. It is never compiled, and its patterns are never run. */
export function schemaProblem(schema: JsonSchema): string | undefined {
  return sizeProblem(schema) ?? branchProblem(schema)
}

function sizeProblem(schema: JsonSchema): string | undefined {
  let nodes = 0
  let patterns = 0
  // Level by level, not recursive: the server chooses the depth.
  let level: object[] = [schema]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return `it is nested more than ${maxDepth} levels deep`
    const next: object[] = []
    for (const node of level) {
      nodes++
      if (nodes > maxNodes) return `it has more than ${maxNodes} nodes`
      for (const text of patternsOf(node)) {
        patterns++
        if (patterns > maxPatterns) return `it has more than ${maxPatterns} patterns`
        if (text.length > maxPatternLength) return `a pattern is longer than ${maxPatternLength} characters`
      }
      for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) next.push(child)
      if (next.length > maxNodes) return `it has more than ${maxNodes} nodes`
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

/** Finds circular references, and subschemas whose combinations grow without bound. */
function branchProblem(root: JsonSchema): string | undefined {
  if (!hasBranches(root)) return undefined
  const costs = new Map<object, number>()
  const visiting = new Set<object>()
  let problem: string | undefined
  const cost = (node: object): number => {
    const cached = costs.get(node)
    if (cached !== undefined) return cached
    if (visiting.has(node)) {
      problem ??= 'it contains a circular reference'
      return 0
    }
    visiting.add(node)
    let sum = 1
    for (const subschema of subschemasOf(node, root)) {
      sum += cost(subschema)
      if (sum > maxBranches) problem ??= `more than ${maxBranches} schemas apply to one value`
      if (problem !== undefined) break
    }
    visiting.delete(node)
    costs.set(node, sum)
    return sum
  }
  const pending: object[] = [root]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!Array.isArray(node)) cost(node)
    if (problem !== undefined) return problem
    pending.push(...childObjects(node))
  }
  return undefined
}

const childObjects = (node: object): readonly object[] =>
  Object.values(node).filter((child) => typeof child === 'object' && child !== null)

const hasBranches = (root: JsonSchema): boolean => /"(?:\$ref|\$dynamicRef|allOf|anyOf|oneOf|if)":/u.test(JSON.stringify(root))

/** Subschemas that apply to the same value. */
function subschemasOf(node: object, root: JsonSchema): readonly object[] {
  if (!isRecord(node)) return []
  const subschemas: unknown[] = [
    ...lists.flatMap((key) => (Array.isArray(node[key]) ? node[key] : [])),
    ...singles.map((key) => node[key]),
  ]
  if (isRecord(node.dependentSchemas)) subschemas.push(...Object.values(node.dependentSchemas))
  for (const ref of [node.$ref, node.$dynamicRef]) if (typeof ref === 'string') subschemas.push(resolveRef(ref, root))
  return subschemas.filter((each) => typeof each === 'object' && each !== null)
}

/** Resolves a local reference; nothing is ever fetched. */
function resolveRef(ref: string, root: JsonSchema): unknown {
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

// A quantified group that contains a quantifier or an alternation: the usual cause of catastrophic backtracking.
const nestedQuantifier = /\((?:[^()\\]|\\.)*(?:[+*}|])(?:[^()\\]|\\.)*\)[+*{]/u

/** Returns a pattern that may backtrack catastrophically. It is never run here, but clients may run it. */
export function slowPattern(schema: JsonSchema): string | undefined {
  const pending: object[] = [schema]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const slow = patternsOf(node).find((pattern) => nestedQuantifier.test(pattern))
    if (slow !== undefined) return printable(slow)
    pending.push(...childObjects(node))
  }
  return undefined
}
