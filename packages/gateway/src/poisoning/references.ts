import { decodeUri, isRecord } from '@unfold-mcp/core'
import { type Finding, findingOf } from './finding.ts'
import { type Node, pathOf } from './text-parts.ts'

type Schema = Readonly<Record<string, unknown>>

const references = ['$ref', '$dynamicRef', '$recursiveRef'] as const
// The keys below these are names, not keywords.
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
// Data, not schemas.
const literals = new Set(['const', 'enum', 'default', 'examples', 'example'])
// Every validator has these.
const metaSchema = /^https?:\/\/json-schema\.org\/(?:draft-0\d|draft\/20\d\d-\d\d)\//u
const maxFindings = 10
const maxDocuments = 50

/** Finds references in the schemas of a tool that lead outside the schema, or to nothing. Nothing is ever fetched. */
export function referenceFindings(definition: object): readonly Finding[] {
  const findings: Finding[] = []
  for (const key of ['inputSchema', 'outputSchema']) {
    const schema = (definition as Schema)[key]
    if (!isRecord(schema)) continue
    findings.push(...findingsIn(schema, { value: schema, key, parent: { value: definition, key: '', parent: undefined } }))
  }
  return findings.slice(0, maxFindings)
}

function findingsIn(root: Schema, start: Node): readonly Finding[] {
  const findings: Finding[] = []
  const names = namesIn(root)
  for (const node of schemasIn(start)) {
    if (!isRecord(node.value)) continue
    for (const key of references) {
      const ref = node.value[key]
      if (typeof ref !== 'string' || metaSchema.test(ref) || isResolvable(ref, root, names)) continue
      const description = isRemote(ref, root)
        ? 'refers to a schema on another host, which a client may fetch'
        : 'refers to a schema that does not exist'
      findings.push(findingOf('reference', { path: pathOf({ value: ref, key, parent: node }), excerpt: ref, description }))
      if (findings.length === maxFindings) return findings
    }
  }
  return findings
}

/** Yields all objects that may be schemas. */
function* schemasIn(start: Node): Generator<Node> {
  // Not recursive: the server chooses the depth.
  const pending: (Node & { readonly isMap?: boolean })[] = [start]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const { value, isMap = false } = node
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      for (const [key, item] of value.entries()) pending.push({ value: item, key, parent: node })
      continue
    }
    if (!isMap) yield node
    for (const [key, item] of Object.entries(value))
      if (isMap || !literals.has(key)) pending.push({ value: item, key, parent: node, isMap: !isMap && maps.has(key) })
  }
}

interface Names {
  /** Absolute `$id`s, and anchors with a leading `#`. */
  readonly names: ReadonlySet<string>
  /** Schemas with an `$id`, which references below them may be relative to. */
  readonly documents: readonly Schema[]
}

function namesIn(root: Schema): Names {
  const names = new Set<string>()
  const documents: Schema[] = []
  for (const { value } of schemasIn({ value: root, key: '', parent: undefined })) {
    if (!isRecord(value)) continue
    const { $id, $anchor, $dynamicAnchor } = value
    if (typeof $id === 'string') {
      names.add(absolute($id, root).replace(/#$/u, ''))
      if (documents.length < maxDocuments) documents.push(value)
    }
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') names.add(`#${anchor}`)
  }
  return { names, documents }
}

function isResolvable(ref: string, root: Schema, { names, documents }: Names): boolean {
  const at = ref.indexOf('#')
  const [base, fragment] = at === -1 ? [ref, ''] : [ref.slice(0, at), ref.slice(at + 1)]
  // What is below the `$id` of an included schema is not checked further.
  if (base !== '') return names.has(absolute(base, root)) || names.has(base)
  if (fragment === '') return true
  if (!fragment.startsWith('/')) return names.has(`#${decodeUri(fragment)}`) || names.has(ref)
  return hasPath(root, fragment) || documents.some((document) => hasPath(document, fragment))
}

function hasPath(root: Schema, pointer: string): boolean {
  let node: unknown = root
  for (const part of pointer.slice(1).split('/')) {
    const key = decodeUri(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return false
    node = (node as Schema)[key]
  }
  return true
}

const isRemote = (ref: string, root: Schema): boolean => /^(?:https?|ftp|file|wss?):/iu.test(absolute(ref, root))

function absolute(ref: string, { $id }: Schema): string {
  try {
    return new URL(ref, typeof $id === 'string' ? $id : undefined).href
  } catch {
    return ref
  }
}
