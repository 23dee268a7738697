import type { Preview } from '@unfold-mcp/server'
import { amount, counted } from '../text/amount.ts'

/** What the tools cost a model that is shown them all, and what it is shown instead. `budget`: what that was measured against. */
export function costText({ all, allTokens, listed, listedTokens, exposure }: Preview, budget: number | undefined): string {
  const whole = `All ${counted(all.length, 'tool')} cost ${amount(allTokens)} tokens`
  const measure = budget === undefined ? '' : ` The budget is ${amount(budget)}.`
  if (exposure === 'everything') return `${whole}, and a client is listed all of them.${measure}`
  const saved = allTokens === 0 ? 0 : Math.floor((1 - listedTokens / allTokens) * 100)
  const less = saved > 0 ? `, ${saved} % less` : ''
  return `${whole}. A client is listed ${amount(listed.length)} for ${amount(listedTokens)}${less} (${exposure}).${measure}`
}

/** How to connect a client to a gateway that is there; `name` is that of this machine, where others can reach it. */
export function welcomeText(url: string, wantsToken: boolean, name?: string): string {
  const header = wantsToken ? ' --header "Authorization: Bearer <token>"' : ''
  const token = wantsToken ? ' --token <token>' : ''
  const others = name === undefined ? '' : `\nFrom other machines: ${urlOf(url, name)}`
  return `Connect a client:
  unfold connect claude${token}   (or cursor, vscode, codex, gemini, windsurf …)
  claude mcp add --transport http unfold ${url}${header}${others}
Look at it: unfold status   Stop it: Ctrl-C`
}

function urlOf(url: string, name: string): string {
  const other = new URL(url)
  other.hostname = name
  return other.href
}
