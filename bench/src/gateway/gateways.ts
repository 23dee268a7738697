import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../hosts/ports.ts'
import { isInstalled, peersFolder } from '../peers/install.ts'
import type { UpstreamSet } from './upstreams.ts'
import { sseWire } from './wires/sse.ts'
import { stdioWire } from './wires/stdio.ts'
import { streamableWire } from './wires/streamable.ts'
import type { Wire } from './wires/wire.ts'

/** A gateway under test, or a direct connection. */
export interface Contender {
  readonly name: string
  readonly version?: string
  /** True if it supports one server only. */
  readonly isSingle: boolean
  /** Starts it. `home` persists across starts; by default each start has a new one. */
  readonly start: (upstreams: UpstreamSet, options?: { readonly home?: string }) => Promise<Running>
}

/** A started gateway, which may not be reachable yet. */
export interface Running extends AsyncDisposable {
  readonly name: string
  readonly pid: number | undefined
  readonly upstreams: UpstreamSet
  /** Connects a client as soon as the gateway is reachable. */
  readonly client: () => Promise<Wire>
  /** Returns the client-facing name of an upstream's tool. */
  readonly toolName: (upstream: string, tool: string) => string
}

/** Our gateway, with more endpoints. */
export interface RunningUnfold extends Running {
  readonly url: string
  /** Its data folder. */
  readonly home: string
}

export const names = { direct: 'direct', hub: 'mcp-hub', proxy: 'mcp-proxy', unfold: 'Unfold' } as const

/** Direct connection: the client starts the server itself. */
export const direct: Contender = {
  name: names.direct,
  isSingle: true,
  start: async (upstreams) => ({
    name: names.direct,
    pid: undefined,
    upstreams,
    client: () => stdioWire(upstreams.command(upstreams.names[0] ?? '')),
    toolName: (_upstream, tool) => tool,
    [Symbol.asyncDispose]: async () => undefined,
  }),
}

/** Profiles with the default exposure and with search. */
export const profiles = { usual: 'usual', searching: 'searching' } as const

interface UnfoldOptions {
  readonly home?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly limits?: object
  readonly cluster?: object
  /** Of all servers. */
  readonly placement?: 'one'
}

/** The published command. */
const ourProgram = fileURLToPath(new URL('../../../packages/cli/bundle/main.js', import.meta.url))

export const unfold = {
  name: names.unfold,
  isSingle: false,
  start: async (upstreams: UpstreamSet, options: UnfoldOptions = {}): Promise<RunningUnfold> => {
    const folder = await ownFolder()
    const servers = upstreams.names
    const file = join(folder, 'unfold.json')
    // Lists everything, like the peers, without a rate limit.
    const config = {
      mcpServers: Object.fromEntries(
        Object.entries(upstreams.commands).map(([name, command]) => [
          name,
          options.placement === undefined ? command : { ...command, placement: options.placement },
        ]),
      ),
      exposure: 'everything',
      ...(options.cluster !== undefined && { cluster: options.cluster }),
      profiles: {
        [profiles.usual]: { servers, exposure: 'auto' },
        [profiles.searching]: { servers, exposure: 'search' },
      },
      limits: { callsPerMinute: 1_000_000, ...options.limits },
    }
    await writeFile(file, JSON.stringify(config))
    const port = await freePort()
    const args = [ourProgram, 'serve', file, '--http', String(port), '--log-level', 'error']
    const child = started(args, folder, { UNFOLD_HOME: options.home ?? folder, ...options.environment })
    const url = `http://127.0.0.1:${port}/mcp`
    return {
      ...(await processOf(names.unfold, child, {
        upstreams,
        folder,
        connect: () => streamableWire(url, { receivesNotifications: true }),
      })),
      url,
      home: options.home ?? folder,
      toolName: underscored,
    }
  },
} satisfies Contender

/** Installs the peers; `undefined` for those that are not available. */
export function installedGateways(npm: string | undefined): { readonly hub?: Contender; readonly proxy?: Contender } {
  const [hub, proxy] = [peer('mcp-hub', npm), peer('mcp-proxy', npm)]
  return { ...(hub !== undefined && { hub: hubOf(hub) }), ...(proxy !== undefined && { proxy: proxyOf(proxy) }) }
}

interface Peer {
  readonly version: string
  readonly program: string
}

function peer(name: string, npm: string | undefined): Peer | undefined {
  if (!isInstalled(name, npm)) return undefined
  const manifest = new URL(`node_modules/${name}/package.json`, peersFolder)
  const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string; bin: Record<string, string> }
  return { version, program: fileURLToPath(new URL(bin[name] ?? '', manifest)) }
}

// It has no option for the listen address.
const loopback = new URL('servers/loopback.js', import.meta.url).href

const hubOf = ({ version, program }: Peer): Contender => ({
  name: names.hub,
  version,
  isSingle: false,
  async start(upstreams) {
    const folder = await ownFolder()
    const file = join(folder, 'servers.json')
    await writeFile(file, JSON.stringify({ mcpServers: upstreams.commands }))
    const port = await freePort()
    const child = started(['--import', loopback, program, '--port', String(port), '--config', file], folder)
    const connect = (): Promise<Wire> => sseWire(`http://127.0.0.1:${port}/mcp`)
    return { ...(await processOf(names.hub, child, { upstreams, folder, connect })), toolName: underscored }
  },
})

const proxyOf = ({ version, program }: Peer): Contender => ({
  name: names.proxy,
  version,
  isSingle: true,
  async start(upstreams) {
    const folder = await ownFolder()
    const { command, args } = upstreams.command(upstreams.names[0] ?? '')
    const port = await freePort()
    const child = started([program, '--host', '127.0.0.1', '--port', String(port), '--', command, ...args], folder)
    const connect = (): Promise<Wire> => streamableWire(`http://127.0.0.1:${port}/mcp`, { receivesNotifications: true })
    return { ...(await processOf(names.proxy, child, { upstreams, folder, connect })), toolName: (_upstream, tool) => tool }
  },
})

const underscored = (upstream: string, tool: string): string => `${upstream}__${tool}`

const ownFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'unfold-bench-gateway-'))

function started(args: readonly string[], folder: string, more: Readonly<Record<string, string>> = {}): ChildProcess {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_STATE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
    ...more,
  }
  return spawn(process.execPath, args, { stdio: 'ignore', cwd: folder, env })
}

const reachableTimeoutMs = 60_000
const lookEveryMs = 5
const killDelayMs = 8_000

async function processOf(
  name: string,
  child: ChildProcess,
  { upstreams, folder, connect }: { upstreams: UpstreamSet; folder: string; connect: () => Promise<Wire> },
): Promise<Omit<Running, 'toolName'>> {
  const ended = once(child, 'exit')
  return {
    name,
    pid: child.pid,
    upstreams,
    async client() {
      const until = performance.now() + reachableTimeoutMs
      for (;;) {
        try {
          return await connect()
        } catch (error) {
          if (child.exitCode !== null) throw new Error(`${name} exited with code ${child.exitCode}.`, { cause: error })
          if (performance.now() > until) throw new Error(`${name} is not reachable.`, { cause: error })
        }
        await pause(lookEveryMs)
      }
    },
    async [Symbol.asyncDispose]() {
      const kill = setTimeout(() => child.kill('SIGKILL'), killDelayMs)
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await ended
      }
      clearTimeout(kill)
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}
