import type { Preview, Toolbox } from '@unfold-mcp/server'
import type { Client } from './access.ts'

/** What a client is listed first, beside all that it may have. */
export interface Savings extends Pick<Preview, 'allTokens' | 'listedTokens' | 'exposure' | 'reason'> {
  /** How many tools there are for it. */
  readonly tools: number
  readonly listed: number
}

type GatewayToolbox = Pick<Toolbox<string, Record<string, unknown>, Client>, 'preview'>

/** What is listed to a client that connects now, and what everything would be. */
export async function savingsOf(toolbox: GatewayToolbox, principal: Client | undefined): Promise<Savings> {
  const { allTokens, listedTokens, exposure, reason, all, listed } = await toolbox.preview({ principal })
  return { allTokens, listedTokens, exposure, reason, tools: all.length, listed: listed.length }
}
