import type { Preview } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { GatewayToolbox } from './toolboxes.ts'

/** What a client is listed first, beside all that it may have. */
export interface Savings extends Pick<Preview, 'allTokens' | 'listedTokens' | 'exposure' | 'reason'> {
  /** How many tools there are for it. */
  readonly tools: number
  readonly listed: number
}

/** What is listed to a client that connects now, and what everything would be. */
export async function computeSavings(toolbox: Pick<GatewayToolbox, 'preview'>, principal: Client | undefined): Promise<Savings> {
  const { allTokens, listedTokens, exposure, reason, all, listed } = await toolbox.preview({ principal })
  return { allTokens, listedTokens, exposure, reason, tools: all.length, listed: listed.length }
}
