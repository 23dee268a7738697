import type { Tool } from '@unfold-mcp/core'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/schema.ts'
import type { CachedUpstream, CatalogStore } from '../stores/catalog.ts'
import { catalogKey } from '../stores/key.ts'

export interface DefinitionCacheOptions {
  readonly store: CatalogStore
  readonly config: () => Config
  readonly log: Log
}

/** Definitions of servers on disk, so that clients see tools before the servers have started. */
export class DefinitionCache {
  readonly #options: DefinitionCacheOptions
  /** Tools of new servers, until the servers are created. */
  readonly #tools = new Map<string, readonly Tool[]>()
  readonly #saving = new Set<Promise<void>>()

  constructor(options: DefinitionCacheOptions) {
    this.#options = options
  }

  tools(server: string): readonly Tool[] | undefined {
    return this.#tools.get(server)
  }

  /** Loads the definitions of servers that are new. */
  async load(
    { mcpServers }: Config,
    existing: readonly string[],
    loaded: (server: string, cached: CachedUpstream | undefined, documents: unknown) => void,
  ): Promise<void> {
    const { store } = this.#options
    const added = Object.entries(mcpServers).filter(([name, { disabled }]) => !disabled && !existing.includes(name))
    await Promise.all(
      added.map(async ([name, server]) => {
        const key = catalogKey(name, server)
        const cached = await store.load(key).catch(() => undefined)
        const documents = await store.documents(key).catch(() => undefined)
        if (cached !== undefined) this.#tools.set(name, cached.tools)
        loaded(name, cached, documents)
      }),
    )
  }

  /** Releases the loaded tools: the servers have them. */
  releaseTools(): void {
    this.#tools.clear()
  }

  save(upstream: string, write: (store: CatalogStore, key: string) => Promise<void>): void {
    const { store, config, log } = this.#options
    const server = config().mcpServers[upstream]
    if (server === undefined) return
    const saving = write(store, catalogKey(upstream, server))
      .catch((error: unknown) => log.warn({ upstream, error }, 'definitions could not be cached'))
      .finally(() => this.#saving.delete(saving))
    this.#saving.add(saving)
  }

  /** Removes the definitions of servers that were removed or replaced by another one. */
  async remove(names: readonly string[], before: Config, after: Config): Promise<void> {
    for (const name of names) {
      const [old, next] = [before, after].map(({ mcpServers }) => mcpServers[name])
      if (old === undefined || (next !== undefined && catalogKey(name, old) === catalogKey(name, next))) continue
      await this.#options.store.remove(catalogKey(name, old)).catch(() => undefined)
    }
  }

  /** Waits for definitions that are being written. */
  async saved(): Promise<void> {
    await Promise.all(this.#saving)
  }
}
