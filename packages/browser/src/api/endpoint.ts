import type { NetworkRequest } from '../records/records.ts'
import { Operation } from './operation.ts'
import type { Shape } from './shape.ts'

const maxMethods = 10
const minCommonFields = 4
const levelsCompared = 3

/** Operations of one URL pattern, by method. */
export class Endpoint {
  readonly #operations = new Map<string, Operation>()
  #likeness: { readonly version: number; readonly names: string | undefined } | undefined

  get operations(): readonly Operation[] {
    return [...this.#operations.values()]
  }

  get calls(): number {
    return this.operations.reduce((sum, { calls }) => sum + calls, 0)
  }

  /** Sequence number of the first request. */
  get firstSeq(): number {
    return this.operations.reduce((first, { firstSeq }) => Math.min(first, firstSeq), Number.POSITIVE_INFINITY)
  }

  /** Approximate size, in shape nodes. */
  get places(): number {
    return this.operations.reduce((sum, { places }) => sum + places, 0)
  }

  /** Field names of the response for comparison; `undefined` if there are too few, or the endpoint also writes. */
  get generalizeUrl(): string | undefined {
    const [operation, ...others] = this.operations
    if (operation?.method !== 'GET' || others.length > 0) return undefined
    if (this.#likeness?.version !== operation.version) this.#likeness = { version: operation.version, names: namesOf(operation) }
    return this.#likeness?.names
  }

  observe(request: NetworkRequest, url: URL): void {
    this.#operation(request.method.toUpperCase().slice(0, 20), request.seq)?.observe(request, url)
  }

  absorb(other: Endpoint): void {
    for (const operation of other.operations) this.#operation(operation.method, operation.firstSeq)?.absorb(operation)
  }

  #operation(method: string, seq: number): Operation | undefined {
    const known = this.#operations.get(method)
    if (known !== undefined || this.#operations.size >= maxMethods) return known
    const operation = new Operation(method, seq)
    this.#operations.set(method, operation)
    return operation
  }
}

function namesOf({ answers }: Operation): string | undefined {
  const names = answers.filter(({ status }) => status < 300).flatMap(({ body }) => namesIn(body, levelsCompared))
  return names.length < minCommonFields ? undefined : [...new Set(names)].sort().join('\n')
}

function namesIn({ object, items }: Shape, levels: number): readonly string[] {
  if (levels === 0) return []
  const fields = [...(object?.fields ?? [])].flatMap(([name, { shape }]) => [
    JSON.stringify(name),
    ...namesIn(shape, levels - 1).map((inner) => `${JSON.stringify(name)}.${inner}`),
  ])
  return items === undefined ? fields : [...fields, ...namesIn(items, levels - 1).map((inner) => `[].${inner}`)]
}
