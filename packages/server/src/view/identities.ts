import { hash } from 'node:crypto'
import { type IdentityBasis, identityOf, type Sha256, type Tool, toolFingerprint, valueIdentity } from '@unfold-mcp/core'
import type { RenderedView } from './rendered-view.ts'

// Hex and back is faster than a buffer from the engine: short buffers created here share their memory.
export const sha256: Sha256 = (data) => Buffer.from(hash('sha256', data, 'hex'), 'hex')

/** The difference between two lists. */
export interface Delta {
  readonly added: readonly Tool[]
  readonly changed: readonly Tool[]
  readonly removed: readonly string[]
}

// Enough for an afternoon of changes; entries refer to definitions that lists share.
const rememberedLists = 64
const rememberedReaders = 1_000
// Long lists are remembered for fewer readers.
const rememberedTools = 4_000_000

/** Computes identities of lists, and remembers the last lists of each reader by identity. */
export class Identities {
  readonly #basis: IdentityBasis
  readonly #known = new WeakMap<object, Map<IdentityBasis, string>>()
  readonly #listed = new Map<string, Map<string, readonly Tool[]>>()
  #tools = 0

  constructor(basis: IdentityBasis) {
    this.#basis = basis
  }

  of({ entries, tools }: RenderedView, basis = this.#basis): string {
    return this.ofTools(entries, tools, basis)
  }

  /** The identity of these tools; computed once per `key`. */
  ofTools(key: object, tools: readonly Tool[], basis = this.#basis): string {
    const found = this.#known.get(key) ?? new Map<IdentityBasis, string>()
    const known = found.get(basis)
    if (known !== undefined) return known
    const made = identityOf(tools, sha256, basis)
    found.set(basis, made)
    this.#known.set(key, found)
    return made
  }

  /** Remembers a list, to compute later what changed since. */
  remember(reader: string, identity: string, tools: readonly Tool[]): void {
    const lists = this.#listed.get(reader) ?? new Map<string, readonly Tool[]>()
    this.#drop(lists, identity)
    lists.set(identity, tools)
    this.#tools += tools.length
    if (lists.size > rememberedLists) this.#drop(lists, lists.keys().next().value ?? '')
    this.#listed.delete(reader)
    this.#listed.set(reader, lists)
    for (const oldest of this.#listed.keys()) {
      if (oldest === reader || (this.#listed.size <= rememberedReaders && this.#tools <= rememberedTools)) return
      this.forget(oldest)
    }
  }

  forget(reader: string): void {
    const lists = this.#listed.get(reader)
    for (const identity of lists?.keys() ?? []) this.#drop(lists, identity)
    this.#listed.delete(reader)
  }

  #drop(lists: Map<string, readonly Tool[]> | undefined, identity: string): void {
    this.#tools -= lists?.get(identity)?.length ?? 0
    lists?.delete(identity)
  }

  /** The changes since this reader's list had that identity; `undefined` if it is not remembered. */
  since(reader: string, identity: string, tools: readonly Tool[]): Delta | undefined {
    const before = this.#listed.get(reader)?.get(identity)
    return before === undefined ? undefined : deltaOf(before, tools)
  }
}

/** The identity of a scope's list together with its state; `undefined` if JSON cannot represent the facts. */
export function stateIdentity(identity: string, state: unknown): string | undefined {
  try {
    return valueIdentity({ identity, state }, sha256)
  } catch {
    return undefined
  }
}

function deltaOf(before: readonly Tool[], after: readonly Tool[]): Delta {
  const had = new Map(before.map((tool) => [tool.name, tool]))
  const has = new Set(after.map((tool) => tool.name))
  return {
    added: after.filter((tool) => !had.has(tool.name)),
    changed: after.filter((tool) => {
      const other = had.get(tool.name)
      return other !== undefined && other !== tool && toolFingerprint(other) !== toolFingerprint(tool)
    }),
    removed: before.filter((tool) => !has.has(tool.name)).map((tool) => tool.name),
  }
}
