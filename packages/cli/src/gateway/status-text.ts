import type { GatewayStatus } from '@unfold-mcp/gateway'
import type { Output } from '../output.ts'
import { safeText } from '../text/safe.ts'
import type { Style } from '../text/style.ts'
import { tableLines } from '../text/table.ts'

type Upstream = GatewayStatus['upstreams'][number]

/** A gateway at this moment, for a person. */
export function statusText(status: GatewayStatus, { style, width }: Pick<Output, 'style' | 'width'>): string {
  const { version, pid, url, config, uptimeMs, isReady, upstreams, held, clients, savings } = status
  const rows = upstreams.map((upstream) => upstreamRow(upstream, style))
  const waiting = held.map(({ name, problems }) => [
    safeText(name),
    style.yellow('waits'),
    '',
    '',
    safeText(problems[0]?.message ?? '', { limit: 300 }),
  ])
  const servers = [...rows, ...waiting]
  const saved = savings.allTokens - savings.listedTokens
  const percent = savings.allTokens === 0 ? 0 : Math.floor((saved / savings.allTokens) * 100)
  return [
    `${style.bold('unfold')} ${version} on ${url}, process ${pid}, up ${timeText(uptimeMs)}${isReady ? '' : style.yellow(', not ready')}`,
    safeText(config),
    '',
    ...(servers.length === 0
      ? ['No servers. Put one behind it: unfold add <name> -- <command>']
      : tableLines(servers, { width })),
    '',
    `${amount(savings.tools)} tools would cost ${amount(savings.allTokens)} tokens; a client is listed ${amount(savings.listed)} for ${amount(savings.listedTokens)} (${savings.exposure})${percent > 0 ? `: ${percent} % saved` : ''}.`,
    clients.length === 0 ? 'No clients.' : `${clients.length} ${clients.length === 1 ? 'client' : 'clients'}:`,
    ...tableLines(clients.slice(0, 20).map(clientRow), { width, indent: 2 }),
    ...(clients.length > 20 ? [`  and ${clients.length - 20} more`] : []),
  ].join('\n')
}

const paints: { readonly [state: string]: keyof Style } = {
  ready: 'green',
  failed: 'red',
  reconnecting: 'yellow',
  needs_login: 'yellow',
  starting: 'cyan',
}

function upstreamRow(upstream: Upstream, style: Style): readonly string[] {
  const { name, state, tools, protocolVersion, announcesChanges, calls } = upstream
  const paint = style[paints[state] ?? 'dim']
  const about = [
    ...(announcesChanges === undefined ? [] : [announcesChanges ? 'announces changes' : 'is looked at']),
    ...changeWords(upstream),
    ...(upstream.slowedMs === undefined || upstream.slowedMs === 0 ? [] : [`slowed to ${timeText(upstream.slowedMs)}`]),
    ...(calls.running + calls.waiting === 0 ? [] : [`${calls.running} calls run, ${calls.waiting} wait`]),
    ...(upstream.notes.length === 0
      ? []
      : [`${upstream.notes.length} ${upstream.notes.length === 1 ? 'note' : 'notes'} on its tools`]),
    ...(state === 'needs_login' ? [`sign in: unfold login ${safeText(name)}`] : []),
    ...(upstream.lastError === undefined || state === 'ready' ? [] : [safeText(upstream.lastError, { limit: 300 })]),
    ...(upstream.nextRetryInMs === undefined ? [] : [`tried again in ${timeText(upstream.nextRetryInMs)}`]),
  ]
  return [
    safeText(name),
    paint(state.replace('_', ' ')),
    `${amount(tools)} ${tools === 1 ? 'tool' : 'tools'}`,
    safeText(protocolVersion ?? ''),
    about.join(', '),
  ]
}

function changeWords({ lastChange }: Upstream): readonly string[] {
  if (lastChange === undefined) return []
  const { at, added, changed, removed } = lastChange
  const counts = [added > 0 ? `+${added}` : '', removed > 0 ? `-${removed}` : '', changed > 0 ? `~${changed}` : '']
  return [`changed ${counts.filter((each) => each !== '').join(' ')} at ${at.slice(11, 19)}`]
}

const clientRow = ({ name, version, era, token, profile, idleMs }: GatewayStatus['clients'][number]): readonly string[] => [
  `${safeText(name ?? 'somebody', { limit: 60 })}${version === undefined ? '' : ` ${safeText(version, { limit: 20 })}`}`,
  era === 'session' ? 'session' : 'no session',
  [
    ...(token === undefined ? [] : [`token ${safeText(token)}`]),
    ...(profile === undefined ? [] : [`profile ${safeText(profile)}`]),
    `heard of ${timeText(idleMs)} ago`,
  ].join(', '),
]

const amount = (count: number): string => count.toLocaleString('en')

/** A length of time in its two largest units. */
function timeText(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const hours = Math.floor(seconds / 3_600)
  return hours < 24 ? `${hours} h ${Math.floor((seconds % 3_600) / 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
