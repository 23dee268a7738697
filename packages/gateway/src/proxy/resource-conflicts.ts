import { printable } from '@unfold-mcp/core'
import { ownersOf, preferredServers, type ResourceServer } from './resource-routes.ts'
import { mayOverlap, parseTemplate, type UriTemplate } from './uris.ts'

/** Resources or templates that two servers have, where the configuration does not choose one. */
export interface ResourceConflict {
  readonly servers: readonly [string, string]
  readonly kind: 'resources' | 'templates'
  /** A URI or template of the first server. */
  readonly uri: string
  /** The same URI, or a template of the second server that overlaps. */
  readonly other: string
  readonly count: number
}

/** Tells the operator about a conflict and how to resolve it. */
export function conflictMessage({ servers, kind, uri, other, count }: ResourceConflict): string {
  const [first, second] = servers.map((server) => `"${printable(server)}"`)
  const more = count > 1 ? ` (and ${count - 1} more)` : ''
  const subject =
    kind === 'resources'
      ? `${first} and ${second} both list the resource ${printable(uri)}${more}`
      : `the resource template ${printable(uri)} of ${first} overlaps ${printable(other)} of ${second}${more}`
  return `${subject}. URIs that both have cannot be read without the prefix unfold://<server>/ until "preferResources" of one of them matches, such as "${patternFor(kind === 'resources' ? uri : other)}".`
}

const patternFor = (uri: string): string => printable(uri.replaceAll(/\{[^}]*\}/gu, '*'))

// Templates are compared pairwise. Real servers have a few; routing does not depend on this.
const maxComparisons = 100_000

/** Finds conflicts between servers, one per pair and kind. */
export function findConflicts(servers: readonly ResourceServer[]): readonly ResourceConflict[] {
  const found = new Map<string, { conflict: ResourceConflict; count: number }>()
  const add = (conflict: Omit<ResourceConflict, 'count'>): void => {
    const key = JSON.stringify([conflict.servers, conflict.kind])
    const known = found.get(key)
    if (known === undefined) found.set(key, { conflict: { ...conflict, count: 1 }, count: 1 })
    else known.count += 1
  }
  for (const [uri, owners] of ownersOf(servers, 'resources')) {
    const [first, second] = owners
    if (first === undefined || second === undefined || preferredServers(servers, owners, uri).length === 1) continue
    for (const server of owners.slice(1)) add({ servers: [first, server], kind: 'resources', uri, other: uri })
  }
  for (const [one, other] of overlaps(servers))
    add({ servers: [one.server, other.server], kind: 'templates', uri: one.text, other: other.text })
  return [...found.values()].map(({ conflict, count }) => ({ ...conflict, count }))
}

interface ServerTemplate {
  readonly server: string
  readonly text: string
  readonly template: UriTemplate
}

function* overlaps(servers: readonly ResourceServer[]): Generator<readonly [ServerTemplate, ServerTemplate]> {
  const all = servers.flatMap(({ server, templates }) =>
    templates.map(({ uriTemplate: text }): ServerTemplate => ({ server, text, template: parseTemplate(text) })),
  )
  let comparisons = 0
  for (const [at, one] of all.entries())
    for (let next = at + 1; next < all.length; next++) {
      const other = all[next]
      if (other === undefined || other.server === one.server) continue
      comparisons += 1
      if (comparisons > maxComparisons) return
      if (!mayOverlap(one.template, other.template)) continue
      const narrower = one.template.head.length >= other.template.head.length ? one : other
      if (preferredServers(servers, [one.server, other.server], narrower.text).length !== 1) yield [one, other]
    }
}
