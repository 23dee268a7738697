import { type Exposure, Failure, type HostProfile, hostById, hostProfiles, nearest, nearestHint } from '@unfold-mcp/core'
import { declared, type Keys } from '../tool/declared.ts'

/** How tools may be presented: an exposure, or `auto`, which chooses one by cost and by what the host can follow. */
export type ExposureMode = Exposure | 'auto'

/** How tools are presented, with settings. */
export interface ExposureOptions {
  /** Default: `groups`. */
  readonly mode?: ExposureMode
  /** Tokens that the full list may cost before `auto` (and 2026-07-28, where groups are declared) presents less. Default: 5,000. */
  readonly budgetTokens?: number
  /** `call_tool_read`, `call_tool_write` and `call_tool_destructive` instead of `call_tool`, for clients that approve by name. */
  readonly callVariants?: boolean
  /** `append` keeps every tool where a client first saw it, so that a prompt cache keeps its prefix. Default: `declared`. */
  readonly order?: 'declared' | 'append'
  /** Adds `anthropic/alwaysLoad` and `anthropic/searchHint` to `_meta`. Default: only in `native`. */
  readonly hostHints?: boolean
  /** Treats every client as this host, whatever it calls itself. */
  readonly host?: string
}

const exposureKeys: Keys<ExposureOptions> = {
  mode: true,
  budgetTokens: true,
  callVariants: true,
  order: true,
  hostHints: true,
  host: true,
}

/** How one client is presented the tools: every setting of `ExposureOptions`, filled in. */
export interface ExposureSettings {
  readonly mode: ExposureMode
  readonly budgetTokens: number
  readonly callVariants: boolean
  readonly order: 'declared' | 'append'
  readonly hostHints: boolean | undefined
  readonly host: HostProfile | undefined
}

export const defaultExposureSettings: ExposureSettings = {
  mode: 'groups',
  budgetTokens: 5_000,
  callVariants: false,
  order: 'declared',
  hostHints: undefined,
  host: undefined,
}

/** Returns the settings with those of `setting` replaced. */
export function withExposure(base: ExposureSettings, setting: ExposureMode | ExposureOptions): ExposureSettings {
  const { host, ...options } = typeof setting === 'string' ? { mode: setting } : declared('"exposure"', setting, exposureKeys)
  checkBudget(options.budgetTokens)
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return { ...base, ...given, ...(host !== undefined && { host: knownHost(host) }) }
}

function checkBudget(budgetTokens: number | undefined): void {
  if ((budgetTokens ?? 0) >= 0) return
  throw new Failure('invalid_declaration', `budgetTokens must be a number of tokens, not ${budgetTokens}.`, {
    what: 'budgetTokens',
  })
}

function knownHost(id: string): HostProfile {
  const found = hostById(id)
  if (found !== undefined) return found
  const known = hostProfiles.map((host) => host.id)
  throw new Failure(
    'invalid_declaration',
    `Unknown host "${id}".${nearestHint(nearest(id, known))} Known: ${known.join(', ')}.`,
    {
      what: 'host',
    },
  )
}
