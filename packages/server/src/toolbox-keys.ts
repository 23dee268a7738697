import type { Quota } from '@unfold-mcp/core'
import type { SearchSettings } from './search/settings.ts'
import type { Keys } from './tool/declared.ts'
import type { GateOptions, Introduction, LimitOptions, ProtocolOptions, ToolboxOptions } from './toolbox.ts'

// The compiler refuses a key that is missing here, and one that no declaration has.
export const toolboxKeys: Keys<ToolboxOptions<unknown>> = {
  name: true,
  version: true,
  title: true,
  icons: true,
  websiteUrl: true,
  description: true,
  about: true,
  instructions: true,
  introduce: true,
  groups: true,
  gate: true,
  quota: true,
  hiddenCalls: true,
  exposure: true,
  menu: true,
  facts: true,
  after: true,
  permit: true,
  search: true,
  remember: true,
  store: true,
  limits: true,
  protocol: true,
  admit: true,
  rejected: true,
  report: true,
  now: true,
}

export const gateKeys: Keys<GateOptions> = { description: true, about: true, default: true }

export const introductionKeys: Keys<Introduction> = { info: true, description: true, about: true }

export const quotaKeys: Keys<Quota> = { groups: true, tokens: true, whenFull: true }

export const limitKeys: Keys<LimitOptions> = {
  elements: true,
  depth: true,
  concurrency: true,
  queue: true,
  callTimeoutMs: true,
  hookTimeoutMs: true,
}

export const protocolKeys: Keys<ProtocolOptions> = {
  pageSize: true,
  listChanged: true,
  notifyIntervalMs: true,
  relistTimeoutMs: true,
  ttlMs: true,
  identity: true,
  counts: true,
}

export const searchKeys: Keys<SearchSettings> = { embedder: true, minConfidence: true, deadlineMs: true, rank: true, learn: true }
