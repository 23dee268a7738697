import type { Prompt, Resource, ResourceTemplateType, ServerCapabilities } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import { type Pace, Refresher } from '../upstreams/connected/refresher.ts'
import type { UpstreamConnection } from '../upstreams/connection.ts'
import { sanitizePrompt, sanitizeResource, sanitizeTemplate } from './document-definitions.ts'
import { type Ask, listed } from './paginated-list.ts'

/** What an upstream offers beside tools. */
export interface DocumentCapabilities {
  readonly prompts: boolean
  readonly resources: boolean
  readonly subscribe: boolean
  readonly completions: boolean
}

interface Resources {
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplateType[]
}

export interface DocumentListOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly pace?: Partial<Pace> | undefined
  readonly limit: () => number
  /** It has others than before. */
  readonly changed: (kind: 'prompts' | 'resources') => void
  readonly failed: (kind: 'prompts' | 'resources', error: unknown) => void
}

// Nobody waits longer for a server that is slow to list what it has: it is listed as it was known last.
const readMs = 1_000
const nothing: DocumentCapabilities = { prompts: false, resources: false, subscribe: false, completions: false }
const noResources: Resources = { resources: [], templates: [] }

/** The prompts and resources of one upstream, followed while it is there; what was known last while it is not. */
export class DocumentList {
  readonly #options: DocumentListOptions
  #offers = nothing
  #prompts: readonly Prompt[] = []
  #resources = noResources
  #life: { readonly prompts: Refresher<readonly Prompt[]>; readonly resources: Refresher<Resources> } | undefined
  #read: Promise<void> = Promise.resolve()

  constructor(options: DocumentListOptions) {
    this.#options = options
  }

  get offers(): DocumentCapabilities {
    return this.#offers
  }

  get prompts(): readonly Prompt[] {
    return this.#prompts
  }

  get resources(): readonly Resource[] {
    return this.#resources.resources
  }

  get templates(): readonly ResourceTemplateType[] {
    return this.#resources.templates
  }

  /** Resolves when it has been read once since it was connected, could not be, or is slow. */
  get read(): Promise<void> {
    return this.#read
  }

  /** All there is to know of it, to be kept for another time. */
  get kept(): object {
    return { offers: this.#offers, prompts: this.#prompts, ...this.#resources }
  }

  /** This was kept of it, if it makes sense. */
  restore(kept: unknown): void {
    const { offers, prompts, resources, templates } = (kept ?? {}) as { readonly [key: string]: unknown }
    const has = (offers ?? {}) as { readonly [key: string]: unknown }
    this.#offers = {
      prompts: has.prompts === true,
      resources: has.resources === true,
      subscribe: has.subscribe === true,
      completions: has.completions === true,
    }
    this.#prompts = all(prompts, sanitizePrompt)
    this.#resources = { resources: all(resources, sanitizeResource), templates: all(templates, sanitizeTemplate) }
  }

  /** It is there. */
  connected(connection: Pick<UpstreamConnection, 'capabilities' | 'request'>): void {
    this.disconnected()
    this.#offers = documentCapabilities(connection.capabilities)
    const { limit } = this.#options
    const asking =
      (signal: AbortSignal): Ask =>
      async (method, params) =>
        connection.request?.(method, params, { signal })
    const prompts = this.#refresher<readonly Prompt[]>('prompts', {
      read: (signal) =>
        this.#offers.prompts
          ? listed(asking(signal), { method: 'prompts/list', member: 'prompts', take: sanitizePrompt, limit: limit() })
          : Promise.resolve([]),
      now: () => this.#prompts,
      take: (found) => {
        this.#prompts = found
      },
    })
    const resources = this.#refresher<Resources>('resources', {
      read: async (signal) => {
        if (!this.#offers.resources) return noResources
        const ask = asking(signal)
        const [found, templates] = await Promise.all([
          listed(ask, { method: 'resources/list', member: 'resources', take: sanitizeResource, limit: limit() }),
          listed(ask, {
            method: 'resources/templates/list',
            member: 'resourceTemplates',
            take: sanitizeTemplate,
            limit: limit(),
          }),
        ])
        return { resources: found, templates }
      },
      now: () => this.#resources,
      take: (found) => {
        this.#resources = found
      },
    })
    this.#life = { prompts, resources }
    this.#read = this.#within([prompts.now(), resources.now()])
  }

  /** It says that something changed, or may have without being heard. */
  notice(kind: 'prompts' | 'resources' | 'resync'): void {
    if (kind !== 'resources') this.#life?.prompts.notice()
    if (kind !== 'prompts') this.#life?.resources.notice()
  }

  /** It is not there any more. What it has stays known. */
  disconnected(): void {
    this.#life?.prompts.close()
    this.#life?.resources.close()
    this.#life = undefined
  }

  async #within(looks: readonly Promise<unknown>[]): Promise<void> {
    let stop: () => void = () => undefined
    const enough = new Promise<void>((resolve) => {
      stop = this.#options.clock.after(readMs, resolve, true)
    })
    await Promise.race([Promise.allSettled(looks), enough])
    stop()
  }

  #refresher<T>(kind: 'prompts' | 'resources', { read, now, take }: Followed<T>): Refresher<T> {
    const { clock, random, pace, changed, failed } = this.#options
    return new Refresher<T>({
      read,
      differs: (found) => JSON.stringify(found) !== JSON.stringify(now()),
      publish: (found) => {
        take(found)
        changed(kind)
      },
      failed: (error) => failed(kind, error),
      throttled: () => undefined,
      clock,
      random,
      ...(pace !== undefined && { pace }),
    })
  }
}

const all = <T>(given: unknown, take: (each: unknown) => T | undefined): readonly T[] =>
  Array.isArray(given) ? given.flatMap((each) => take(each) ?? []) : []

interface Followed<T> {
  readonly read: (signal: AbortSignal) => Promise<T>
  readonly now: () => T
  readonly take: (found: T) => void
}

const documentCapabilities = ({ prompts, resources, completions }: ServerCapabilities): DocumentCapabilities => ({
  prompts: prompts !== undefined,
  resources: resources !== undefined,
  subscribe: resources?.subscribe === true,
  completions: completions !== undefined,
})
