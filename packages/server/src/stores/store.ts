import { type Activation, nothingActive } from '@unfold-mcp/core'

/** Where activations are kept between connections. Drivers store and return; every decision is made by the caller. */
export interface ActivationStore {
  load(key: string): Promise<unknown>
  save(key: string, activation: Activation): Promise<void>
}

/** What a store returned, if it is an activation; anything else is as good as nothing. */
export function parseActivation(value: unknown): Activation | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { groups, tools, tags, versions } = { ...nothingActive, ...value }
  if (!isNames(groups) || !isNames(tools) || !isNames(tags) || !isVersions(versions)) return undefined
  return { groups, tools, tags, versions }
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= 10_000 && value.every((item) => typeof item === 'string')

const isVersions = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.values(value).every((item) => typeof item === 'string')
