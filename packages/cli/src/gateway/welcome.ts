import type { Preview } from '@unfold-mcp/server'

/** What the tools cost a model that is shown them all, and what it is shown instead. */
export function costText({ all, allTokens, listed, listedTokens, exposure, reason }: Preview): string {
  const whole = `All ${amount(all.length)} tools cost ${amount(allTokens)} tokens`
  if (exposure === 'everything') return `${whole}, and are listed as they are. ${sentence(reason)}`
  const saved = allTokens === 0 ? 0 : Math.floor((1 - listedTokens / allTokens) * 100)
  const less = saved > 0 ? `, ${saved} % less` : ''
  return `${whole}. A client is listed ${amount(listed.length)} for ${amount(listedTokens)}${less} (${exposure}). ${sentence(reason)}`
}

/** How to connect a client to a gateway that is there. */
export function welcomeText(url: string, wantsToken: boolean): string {
  const header = wantsToken ? ' --header "Authorization: Bearer <token>"' : ''
  const token = wantsToken ? ' --token <token>' : ''
  return `Connect a client:
  unfold connect claude${token}   (or cursor, vscode, codex, gemini, windsurf …)
  claude mcp add --transport http unfold ${url}${header}
Look at it: unfold status   Stop it: Ctrl-C`
}

const amount = (count: number): string => count.toLocaleString('en')

const sentence = (text: string): string => {
  const [first = '', ...rest] = text
  return text === '' ? '' : `${first.toUpperCase()}${rest.join('')}${/[.!?]$/u.test(text) ? '' : '.'}`
}
