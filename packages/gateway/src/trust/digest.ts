import { createHash } from 'node:crypto'
import { canonicalJson, isRecord } from '@unfold-mcp/core'

/** Digests of one definition. */
export interface Digests {
  /** SHA-256 of the full definition. */
  readonly definition: string
  /** Without the name, so that a blocked tool stays blocked under another name. */
  readonly body: string
}

/** Digest of a definition whose enum values are left out, and those values by JSON path. */
export interface Shape {
  readonly digest: string
  readonly enums: ReadonlyMap<string, readonly string[]>
}

// Live data in the `_meta` of tools that follow their state.
const liveMeta = new Set(['available_modes', 'data_counts', 'hint'])

const computed = new WeakMap<object, Digests>()

/** Throws for a definition that cannot be serialised. Computed once per object. */
export function digestsOf(definition: object): Digests {
  const found = computed.get(definition)
  if (found !== undefined) return found
  const { name, ...body } = withoutLiveData(definition)
  const digests = {
    definition: sha256(canonicalJson({ ...body, ...(name !== undefined && { name }) })),
    body: sha256(canonicalJson(body)),
  }
  computed.set(definition, digests)
  return digests
}

/** Removing or restoring enum values is not a change, so they are compared apart from the rest. */
export function shapeOf(definition: object): Shape {
  const enums = new Map<string, readonly string[]>()
  const rest = withoutEnums(withoutLiveData(definition), '', enums)
  return { digest: sha256(canonicalJson(rest)), enums }
}

/** True if `shape` differs from an accepted one at most by missing enum values. */
export function isWithin(shape: Shape, accepted: Shape): boolean {
  if (shape.digest !== accepted.digest || shape.enums.size !== accepted.enums.size) return false
  return [...shape.enums].every(([path, values]) => {
    const known = new Set(accepted.enums.get(path))
    return values.every((value) => known.has(value))
  })
}

function withoutLiveData(definition: object): { readonly [key: string]: unknown } {
  const { _meta, ...rest } = definition as { readonly _meta?: unknown; readonly [key: string]: unknown }
  if (!isRecord(_meta)) return _meta === undefined ? rest : { ...rest, _meta }
  const kept = Object.fromEntries(Object.entries(_meta).filter(([key]) => !liveMeta.has(key)))
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept }
}

function withoutEnums(value: unknown, path: string, enums: Map<string, readonly string[]>): unknown {
  if (Array.isArray(value)) return value.map((item, index) => withoutEnums(item, `${path}/${index}`, enums))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const below = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (key !== 'enum' || !Array.isArray(item)) return [key, withoutEnums(item, below, enums)]
      enums.set(below, item.map(canonicalJson))
      return [key, []]
    }),
  )
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
