import { type Exposure, Failure, type HostProfile, hostById, hostProfiles, nearest, nearestHint } from '@unfold-mcp/core'
import { declared, type Keys } from '../tool/declared.ts'

/** An exposure, or `auto`, which chooses one by the cost of the list and the capabilities of the host. */
export type ExposureMode = Exposure | 'auto'

/** How clients see the tools. */
export interface ExposureOptions {
  /** Default: `groups`. */
  readonly mode?: ExposureMode
  /** Tokens that the full list may cost before `auto` (and 2026-07-28, where groups are declared) shows less. Default: 5,000. */
  readonly budgetTokens?: number
  /**
   * Splits `call_tool` into `call_tool_read`, `call_tool_write` and `call_tool_destructive`, for clients that approve tools by
   * name.
   */
  readonly callVariants?: boolean
  /** Lists `run_code` too. It is always listed in `code`. Default: `false`. */
  readonly code?: boolean
  /** `append` keeps every tool in the place where a client first saw it, so that prompt caches stay valid. Default: `declared`. */
  readonly order?: 'declared' | 'append'
  /** Adds `anthropic/alwaysLoad` and `anthropic/searchHint` to `_meta`. Default: only in `native`. */
  readonly hostHints?: boolean
  /** Treats every client as this host. */
  readonly host?: string
}

const exposureKeys: Keys<ExposureOptions> = {
  mode: true,
  budgetTokens: true,
  callVariants: true,
  code: true,
  order: true,
  hostHints: true,
  host: true,
}

/** `ExposureOptions` with defaults filled in. */
export interface ExposureSettings {
  readonly mode: ExposureMode
  readonly budgetTokens: number
  readonly callVariants: boolean
  readonly code: boolean
  readonly order: 'declared' | 'append'
  readonly hostHints: boolean | undefined
  readonly host: HostProfile | undefined
}

export const defaultExposureSettings: ExposureSettings = {
  mode: 'groups',
  budgetTokens: 5_000,
  callVariants: false,
  code: false,
  order: 'declared',
  hostHints: undefined,
  host: undefined,
}

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
