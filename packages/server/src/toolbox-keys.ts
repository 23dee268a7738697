import type { Quota } from '@unfold-mcp/core'
import type { MessageLimits } from './catalog/message-limits.ts'
import type { SearchSettings } from './search/settings.ts'
import type { Keys } from './tool/declared.ts'
import type { GateOptions, Introduction, ToolboxOptions } from './toolbox.ts'

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
  lazy: true,
  budgetTokens: true,
  callVariants: true,
  hostHints: true,
  order: true,
  pageSize: true,
  facts: true,
  noticeEveryMs: true,
  after: true,
  counts: true,
  identity: true,
  permit: true,
  search: true,
  remember: true,
  store: true,
  callTimeoutMs: true,
  relistTimeoutMs: true,
  hookTimeoutMs: true,
  ttlMs: true,
  listChanged: true,
  limits: true,
  admit: true,
  report: true,
  now: true,
}

export const gateKeys: Keys<GateOptions> = { description: true, about: true, default: true }

export const introductionKeys: Keys<Introduction> = { info: true, description: true, about: true }

export const quotaKeys: Keys<Quota> = { groups: true, tokens: true, whenFull: true }

export const limitKeys: Keys<MessageLimits> = { elements: true, depth: true }

export const searchKeys: Keys<SearchSettings> = { embedder: true, deadlineMs: true, rank: true, learn: true }
