import type { Prompt, Resource, ResourceTemplateType, ServerCapabilities } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import { type Pace, Refresher } from '../upstreams/connected/refresher.ts'
import type { UpstreamConnection } from '../upstreams/connection.ts'
import { sanitizePrompt, sanitizeResource, sanitizeTemplate } from './document-definitions.ts'
import { listAll, type SendRequest } from './paginated-list.ts'

/** Capabilities of an upstream besides tools. */
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
  readonly changed: (kind: 'prompts' | 'resources') => void
  readonly failed: (kind: 'prompts' | 'resources', error: unknown) => void
}

// A slow server is listed as it was last known.
const readTimeoutMs = 1_000
const noCapabilities: DocumentCapabilities = { prompts: false, resources: false, subscribe: false, completions: false }
const noResources: Resources = { resources: [], templates: [] }

/** Prompts and resources of one upstream: refreshed while it is connected, the last known ones otherwise. */
export class DocumentList {
  readonly #options: DocumentListOptions
  #capabilities = noCapabilities
  #prompts: readonly Prompt[] = []
  #resources = noResources
  #refreshers: { readonly prompts: Refresher<readonly Prompt[]>; readonly resources: Refresher<Resources> } | undefined
  #firstRead: Promise<void> = Promise.resolve()

  constructor(options: DocumentListOptions) {
    this.#options = options
  }

  get capabilities(): DocumentCapabilities {
    return this.#capabilities
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

  /** Resolves after the first read since connecting, whether it succeeded, failed or timed out. */
  get firstRead(): Promise<void> {
    return this.#firstRead
  }

  /** State to store for the next start. */
  get snapshot(): object {
    return { capabilities: this.#capabilities, prompts: this.#prompts, ...this.#resources }
  }

  /** Restores a snapshot, ignoring invalid parts. */
  restore(snapshot: unknown): void {
    const { capabilities, prompts, resources, templates } = (snapshot ?? {}) as { readonly [key: string]: unknown }
    const has = (capabilities ?? {}) as { readonly [key: string]: unknown }
    this.#capabilities = {
      prompts: has.prompts === true,
      resources: has.resources === true,
      subscribe: has.subscribe === true,
      completions: has.completions === true,
    }
    this.#prompts = all(prompts, sanitizePrompt)
    this.#resources = { resources: all(resources, sanitizeResource), templates: all(templates, sanitizeTemplate) }
  }

  connect(connection: Pick<UpstreamConnection, 'capabilities' | 'request'>): void {
    this.disconnect()
    this.#capabilities = documentCapabilities(connection.capabilities)
    const { limit } = this.#options
    const sender =
      (signal: AbortSignal): SendRequest =>
      async (method, params) =>
        connection.request?.(method, params, { signal })
    const prompts = this.#refresher<readonly Prompt[]>('prompts', {
      read: (signal) =>
        this.#capabilities.prompts
          ? listAll(sender(signal), { method: 'prompts/list', member: 'prompts', parse: sanitizePrompt, limit: limit() })
          : Promise.resolve([]),
      now: () => this.#prompts,
      take: (value) => {
        this.#prompts = value
      },
    })
    const resources = this.#refresher<Resources>('resources', {
      read: async (signal) => {
        if (!this.#capabilities.resources) return noResources
        const send = sender(signal)
        const [found, templates] = await Promise.all([
          listAll(send, { method: 'resources/list', member: 'resources', parse: sanitizeResource, limit: limit() }),
          listAll(send, {
            method: 'resources/templates/list',
            member: 'resourceTemplates',
            parse: sanitizeTemplate,
            limit: limit(),
          }),
        ])
        return { resources: found, templates }
      },
      now: () => this.#resources,
      take: (value) => {
        this.#resources = value
      },
    })
    this.#refreshers = { prompts, resources }
    this.#firstRead = this.#settledWithin([prompts.readNow(), resources.readNow()])
  }

  /** Refreshes after a change notification; `resync`: a notification may have been missed. */
  notice(kind: 'prompts' | 'resources' | 'resync'): void {
    if (kind !== 'resources') this.#refreshers?.prompts.notify()
    if (kind !== 'prompts') this.#refreshers?.resources.notify()
  }

  disconnect(): void {
    this.#refreshers?.prompts.close()
    this.#refreshers?.resources.close()
    this.#refreshers = undefined
  }

  async #settledWithin(looks: readonly Promise<unknown>[]): Promise<void> {
    let stop: () => void = () => undefined
    const enough = new Promise<void>((resolve) => {
      stop = this.#options.clock.after(readTimeoutMs, resolve, true)
    })
    await Promise.race([Promise.allSettled(looks), enough])
    stop()
  }

  #refresher<T>(kind: 'prompts' | 'resources', { read, now, take }: Followed<T>): Refresher<T> {
    const { clock, random, pace, changed, failed } = this.#options
    return new Refresher<T>({
      read,
      differs: (value) => JSON.stringify(value) !== JSON.stringify(now()),
      publish: (value) => {
        take(value)
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
  readonly take: (value: T) => void
}

const documentCapabilities = ({ prompts, resources, completions }: ServerCapabilities): DocumentCapabilities => ({
  prompts: prompts !== undefined,
  resources: resources !== undefined,
  subscribe: resources?.subscribe === true,
  completions: completions !== undefined,
})
