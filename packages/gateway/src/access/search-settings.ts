import { canonicalJson } from '@unfold-mcp/core'
import { openAiEmbedder, type SearchSettings } from '@unfold-mcp/server/search'
import type { SearchConfig } from '../config/schema.ts'

/**
 * The search settings of the library for those of a configuration. Equal settings are the same object, also after an edit of the
 * file, so that what an embedder has read of the tools is not read again.
 */
export class SearchSettingsCache {
  #made = new Map<string, SearchSettings>()

  of(config: SearchConfig): SearchSettings {
    const key = canonicalJson(config)
    const made = this.#made.get(key) ?? settingsOf(config)
    this.#made.set(key, made)
    return made
  }

  /** Forgets all settings but these. */
  retain(configs: readonly SearchConfig[]): void {
    const keys = new Set(configs.map((config) => canonicalJson(config)))
    this.#made = new Map([...this.#made].filter(([key]) => keys.has(key)))
  }
}

function settingsOf({ embedder, deadlineMs, learn }: SearchConfig): SearchSettings {
  if (embedder === undefined) return { deadlineMs, learn }
  const { url, model, apiKey } = embedder
  return { deadlineMs, learn, embedder: openAiEmbedder({ url, model, ...(apiKey !== undefined && { apiKey }) }) }
}
