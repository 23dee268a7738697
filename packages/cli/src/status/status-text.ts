import { locatedText } from '@unfold-mcp/core'
import type { GatewayStatus } from '@unfold-mcp/gateway'
import type { Output } from '../output/output.ts'
import { formatNumber, plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import type { Style } from '../text/style.ts'
import { tableLines } from '../text/table.ts'
import { wrapped } from '../text/wrap.ts'
import { formatDuration, formatTime, joinParts, toolCount } from './format.ts'
import { signInText } from './sign-in-text.ts'
import { attemptText, errorText, progressText, stateLabels } from './summary.ts'

export type Upstream = GatewayStatus['upstreams'][number]

export type Screen = Pick<Output, 'style' | 'width'>

/** Output of `unfold status`. */
export function statusText(status: GatewayStatus, { style, width }: Screen): string {
  const { version, pid, url, transport, config, uptimeMs, isReady, upstreams, notStarted } = status
  const where = transport === 'stdio' ? 'over stdio' : `on ${url}`
  const rows = [
    ...upstreams.map((upstream) => upstreamRow(upstream, style)),
    ...notStarted.map(({ name, problems }) => [
      safeText(name),
      style.yellow('not started'),
      '',
      '',
      safeText(problems[0]?.message ?? '', { limit: 300 }),
    ]),
  ]
  return [
    `${style.bold('unfold')} ${version} ${where}, pid ${pid}, up ${formatDuration(uptimeMs)}${isReady ? '' : style.yellow(', not ready')}`,
    safeText(config),
    ...problemLines(status, style),
    ...editLines(status, style),
    ...callLines(status, style),
    ...clusterLines(status, style),
    ...status.degraded.map(({ part, problem }) => style.yellow(`degraded: ${part}: ${safeText(problem, { limit: 400 })}`)),
    '',
    ...(rows.length === 0 ? ['No servers. Add one: unfold add <name> -- <command>'] : serverLines(rows, { style, width })),
    '',
    savingsLine(status),
    ...heldLines(status, style),
    ...clientLines(status, width),
  ].join('\n')
}

function clusterLines({ cluster }: GatewayStatus, style: Style): readonly string[] {
  if (cluster === undefined) return []
  const { replica, replicas, redis } = cluster
  if (redis === undefined) return [`cluster: replica ${safeText(replica)}, without Redis`]
  const state = redis === 'ok' ? 'Redis ok' : style.yellow(`Redis: ${safeText(redis, { limit: 300 })}`)
  return [
    `cluster: ${plural(replicas.length, 'replica')}, ${state}`,
    ...replicas.map(({ id, version, address, startedAt }) => {
      const own = id === replica ? ' (this one)' : ''
      return `  ${safeText(id)}${own} ${safeText(version)} ${safeText(address)} since ${safeText(startedAt)}`
    }),
  ]
}

function problemLines({ problems }: GatewayStatus, style: Style): readonly string[] {
  if (problems.length === 0) return []
  const lines = problems.slice(0, 5).map((problem) => `  ${safeText(locatedText(problem), { limit: 400 })}`)
  const more = problems.length > 5 ? [`  and ${problems.length - 5} more: unfold reload`] : []
  return [style.red('Configuration invalid; the previous one stays in use.'), ...lines, ...more]
}

function editLines({ edits }: GatewayStatus, style: Style): readonly string[] {
  if (edits.length === 0) return []
  return [style.yellow(`waiting for approval: ${edits.map((path) => safeText(path)).join(', ')}. Review: unfold review`)]
}

function callLines({ pendingCalls }: GatewayStatus, style: Style): readonly string[] {
  if (pendingCalls === 0) return []
  return [style.yellow(`${plural(pendingCalls, 'call')} waiting for approval: unfold approvals`)]
}

// Below this width, details are printed below the name.
const narrow = 80

function serverLines(rows: readonly (readonly string[])[], { width }: Screen): readonly string[] {
  if (width >= narrow) return tableLines(rows, { width })
  const heads = tableLines(
    rows.map((row) => row.slice(0, 3)),
    { width },
  )
  if (heads.length !== rows.length) return tableLines(rows, { width })
  return rows.flatMap(([, , , revision = '', details = ''], at) => [
    heads[at] ?? '',
    ...wrapped([revision, details].filter((part) => part !== '').join(', '), width - 2)
      .filter((line) => line !== '')
      .map((line) => `  ${line}`),
  ])
}

const stateColours: { readonly [state: string]: keyof Style } = {
  ready: 'green',
  degraded: 'yellow',
  failed: 'red',
  reconnecting: 'yellow',
  needs_login: 'yellow',
  starting: 'cyan',
  installing: 'cyan',
}

export const stateText = (state: string, style: Style): string => style[stateColours[state] ?? 'dim'](stateLabels[state] ?? state)

// In these states the last error is outdated or shown otherwise.
const hidesLastError: ReadonlySet<Upstream['state']> = new Set([
  'ready',
  'needs_login',
  'starting',
  'installing',
  'idle',
  'disabled',
])

function upstreamRow(upstream: Upstream, style: Style): readonly string[] {
  const { name, state, tools, offered, protocolVersion, announcesChanges, throttleMs = 0, calls, lastOutput } = upstream
  const isIdle = calls.running + calls.waiting === 0
  return [
    safeText(name),
    stateText(state, style),
    toolCount(offered, tools),
    safeText(protocolVersion ?? ''),
    joinParts([
      upstream.sandbox === undefined ? undefined : `sandbox ${upstream.sandbox.preset}`,
      holderText(upstream),
      announcesChanges === undefined ? undefined : announcesText(announcesChanges),
      changeText(upstream),
      throttleMs === 0 ? undefined : `slowed to ${formatDuration(throttleMs)}`,
      slowdownText(upstream),
      isIdle ? undefined : `${plural(calls.running, 'call')} running, ${calls.waiting} waiting`,
      reviewText(upstream, style),
      moreText(upstream, style),
      state === 'needs_login' ? signInText(upstream) : undefined,
      state === 'starting' || state === 'installing' ? progressText(upstream) : undefined,
      lastOutput === undefined ? undefined : `stderr: ${safeText(lastOutput, { limit: 200 })}`,
      failureText(upstream),
    ]),
  ]
}

/** The last error, and when the next attempt is. */
function failureText(upstream: Upstream): string | undefined {
  const { state, attempt, lastError } = upstream
  if (hidesLastError.has(state)) return undefined
  const attempts = attempt === undefined ? undefined : attemptText(upstream)
  if (lastError === undefined) return attempts
  return attempts === undefined ? errorText(upstream) : `${errorText(upstream)} (${attempts})`
}

/** Names the replica that runs a server. */
export function holderText({ holder }: Upstream): string | undefined {
  if (holder === undefined) return undefined
  return holder.isOwn ? 'runs on this replica' : `runs on replica ${safeText(holder.replica)} (${safeText(holder.address)})`
}

/** Says how often a server that is expensive to follow is refreshed. */
export function slowdownText({ slowdown }: Upstream): string | undefined {
  if (slowdown === undefined) return undefined
  const { costMs, delayMs } = slowdown
  return `refreshed at most every ${formatDuration(delayMs)} because a refresh takes ${formatDuration(costMs)}`
}

/** Counts what waits for a review, and what is blocked. */
export function reviewText({ name, held, blocked }: Upstream, style: Style): string | undefined {
  const parts = [
    held === 0 ? undefined : style.yellow(`${formatNumber(held)} held for review: unfold review ${safeText(name)}`),
    blocked === 0 ? undefined : `${formatNumber(blocked)} blocked`,
  ]
  return held + blocked === 0 ? undefined : joinParts(parts)
}

function heldLines({ upstreams }: GatewayStatus, style: Style): readonly string[] {
  const held = upstreams.reduce((sum, upstream) => sum + upstream.held, 0)
  return held === 0 ? [] : [style.yellow(`${formatNumber(held)} held for review, hidden from clients: unfold review`)]
}

/** Refers to details that `unfold status <server>` shows. */
function moreText({ name, notes, findings, findingCount }: Upstream, style: Style): string | undefined {
  const parts = [
    findings.length === 0 ? undefined : style.yellow(findingsText(findings, findingCount)),
    notes.length === 0 ? undefined : plural(notes.length, 'note'),
  ]
  return findings.length + notes.length === 0 ? undefined : `${joinParts(parts)}: unfold status ${safeText(name)}`
}

function findingsText(findings: Upstream['findings'], count: number): string {
  const tools = [...new Set(findings.flatMap(({ tool }) => tool ?? []))]
  if (tools.length === 0) return 'suspicious server description'
  const named = tools.slice(0, 3).map((tool) => safeText(tool, { limit: 40 }))
  const more = tools.length > named.length ? ', …' : ''
  // The status has only some of very many findings.
  const counted = count > findings.length ? plural(count, 'finding') : plural(tools.length, 'suspicious tool')
  return `${counted} (${named.join(', ')}${more})`
}

export const announcesText = (announcesChanges: boolean): string =>
  announcesChanges ? 'notifies of changes' : 'polled for changes'

export function changeText({ lastChange }: Upstream): string | undefined {
  if (lastChange === undefined) return undefined
  const { at, added, changed, removed } = lastChange
  const counts = [added > 0 ? `+${added}` : '', removed > 0 ? `-${removed}` : '', changed > 0 ? `~${changed}` : '']
  return `changed ${counts.filter((each) => each !== '').join(' ')} at ${formatTime(at)}`
}

function savingsLine({ savings }: GatewayStatus): string {
  const { tools, allTokens, listed, listedTokens, exposure } = savings
  if (listed >= tools) return `Clients see all ${plural(tools, 'tool')} (${formatNumber(allTokens)} tokens, ${exposure}).`
  const percent = allTokens === 0 ? 0 : Math.floor((1 - listedTokens / allTokens) * 100)
  const saved = percent > 0 ? `, ${percent}% less` : ''
  return `${plural(tools, 'tool')}, ${formatNumber(allTokens)} tokens. Clients see ${formatNumber(listed)} (${formatNumber(listedTokens)} tokens${saved}, ${exposure}).`
}

const maxClients = 20

function clientLines({ clients, transport }: GatewayStatus, width: number): readonly string[] {
  if (clients.length === 0) return transport === 'stdio' ? [] : ['No clients.']
  const groups = new Map<string, { readonly row: readonly string[]; readonly idleMs: number; readonly count: number }>()
  for (const client of clients) {
    const row = clientRow(client)
    const key = JSON.stringify(row)
    const before = groups.get(key)
    const idleMs = Math.min(client.idleMs, before?.idleMs ?? client.idleMs)
    groups.set(key, { row, idleMs, count: (before?.count ?? 0) + 1 })
  }
  const rows = [...groups.values()].map(({ row: [name = '', era = '', rest = ''], idleMs, count }) => [
    name,
    era === 'session' ? plural(count, 'session') : 'no session',
    joinParts([rest === '' ? undefined : rest, `last seen ${formatDuration(idleMs)} ago`]),
  ])
  return [
    `${plural(clients.length, 'client')}:`,
    ...tableLines(rows.slice(0, maxClients), { width, indent: 2 }),
    ...(rows.length > maxClients ? [`  and ${rows.length - maxClients} more`] : []),
  ]
}

const clientRow = ({ name, version, era, transport, token, profile }: GatewayStatus['clients'][number]): readonly string[] => [
  `${safeText(name ?? 'unknown client', { limit: 60 })}${version === undefined ? '' : ` ${safeText(version, { limit: 20 })}`}`,
  era,
  joinParts([
    transport === 'stdio' ? 'over stdio' : undefined,
    token === undefined ? undefined : `token ${safeText(token)}`,
    profile === undefined ? undefined : `profile ${safeText(profile)}`,
  ]),
]
