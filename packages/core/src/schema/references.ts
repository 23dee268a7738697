import { decodeUri } from '../base/decode-uri.ts'
import { isRecord } from '../base/record.ts'
import type { Meter } from './meter.ts'
import { absoluteUri } from './uri-reference.ts'

/** Schema, and the document that resolves its references. */
export interface Located {
  readonly schema: unknown
  readonly root: unknown
}

/** Resolves `$ref` within one document; fetches nothing. */
export class References {
  readonly #root: unknown
  readonly #meter: Meter
  #named: Map<string, Located> | undefined

  constructor(root: unknown, meter: Meter) {
    this.#root = root
    this.#meter = meter
  }

  resolve(ref: string, root: unknown): Located | undefined {
    const at = ref.indexOf('#')
    const [base, fragment] = at === -1 ? [ref, ''] : [ref.slice(0, at), ref.slice(at + 1)]
    const document = base === '' ? root : this.#document(base, root)
    if (document === undefined) return undefined
    if (fragment === '') return { schema: document, root: document }
    if (fragment.startsWith('/')) return this.#resolvePointer(fragment, document)
    return this.#names().get(`${idOf(document)}#${decodeUri(fragment)}`)
  }

  #document(base: string, root: unknown): unknown {
    const names = this.#names()
    return (names.get(absoluteUri(base, idOf(root))) ?? names.get(base))?.schema
  }

  #resolvePointer(pointer: string, document: unknown): Located | undefined {
    let schema = document
    let root = document
    for (const part of pointer.slice(1).split('/')) {
      this.#meter.spend()
      const key = decodeUri(part).replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, key)) return undefined
      schema = (schema as Readonly<Record<string, unknown>>)[key]
      if (startsDocument(schema)) root = schema
    }
    return { schema, root }
  }

  /** Indexes schemas by `$id` and by `$id#anchor`. */
  #names(): Map<string, Located> {
    if (this.#named !== undefined) return this.#named
    const names = new Map<string, Located>()
    this.#named = names
    const visit = (node: unknown, root: unknown, base: string, depth: number): void => {
      if (typeof node !== 'object' || node === null) return
      this.#meter.enter(depth)
      const own = startsDocument(node) ? node : root
      const id = own === node && isRecord(node) && typeof node.$id === 'string' ? absoluteUri(node.$id, base) : base
      if (own === node) names.set(id, { schema: node, root: node })
      if (isRecord(node)) {
        for (const anchor of [node.$anchor, node.$dynamicAnchor])
          if (typeof anchor === 'string') names.set(`${idOf(own)}#${anchor}`, { schema: node, root: own })
      }
      for (const [key, child] of Object.entries(node)) if (!literal.has(key)) visit(child, own, id, depth + 1)
    }
    visit(this.#root, this.#root, idOf(this.#root), 0)
    return names
  }
}

// Data, not schemas.
const literal = new Set(['const', 'enum', 'default', 'examples'])

/** True for a schema that is the base of the references below it. */
export const startsDocument = (schema: unknown): boolean =>
  isRecord(schema) && typeof schema.$id === 'string' && !schema.$id.startsWith('#')

const idOf = (schema: unknown): string => (isRecord(schema) && typeof schema.$id === 'string' ? schema.$id : '')
