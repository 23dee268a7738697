import { resolve } from 'node:path'
import { nearest, nearestHint } from '@unfold-mcp/core'
import type { GatewayStatus, UpstreamStatus } from '@unfold-mcp/gateway'
import type { RunRecord } from '@unfold-mcp/gateway/run-file'
import { CommandError, exit, usageError } from '../base/exit.ts'
import { dataFolder, type Io } from '../base/io.ts'
import { timeLimit } from '../base/time-limit.ts'
import { type Flags, numberOf, textOf } from '../grammar/grammar.ts'
import type { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'

/** Running gateways of this user that match --config, --url and --pid. */
export async function findGateways(flags: Flags, io: Pick<Io, 'env' | 'home' | 'cwd'>): Promise<readonly RunRecord[]> {
  const { runningGateways } = await import('@unfold-mcp/gateway/run-file')
  const config = textOf(flags, 'config')
  const url = textOf(flags, 'url')
  const pid = numberOf(flags, 'pid')
  return (await runningGateways(dataFolder(io))).filter(
    (each) =>
      (config === undefined || each.config === resolve(io.cwd, config)) &&
      (url === undefined || origin(each.url) === origin(url)) &&
      (pid === undefined || each.pid === pid),
  )
}

/** The selected gateway; by default the only one that serves HTTP. */
export async function requireGateway(flags: Flags, io: Io, output: Output): Promise<RunRecord> {
  const all = await findGateways(flags, io)
  const [first, ...others] = all
  if (first === undefined) {
    throw new CommandError(exit.unreachable, 'not_running', await notRunningText(flags, io))
  }
  if (others.length === 0) return first
  const [shared, ...more] = all.filter(({ transport }) => transport === 'http')
  if (shared !== undefined && more.length === 0) {
    const rest = all.filter((each) => each !== shared).map(({ pid }) => `--pid ${pid}`)
    output.note(`Other gateways, started by clients: ${rest.join(', ')}`)
    return shared
  }
  const lines = all.map(
    ({ pid, url, transport, config }) => `  --pid ${pid}   ${transport === 'http' ? url : 'started by a client'}   ${config}`,
  )
  throw new CommandError(
    exit.usage,
    'ambiguous_gateway',
    `${all.length} gateways are running. Choose one:\n${lines.join('\n')}`,
    {
      details: { running: all.map(({ pid, url, transport, config }) => ({ pid, url, transport, config })) },
    },
  )
}

async function notRunningText(flags: Flags, io: Pick<Io, 'env' | 'home' | 'cwd'>): Promise<string> {
  const isFiltered = ['config', 'url', 'pid'].some((name) => flags[name] !== undefined)
  if (!isFiltered) return 'No gateway is running. Start one with "unfold serve".'
  const config = textOf(flags, 'config')
  const wanted = Object.entries({ config, url: textOf(flags, 'url'), pid: numberOf(flags, 'pid') })
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]))
    .join(' ')
  const others = (await findGateways({}, io)).map(({ pid, config: file }) => `pid ${pid} (${file})`)
  const running = others.length === 0 ? 'None is running.' : `Running: ${others.join(', ')}.`
  const start = config === undefined ? '' : ` Start it with: unfold serve ${safeText(config)}`
  return `No gateway matches ${wanted}. ${running}${start}`
}

/** Fails unless the gateway has a server of this name. */
export async function requireServer(name: string, gateway: RunRecord, signal: AbortSignal): Promise<void> {
  const response = await adminRequest(gateway, 'status', { signal })
  const { upstreams, notStarted } = (await response.json()) as GatewayStatus
  const names = [...upstreams, ...notStarted].map((each) => each.name)
  if (!names.includes(name)) throw unknownServer(name, names)
}

export function unknownServer(name: string, names: readonly string[]): CommandError {
  const close = nearest(name, names)
  const known = close.length > 0 || names.length === 0 ? '' : ` Servers: ${names.map((each) => safeText(each)).join(', ')}.`
  return usageError(`Unknown server "${safeText(name)}".${nearestHint(close)}${known}`, { known: names })
}

const restartTimeoutMs = 5_000

/** Restarts matching servers in all gateways of this user; returns their names. */
export async function restartServers(
  matches: (server: UpstreamStatus) => boolean,
  io: Pick<Io, 'env' | 'home' | 'cwd' | 'signal'>,
  timeoutMs = restartTimeoutMs,
): Promise<readonly string[]> {
  using limit = timeLimit(timeoutMs, [io.signal])
  const { signal } = limit
  const restarted = await Promise.all(
    (await findGateways({}, io)).map(async (gateway) => {
      try {
        const response = await adminRequest(gateway, 'upstreams', { signal })
        const names = ((await response.json()) as readonly UpstreamStatus[]).filter(matches).map(({ name }) => name)
        for (const name of names)
          await adminRequest(gateway, `upstreams/${encodeURIComponent(name)}/restart`, { method: 'POST', signal })
        return names
      } catch {
        // An unreachable gateway retries its servers by itself.
        return []
      }
    }),
  )
  return restarted.flat()
}

const origin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)

export interface AdminRequest {
  readonly method?: string
  readonly signal: AbortSignal
  readonly headers?: Record<string, string>
  /** Sent as JSON. */
  readonly body?: unknown
}

/** Sends an authenticated request to the admin API. */
export async function adminRequest(
  gateway: RunRecord,
  path: string,
  { method = 'GET', signal, headers = {}, body }: AdminRequest,
): Promise<Response> {
  let response: Response
  try {
    response = await fetch(new URL(`/api/${path}`, gateway.url), {
      method,
      signal,
      headers: {
        authorization: `Bearer ${gateway.admin}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
    })
  } catch (error) {
    if (signal.aborted) throw error
    throw new CommandError(
      exit.unreachable,
      'unreachable',
      `The gateway (pid ${gateway.pid}) is not responding at ${gateway.url}. It may be shutting down; try again.`,
      { cause: error },
    )
  }
  if (response.ok) return response
  const reply = (await response.text()).slice(0, 1_000)
  throw new CommandError(exit.failed, 'refused', `Gateway request failed (${response.status}): ${messageIn(reply)}`)
}

function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown }
    if (typeof error === 'string') return error
    if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  } catch {
    // Not JSON: return the text.
  }
  return text
}

/** Entries from the gateway that runs with this configuration; `undefined` if there is none. */
export async function fromGateway<T>(file: string, path: string, io: Io): Promise<readonly T[] | undefined> {
  const [gateway] = await findGateways({ config: file }, io)
  if (gateway === undefined) return undefined
  const response = await adminRequest(gateway, path, { signal: io.signal })
  return (await response.json()) as readonly T[]
}
