import { printable } from '@unfold-mcp/core'
import type { Gateway } from '../gateway/gateway.ts'
import type { Finding } from '../poisoning/finding.ts'
import { type Difference, diffDefinitions } from '../trust/diff.ts'
import type { ItemKind } from '../trust/records/record.ts'
import { parseBody } from './body.ts'

/** A definition that a person may approve or block. */
export interface ReviewItem {
  /** `changed`: served, but new or changed since a person last reviewed it. */
  readonly state: 'held' | 'changed' | 'blocked'
  readonly server: string
  readonly kind: ItemKind
  /** Name on the server, escaped; empty for instructions. */
  readonly name: string
  /** SHA-256 of the definition; identifies it in a decision. */
  readonly digest: string
  readonly isNew: boolean
  /** Compared with the definition that was accepted last. */
  readonly differences: readonly Difference[]
  /** Why a rule classifies it as hazardous. */
  readonly hazards: readonly Finding[]
}

/** Definitions of all servers, or of one, that a person may approve or block. */
export function reviewItems({ upstreams, trust }: Gateway, server: string | null): readonly ReviewItem[] {
  const servers = server === null ? upstreams.names : [server]
  return servers.flatMap((name) =>
    trust.reviewables(name).map(({ state, item, previous, hazards, digest }) => ({
      state,
      server: name,
      kind: item.kind,
      name: printable(item.name),
      digest,
      isNew: previous === undefined,
      differences: diffDefinitions(previous?.definition, item.definition),
      hazards,
    })),
  )
}

/** A decision of a person. */
export interface ReviewDecision {
  readonly server: string
  readonly decision: 'approve' | 'block'
  readonly digests: readonly string[]
}

const maxDigests = 10_000

/** Reads a decision from the body of a request; `undefined` if it is invalid. */
export function parseDecision(body: Uint8Array | undefined): ReviewDecision | undefined {
  const { server, decision, digests } = parseBody(body)
  if (typeof server !== 'string' || (decision !== 'approve' && decision !== 'block')) return undefined
  if (!Array.isArray(digests) || digests.length > maxDigests) return undefined
  return digests.every((digest) => typeof digest === 'string') ? { server, decision, digests } : undefined
}
