import { Failure, printable } from '@unfold-mcp/core'
import { Toolbox, type ToolboxOptions } from '@unfold-mcp/server'
import type { Access, Client } from '../access/access.ts'
import type { Log } from '../base/log.ts'
import { version } from '../base/version.ts'
import { serverIntroduction } from '../catalog/introduction.ts'
import { ServerSource } from '../catalog/server-source.ts'
import type { UpstreamSource } from '../catalog/source.ts'
import type { Config } from '../config/schema.ts'
import type { UpstreamProxy } from '../proxy/proxy.ts'
import { readResult, readResultTool } from '../results/read-result.ts'
import type { ResultStore } from '../results/store.ts'

export type GatewayToolbox = Toolbox<string, Record<string, unknown>, Client>

type Options = ToolboxOptions<unknown, Record<string, unknown>, Client>

export interface ToolboxesOptions {
  readonly config: () => Config
  readonly access: Access
  readonly source: UpstreamSource
  readonly proxy: UpstreamProxy
  readonly results: ResultStore
  readonly activations: Options['store']
  readonly admit: Options['admit']
  readonly log: Log
}

const about = 'Tools of several MCP servers behind one endpoint; each server is a group.'

/** What clients are served: all servers as one, and each server by itself once somebody is connected to it alone. */
export class Toolboxes {
  /** All servers as one. */
  readonly all: GatewayToolbox
  readonly #options: ToolboxesOptions
  readonly #alone = new Map<string, GatewayToolbox>()
  readonly #ending = new Set<(toolbox: GatewayToolbox) => Promise<void>>()

  constructor(options: ToolboxesOptions) {
    const { access, source } = options
    this.#options = options
    this.all = toolboxOver(options, source, { name: 'unfold', title: 'Unfold gateway', version, about, permit: access })
  }

  /** How many there are. */
  get count(): number {
    return 1 + this.#alone.size
  }

  /** What this client is served. */
  of(client: Client | undefined): GatewayToolbox {
    const server = client?.server
    return server === undefined ? this.all : (this.#alone.get(server) ?? this.#begin(server))
  }

  /** Calls `end` for each toolbox that is about to be closed because its server is gone; it is closed when that is done. */
  onEnd(end: (toolbox: GatewayToolbox) => Promise<void>): () => void {
    this.#ending.add(end)
    return () => this.#ending.delete(end)
  }

  /** What decides who sees what may be another; toolboxes of servers that are gone are closed. */
  async reconfigured(): Promise<void> {
    const gone = [...this.#alone].filter(([server]) => !this.#isThere(server))
    for (const [server] of gone) this.#alone.delete(server)
    for (const toolbox of [this.all, ...this.#alone.values()]) toolbox.toolListChanged()
    await Promise.all(gone.map(([, toolbox]) => this.#end(toolbox)))
  }

  async close(): Promise<void> {
    await Promise.all([this.all, ...this.#alone.values()].map((toolbox) => toolbox.close()))
  }

  #isThere(server: string): boolean {
    const { mcpServers } = this.#options.config()
    return Object.hasOwn(mcpServers, server) && mcpServers[server]?.disabled === false
  }

  #begin(server: string): GatewayToolbox {
    if (!this.#isThere(server)) {
      const name = printable(server)
      throw new Failure('unknown_server', `There is no server "${name}" here any more.`, { server: name, nearest: [] })
    }
    const { access, source, config } = this.#options
    const own = new ServerSource(source, server)
    const made = toolboxOver(this.#options, own, {
      name: server,
      version,
      introduce: () => serverIntroduction(server, config().mcpServers[server]?.about, source.says(server) ?? {}),
      permit: {
        permits(client, { name }) {
          if (name === readResultTool.name) return true
          const shared = own.sharedName(name)
          return shared !== undefined && access.permits(client, { name: shared }, { source: server, group: server })
        },
        version: () => access.version(),
      },
    })
    this.#alone.set(server, made)
    return made
  }

  async #end(toolbox: GatewayToolbox): Promise<void> {
    await Promise.all([...this.#ending].map((end) => end(toolbox)))
    await toolbox.close()
  }
}

/** A toolbox over tools of upstreams. However many of them there are, all share the configuration, the limits and what is kept. */
function toolboxOver(
  { config, access, proxy, results, activations, admit, log }: ToolboxesOptions,
  source: UpstreamSource | ServerSource,
  own: Pick<Options, 'name' | 'title' | 'version' | 'about' | 'introduce' | 'permit'>,
): GatewayToolbox {
  const { limits } = config()
  const toolbox: GatewayToolbox = new Toolbox({
    ...own,
    exposure: access.exposure,
    remember: access.remember,
    search: access.search,
    ...(activations !== undefined && { store: activations }),
    hiddenCalls: 'reveal',
    menu: 'stepwise',
    limits: { depth: limits.depth, elements: limits.elements },
    ...(admit !== undefined && { admit }),
    report: ({ reason, message }) => log.warn({ reason }, message),
  })
  return toolbox
    .tool(readResultTool.name, readResultTool.config, (asked, ctx) =>
      readResult(results, asked, ctx, config().results.maxCharacters),
    )
    .use(source)
    .extend(proxy.extend)
}
