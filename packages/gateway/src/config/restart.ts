import { canonicalJson } from '@unfold-mcp/core'
import type { Config } from './schema.ts'

// All other settings take effect immediately.
const startupSettings: { readonly [K in keyof Config]?: readonly string[] } = {
  listen: ['host', 'port', 'allowedHosts', 'allowedOrigins', 'trustedProxies', 'dashboard'],
  store: ['kind', 'path'],
  cluster: [],
  audit: [],
  code: [],
  limits: ['bodyBytes', 'depth', 'elements', 'sessions', 'subscriptions', 'stallTimeoutMs', 'unsentBytes'],
}

/** Returns the changed settings that only take effect after a restart. */
export function restartRequired(before: Config, after: Config): readonly string[] {
  return Object.entries(startupSettings).flatMap(([key, parts]) => {
    const [old, now] = [before, after].map((config) => config[key as keyof Config]) as [unknown, unknown]
    if (parts.length === 0) return canonicalJson(old ?? null) === canonicalJson(now ?? null) ? [] : [key]
    return parts.filter((part) => partOf(old, part) !== partOf(now, part)).map((part) => `${key}.${part}`)
  })
}

const partOf = (value: unknown, part: string): string =>
  canonicalJson((value as { readonly [part: string]: unknown })[part] ?? null)
