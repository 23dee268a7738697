import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Log, type RunningGateway, startGateway } from '@unfold-mcp/gateway'
import { listen } from '@unfold-mcp/server'

interface Running extends RunningGateway {
  /** Output so far, as on a terminal. */
  readonly lines: readonly string[]
  /** User data folder. */
  readonly home: string
}

/** Runs `work` with a gateway that has these toolboxes as HTTP upstreams, after it has listed their tools. */
export async function withGateway<T>(
  toolboxes: Readonly<Record<string, object>>,
  settings: object,
  work: (running: Running) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-docs-'))
  const served = await Promise.all(
    Object.entries(toolboxes).map(async ([name, box]) => ({ name, at: await listen(box, { port: 0 }) })),
  )
  try {
    const file = join(folder, 'unfold.json')
    const mcpServers = Object.fromEntries(served.map(({ name, at }) => [name, { url: at.url }]))
    await writeFile(file, JSON.stringify({ mcpServers, store: { kind: 'memory' }, ...settings }))
    const lines: string[] = []
    const say =
      (level: string) =>
      (data: object, message: string): void => {
        const upstream = 'upstream' in data ? `${String(data.upstream)} ` : ''
        lines.push(`${level.padEnd(5)} ${upstream}${message}`)
      }
    const log: Log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
    await using running = await startGateway({ file, environment: {}, home: folder, log, port: 0 })
    const { upstreams } = running.gateway
    await Promise.all(upstreams.names.map((name) => upstreams.discoverTools(name)))
    return await work({ ...running, lines, home: folder })
  } finally {
    await Promise.all(served.map(({ at }) => at.close()))
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
