import { canonicalJson } from '../base/canonical.ts'
import type { Tool } from './tool.ts'

/** SHA-256 of UTF-8 text or bytes. Injected because it differs by platform. */
export type Sha256 = (data: string | Uint8Array) => Uint8Array

/** Basis of an identity: full definitions without `_meta`, or (`names`) only names and descriptions. */
export type IdentityBasis = 'definitions' | 'names'

const buckets = 64
const digestLength = 32

/**
 * Identity of a set of tools, updated tool by tool. It does not depend on the order of the tools or on their formatting.
 *
 * The digest of a tool is the SHA-256 of its canonical JSON (RFC 8785). Digests are divided into 64 buckets by their first six bits;
 * the digest of a bucket is the SHA-256 of its sorted digests, or zeros if it is empty; the identity is the SHA-256 of all bucket
 * digests as a version 8 UUID. So changing one tool among thousands is cheap.
 */
export class ToolSetIdentity {
  readonly #sha256: Sha256
  readonly #basis: IdentityBasis
  readonly #byName = new Map<string, Uint8Array>()
  readonly #buckets: Uint8Array[][] = Array.from({ length: buckets }, () => [])
  readonly #root = new Uint8Array(buckets * digestLength)
  readonly #stale = new Set<number>()
  #value: string | undefined

  constructor(sha256: Sha256, basis: IdentityBasis = 'definitions') {
    this.#sha256 = sha256
    this.#basis = basis
  }

  get size(): number {
    return this.#byName.size
  }

  /** Adds or replaces a tool. */
  set(tool: Tool): void {
    const digest = toolDigest(tool, this.#sha256, this.#basis)
    const before = this.#byName.get(tool.name)
    if (before !== undefined) {
      if (compare(before, digest) === 0) return
      this.#drop(before)
    }
    this.#byName.set(tool.name, digest)
    const at = bucketOf(digest)
    this.#buckets[at]?.push(digest)
    this.#touch(at)
  }

  delete(name: string): void {
    const digest = this.#byName.get(name)
    if (digest === undefined) return
    this.#byName.delete(name)
    this.#drop(digest)
  }

  get value(): string {
    this.#value ??= this.#computed()
    return this.#value
  }

  #drop(digest: Uint8Array): void {
    const at = bucketOf(digest)
    const bucket = this.#buckets[at] ?? []
    const index = bucket.findIndex((other) => compare(other, digest) === 0)
    if (index !== -1) bucket.splice(index, 1)
    this.#touch(at)
  }

  #touch(at: number): void {
    this.#stale.add(at)
    this.#value = undefined
  }

  #computed(): string {
    for (const at of this.#stale) {
      const bucket = (this.#buckets[at] ?? []).sort(compare)
      this.#root.set(bucket.length === 0 ? new Uint8Array(digestLength) : this.#sha256(joined(bucket)), at * digestLength)
    }
    this.#stale.clear()
    return uuidOf(this.#sha256(this.#root))
  }
}

/** Computes the identity of a set of tools. */
export function identityOf(tools: Iterable<Tool>, sha256: Sha256, basis?: IdentityBasis): string {
  const set = new ToolSetIdentity(sha256, basis)
  for (const tool of tools) set.set(tool)
  return set.value
}

/** Computes the identity of one tool. */
export function toolIdentity(tool: Tool, sha256: Sha256, basis: IdentityBasis = 'definitions'): string {
  return uuidOf(toolDigest(tool, sha256, basis))
}

/** Computes the identity of any JSON value, such as an activation. */
export function valueIdentity(value: unknown, sha256: Sha256): string {
  return uuidOf(sha256(canonicalJson(value)))
}

const known: { readonly [B in IdentityBasis]: WeakMap<Tool, Uint8Array> } = { definitions: new WeakMap(), names: new WeakMap() }

function toolDigest(tool: Tool, sha256: Sha256, basis: IdentityBasis): Uint8Array {
  const found = known[basis].get(tool)
  if (found !== undefined) return found
  const made = sha256(canonicalJson(counted(tool, basis)))
  known[basis].set(tool, made)
  return made
}

function counted(tool: Tool, basis: IdentityBasis): object {
  const { name, description = '' } = tool
  if (basis === 'names') return { name, description }
  if (tool._meta === undefined) return tool
  const { _meta, ...definition } = tool
  return definition
}

const bucketOf = (digest: Uint8Array): number => (digest[0] ?? 0) >> 2

function compare(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < digestLength; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function joined(digests: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(digests.length * digestLength)
  for (const [index, digest] of digests.entries()) all.set(digest, index * digestLength)
  return all
}

/** Formats the first 16 bytes as a version 8 UUID (RFC 9562). */
function uuidOf(digest: Uint8Array): string {
  // A copy, because the digest is cached and may share memory.
  const bytes = Uint8Array.from(digest.subarray(0, 16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5')
}
