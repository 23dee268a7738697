import { firstSentence, printable, toolTokens } from '@unfold-mcp/core'
import type { ConfigProblem } from '../config/problem.ts'
import type { Gateway } from '../gateway.ts'
import type { ChangeRecord, Journal } from '../observing/journal.ts'
import type { Secrets } from '../observing/secrets.ts'
import type { Savings } from '../savings.ts'
import type { ToolNote } from '../transforms/entries.ts'
import type { UpstreamStatus } from '../upstreams/status.ts'
import { version } from '../version.ts'
import type { ClientStatus } from './callers.ts'

/** A server behind the gateway, for whoever runs it. */
export interface UpstreamReport extends UpstreamStatus {
  /** What should be known of its tools: those that were left out or renamed, and why. */
  readonly notes: readonly ToolNote[]
  readonly lastChange?: Pick<ChangeRecord, 'added' | 'changed' | 'removed' | 'ms'> & { readonly at: string }
}

/** A tool that clients may have. */
export interface ToolReport {
  readonly name: string
  readonly upstream: string
  /** The server's own name for it. */
  readonly tool: string
  readonly about: string
  readonly tokens: number
}

/** A gateway at this moment. */
export interface GatewayStatus {
  readonly version: string
  readonly pid: number
  readonly uptimeMs: number
  /** The configuration file. */
  readonly config: string
  readonly url: string
  /** How its clients speak with it. */
  readonly transport: 'http' | 'stdio'
  /** What is wrong with the file as it is now; what was in use before goes on then. */
  readonly problems: readonly ConfigProblem[]
  readonly isReady: boolean
  readonly upstreams: readonly UpstreamReport[]
  /** Servers that wait for something, such as a variable. */
  readonly held: readonly { readonly name: string; readonly problems: readonly ConfigProblem[] }[]
  readonly clients: readonly ClientStatus[]
  readonly savings: Savings
}

/** What the status of a gateway is made from. */
export interface Watched {
  readonly gateway: Gateway
  readonly journal: Journal
  readonly secrets: Secrets
  readonly config: string
  readonly startedAt: number
  readonly url: () => string
  readonly transport: 'http' | 'stdio'
  readonly problems: () => readonly ConfigProblem[]
  readonly isReady: () => boolean
  readonly clients: () => readonly ClientStatus[]
}

export async function statusOf(watched: Watched): Promise<GatewayStatus> {
  const { gateway, secrets, config, startedAt, url, transport, isReady, clients } = watched
  const told = (problems: readonly ConfigProblem[]) => secrets.data(problems) as readonly ConfigProblem[]
  return {
    version,
    pid: process.pid,
    uptimeMs: Math.round(performance.now() - startedAt),
    config,
    url: url(),
    transport,
    problems: told(watched.problems()),
    isReady: isReady(),
    upstreams: upstreamsOf(watched),
    held: [...gateway.held].map(([name, problems]) => ({ name, problems: told(problems) })),
    clients: clients(),
    savings: await gateway.savings(),
  }
}

const mostNotes = 100

export function upstreamsOf({ gateway, journal, secrets }: Watched): readonly UpstreamReport[] {
  return gateway.upstreams.statuses().map((status) => {
    const [change] = journal.last('change', 1, ({ upstream }) => upstream === status.name)
    return {
      ...status,
      ...(status.lastError !== undefined && { lastError: secrets.text(status.lastError) }),
      ...(status.server !== undefined && { server: secrets.text(printable(status.server)) }),
      notes: gateway.source.notes(status.name).slice(0, mostNotes),
      ...(change !== undefined && { lastChange: lastChange(change.at, change.data) }),
    }
  })
}

const lastChange = (at: string, { added, changed, removed, ms }: ChangeRecord): NonNullable<UpstreamReport['lastChange']> => ({
  at,
  added,
  changed,
  removed,
  ms,
})

export function toolsOf({ source }: Gateway): readonly ToolReport[] {
  return source.entries().map(({ tool, source: upstream }) => ({
    name: tool.name,
    upstream,
    tool: printable(source.ownName(upstream, tool.name) ?? tool.name),
    about: printable(firstSentence(tool.description ?? ''), 200),
    tokens: toolTokens(tool),
  }))
}
