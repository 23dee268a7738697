import type { Preview } from '@unfold-mcp/server'
import { formatNumber, plural } from '../text/number.ts'

/** Token cost of all tools and of the list that clients see. */
export function toolListSummary({ all, allTokens, listed, listedTokens, exposure, budgetTokens }: Preview): string {
  const total = `${plural(all.length, 'tool')}, ${formatNumber(allTokens)} tokens`
  const budget = budgetTokens === undefined ? '' : `, budget ${formatNumber(budgetTokens)}`
  if (listed.length >= all.length) return `${total}. Clients see all tools (${exposure}${budget}).`
  const saved = allTokens === 0 ? 0 : Math.floor((1 - listedTokens / allTokens) * 100)
  const less = saved > 0 ? `, ${saved}% less` : ''
  return `${total}. Clients see ${plural(listed.length, 'tool')} (${formatNumber(listedTokens)} tokens${less}), others via ${accessTools[exposure]} (${exposure}${budget}).`
}

const accessTools: { readonly [E in Preview['exposure']]: string } = {
  everything: 'call_tool',
  native: "the host's tool search",
  search: 'search_tools and call_tool',
  groups: 'the activators',
  lazy: 'manage_tools',
  code: 'search_tools and run_code',
}

/** What to do if clients would get no tools of any server. */
export function noServersText(total: number, available: number): string | undefined {
  if (total === 0) return 'No servers are configured. Add one: unfold add <name> -- <command>'
  return available === 0 ? `None of ${plural(total, 'server')} is available. Details: unfold status` : undefined
}

/** How to connect clients; `name` is the host name if other machines can connect. */
export function connectInstructions(url: string, requiresToken: boolean, name?: string): string {
  const header = requiresToken ? ' --header "Authorization: Bearer <token>"' : ''
  const token = requiresToken ? ' --token <token>' : ''
  const others = name === undefined ? '' : `\nFrom other machines: ${urlOf(url, name)}`
  return `Connect a client:
  unfold connect claude${token}   (or cursor, vscode, codex, gemini, windsurf …)
  claude mcp add --transport http unfold ${url}${header}${others}
Status: unfold status   Stop: Ctrl-C`
}

function urlOf(url: string, name: string): string {
  const other = new URL(url)
  other.hostname = name
  return other.href
}
