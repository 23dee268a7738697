import type { Prompt, Resource, ResourceTemplateType, ServerCapabilities } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import { measureRead } from '../base/stopwatch.ts'
import type { FollowBudget } from '../upstreams/connected/follow-budget.ts'
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
  /** Called when both lists have been read since connecting. */
  readonly read: () => void
  readonly failed: (kind: 'prompts' | 'resources', error: unknown) => void
  /** Called when the server announces changes too often, once until it is calm again. */
  readonly throttled: (kind: 'prompts' | 'resources', delayMs: number) => void
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

  /** Follows the documents of a connection; `budget` limits how often they are read. */
  connect(connection: Pick<UpstreamConnection, 'capabilities' | 'request' | 'received'>, budget?: FollowBudget): void {
    this.disconnect()
    const cost = { received: () => connection.received ?? 0, charge: (ms: number) => budget?.charge(ms) }
    this.#capabilities = documentCapabilities(connection.capabilities)
    const { limit } = this.#options
    const sender =
      (signal: AbortSignal): SendRequest =>
      async (method, params) =>
        connection.request?.(method, params, { signal })
    const prompts = this.#refresher<readonly Prompt[]>('prompts', {
      budget,
      read: (signal) =>
        this.#capabilities.prompts
          ? measureRead(
              () => listAll(sender(signal), { method: 'prompts/list', member: 'prompts', parse: sanitizePrompt, limit: limit() }),
              cost,
            )
          : Promise.resolve([]),
      now: () => this.#prompts,
      take: (value) => {
        this.#prompts = value
      },
    })
    const readResources = async (send: SendRequest): Promise<Resources> => {
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
    }
    const resources = this.#refresher<Resources>('resources', {
      budget,
      read: async (signal) =>
        this.#capabilities.resources ? measureRead(() => readResources(sender(signal)), cost) : noResources,
      now: () => this.#resources,
      take: (value) => {
        this.#resources = value
      },
    })
    this.#refreshers = { prompts, resources }
    const reads = [prompts.readNow(), resources.readNow()]
    void Promise.all(reads).then(this.#options.read, () => undefined)
    this.#firstRead = this.#settledWithin(reads)
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

  #refresher<T>(kind: 'prompts' | 'resources', { read, now, take, budget }: Followed<T>): Refresher<T> {
    const { clock, random, pace, changed, failed, throttled } = this.#options
    return new Refresher<T>({
      read,
      differs: (value) => JSON.stringify(value) !== JSON.stringify(now()),
      publish: (value) => {
        take(value)
        changed(kind)
      },
      failed: (error) => failed(kind, error),
      throttled: (delayMs) => throttled(kind, delayMs),
      clock,
      random,
      budget,
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
  readonly budget: FollowBudget | undefined
}

const documentCapabilities = ({ prompts, resources, completions }: ServerCapabilities): DocumentCapabilities => ({
  prompts: prompts !== undefined,
  resources: resources !== undefined,
  subscribe: resources?.subscribe === true,
  completions: completions !== undefined,
})
