import { Failure, printable, type Tool } from '@unfold-mcp/core'
import {
  type CodeOptions,
  type Extension,
  type ScriptConsent,
  type ScriptRunRecord,
  Toolbox,
  type ToolboxOptions,
} from '@unfold-mcp/server'
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
import type { OwnTool } from '../scripts/consent.ts'
import type { ScriptStorage } from '../scripts/storage.ts'

export type GatewayToolbox = Toolbox<string, Record<string, unknown>, Client>

type Options = ToolboxOptions<unknown, Record<string, unknown>, Client>

export interface ToolboxesOptions {
  readonly config: () => Config
  readonly access: Access
  /** True if the policy denies a tool of a server to a client, whatever the arguments; `tool` has its name among those of all servers. */
  readonly isDenied: (client: Client | undefined, server: string, tool: Tool) => boolean
  readonly source: UpstreamSource
  readonly proxy: UpstreamProxy
  readonly results: ResultStore
  /** Releases the results of sessions that end. */
  readonly releaseResults: Extension
  readonly activations: Options['store']
  readonly admit: Options['admit']
  readonly rejected: Options['rejected']
  readonly listed: NonNullable<Options['listed']>
  readonly scripts: ScriptStorage | undefined
  readonly scriptRan: ((run: ScriptRunRecord) => void) | undefined
  /** Consent of a toolbox; `toolOf`: the server and the original name of its tools. */
  readonly consent: (toolOf: ToolOf) => ScriptConsent
  readonly log: Log
}

type ToolOf = (source: string, tool: Tool) => OwnTool | undefined

const description = 'Tools of several MCP servers behind one endpoint; each server is a group.'

/** The toolbox of all servers, and those of single servers, created when a client connects to one. */
export class Toolboxes {
  /** All servers as one toolbox. */
  readonly all: GatewayToolbox
  readonly #options: ToolboxesOptions
  readonly #byServer = new Map<string, GatewayToolbox>()
  readonly #closeListeners = new Set<(toolbox: GatewayToolbox) => Promise<void>>()

  constructor(options: ToolboxesOptions) {
    const { access, source, isDenied } = options
    this.#options = options
    this.all = createToolbox(options, source, {
      name: 'unfold',
      title: 'Unfold gateway',
      version,
      description,
      permit: {
        permits: (client, tool, place) => access.permits(client, tool, place) && !isDenied(client, place.source, tool),
        version: () => access.version(),
      },
      code: codeOf(options, (server, { name }) => {
        const tool = source.originalName(server, name)
        return tool === undefined ? undefined : { server, tool }
      }),
    })
  }

  get count(): number {
    return 1 + this.#byServer.size
  }

  of(client: Client | undefined): GatewayToolbox {
    const server = client?.server
    return server === undefined ? this.all : (this.#byServer.get(server) ?? this.#create(server))
  }

  /** Calls and awaits `listener` before a toolbox is closed because its server was removed. */
  onClose(listener: (toolbox: GatewayToolbox) => Promise<void>): () => void {
    this.#closeListeners.add(listener)
    return () => this.#closeListeners.delete(listener)
  }

  /** Announces that permissions may have changed, and closes the toolboxes of removed servers. */
  async reconfigure(): Promise<void> {
    const removed = [...this.#byServer].filter(([server]) => !this.#isEnabled(server))
    for (const [server] of removed) this.#byServer.delete(server)
    for (const toolbox of [this.all, ...this.#byServer.values()]) toolbox.toolListChanged()
    await Promise.all(removed.map(([, toolbox]) => this.#close(toolbox)))
  }

  async close(): Promise<void> {
    await Promise.all([this.all, ...this.#byServer.values()].map((toolbox) => toolbox.close()))
  }

  #isEnabled(server: string): boolean {
    const { mcpServers } = this.#options.config()
    return Object.hasOwn(mcpServers, server) && mcpServers[server]?.disabled === false
  }

  #create(server: string): GatewayToolbox {
    if (!this.#isEnabled(server)) {
      const name = printable(server)
      throw new Failure('unknown_server', `The server "${name}" no longer exists.`, { server: name, nearest: [] })
    }
    const { access, source, config, isDenied } = this.#options
    const serverSource = new ServerSource(source, server)
    const toolbox = createToolbox(this.#options, serverSource, {
      name: server,
      version,
      introduce: () => serverIntroduction(server, config().mcpServers[server]?.description, source.selfDescription(server) ?? {}),
      permit: {
        permits(client, tool) {
          if (tool.name === readResultTool.name) return true
          const name = serverSource.sharedName(tool.name)
          if (name === undefined || !access.permits(client, { name }, { source: server, group: server })) return false
          return !isDenied(client, server, { ...tool, name })
        },
        version: () => access.version(),
      },
      code: codeOf(this.#options, (_source, { name }) => {
        const shared = serverSource.sharedName(name)
        const tool = shared === undefined ? undefined : source.originalName(server, shared)
        return tool === undefined ? undefined : { server, tool }
      }),
    })
    this.#byServer.set(server, toolbox)
    return toolbox
  }

  async #close(toolbox: GatewayToolbox): Promise<void> {
    await Promise.all([...this.#closeListeners].map((listener) => listener(toolbox)))
    await toolbox.close()
  }
}

function codeOf({ config, scripts, scriptRan, consent }: ToolboxesOptions, toolOf: ToolOf): boolean | CodeOptions {
  const { code } = config()
  if (code === false) return false
  const settings = typeof code === 'object' ? code : { listed: code === true }
  return {
    ...settings,
    consent: consent(toolOf),
    ...(scripts !== undefined && { store: scripts.store, secret: scripts.secret }),
    ...(scriptRan !== undefined && { ran: scriptRan }),
  }
}

function createToolbox(
  { config, access, proxy, results, releaseResults, activations, admit, rejected, listed, log }: ToolboxesOptions,
  source: UpstreamSource | ServerSource,
  info: Pick<Options, 'name' | 'title' | 'version' | 'description' | 'introduce' | 'permit' | 'code'>,
): GatewayToolbox {
  const { limits } = config()
  const toolbox: GatewayToolbox = new Toolbox({
    ...info,
    exposure: access.exposure,
    remember: access.remember,
    search: access.search,
    ...(activations !== undefined && { store: activations }),
    hiddenCalls: 'reveal',
    menu: 'stepwise',
    limits: { depth: limits.depth, elements: limits.elements },
    ...(admit !== undefined && { admit }),
    ...(rejected !== undefined && { rejected }),
    listed,
    report: ({ reason, message }) => log.warn({ reason }, message),
  })
  return toolbox
    .tool(readResultTool.name, readResultTool.config, (input, ctx) =>
      readResult(results, input, ctx, config().results.maxCharacters),
    )
    .use(source)
    .extend(proxy.extend)
    .extend(releaseResults)
}
