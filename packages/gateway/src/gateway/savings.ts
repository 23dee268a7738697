import type { Preview } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { GatewayToolbox } from './toolboxes.ts'

/** Size of the first list compared with all tools. */
export interface Savings extends Pick<Preview, 'allTokens' | 'listedTokens' | 'exposure' | 'reason'> {
  /** Number of tools the client may use. */
  readonly tools: number
  readonly listed: number
}

export async function computeSavings(toolbox: Pick<GatewayToolbox, 'preview'>, principal: Client | undefined): Promise<Savings> {
  const { allTokens, listedTokens, exposure, reason, all, listed } = await toolbox.preview({ principal })
  return { allTokens, listedTokens, exposure, reason, tools: all.length, listed: listed.length }
}
