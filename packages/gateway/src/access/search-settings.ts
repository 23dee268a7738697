import { canonicalJson } from '@unfold-mcp/core'
import { openAiEmbedder, type SearchSettings } from '@unfold-mcp/server/search'
import type { SearchConfig } from '../config/schema.ts'

/** Returns the same object for equal settings, so that an edit of the file does not embed the tools again. */
export class SearchSettingsCache {
  #settings = new Map<string, SearchSettings>()

  get(config: SearchConfig): SearchSettings {
    const key = canonicalJson(config)
    const settings = this.#settings.get(key) ?? settingsOf(config)
    this.#settings.set(key, settings)
    return settings
  }

  retain(configs: readonly SearchConfig[]): void {
    const keys = new Set(configs.map((config) => canonicalJson(config)))
    this.#settings = new Map([...this.#settings].filter(([key]) => keys.has(key)))
  }
}

function settingsOf({ embedder, deadlineMs, learn, minConfidence }: SearchConfig): SearchSettings {
  if (embedder === undefined) return { deadlineMs, learn, minConfidence }
  const { url, model, apiKey } = embedder
  return { deadlineMs, learn, minConfidence, embedder: openAiEmbedder({ url, model, ...(apiKey !== undefined && { apiKey }) }) }
}
