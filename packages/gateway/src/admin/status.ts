import { firstSentence, printable, toolTokens } from '@unfold-mcp/core'
import type { ClientStatus } from '../access/clients.ts'
import { serverUrl } from '../base/mcp-path.ts'
import { version } from '../base/version.ts'
import type { ToolNote } from '../catalog/entries.ts'
import type { ConfigProblem } from '../config/problem.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Savings } from '../gateway/savings.ts'
import type { Shortfall } from '../observability/degraded.ts'
import type { ChangeRecord, Journal } from '../observability/journal.ts'
import type { Secrets } from '../observability/secrets.ts'
import type { Suspicion } from '../poisoning/finding.ts'
import type { UpstreamStatus } from '../upstreams/status.ts'

/** A server behind the gateway, for whoever runs it. */
export interface UpstreamReport extends UpstreamStatus {
  /** Where MCP clients reach this server alone, under its own names for its tools; absent where clients are not served over HTTP. */
  readonly url?: string
  /** How many of its tools clients may have. */
  readonly offered: number
  /** What should be known of its tools: those that were left out or renamed, and why. */
  readonly notes: readonly ToolNote[]
  /** What in its texts looks as if it were meant to deceive a model. */
  readonly suspicions: readonly Suspicion[]
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
  /** What looks suspicious in it, if anything does. */
  readonly suspicions?: readonly Suspicion[]
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
  /** What it does without for now. */
  readonly shortfalls: readonly Shortfall[]
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
  readonly shortfalls: () => readonly Shortfall[]
  readonly clients: () => readonly ClientStatus[]
}

/** All of it at once. */
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
    shortfalls: watched.shortfalls().map(({ part, problem }) => ({ part, problem: secrets.text(problem) })),
    upstreams: await upstreamsOf(watched),
    held: [...gateway.held].map(([name, problems]) => ({ name, problems: told(problems) })),
    clients: clients(),
    savings: await gateway.savings(),
  }
}

const mostNotes = 100
const mostOfAddress = 2_000
const mostOfOutput = 500

/** Every server behind the gateway, with what is secret taken out. */
export async function upstreamsOf(watched: Watched): Promise<readonly UpstreamReport[]> {
  const { gateway, journal, secrets, transport, url } = watched
  await gateway.suspicions.settled()
  return gateway.upstreams.statuses().map((status) => {
    const [change] = journal.last('change', 1, ({ upstream }) => upstream === status.name)
    return {
      ...status,
      ...(transport === 'http' && status.state !== 'disabled' && { url: serverUrl(url(), status.name) }),
      offered: gateway.source.count(status.name),
      ...(status.lastError !== undefined && { lastError: secrets.text(status.lastError) }),
      ...(status.lastOutput !== undefined && { lastOutput: secrets.text(printable(status.lastOutput, mostOfOutput)) }),
      ...(status.address !== undefined && { address: secrets.text(printable(status.address, mostOfAddress)) }),
      ...(status.server !== undefined && { server: secrets.text(printable(status.server)) }),
      notes: gateway.source.notes(status.name).slice(0, mostNotes),
      suspicions: secrets.data(gateway.suspicions.of(status.name).slice(0, mostNotes)) as readonly Suspicion[],
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

/** Every tool that clients may have, whoever they are. */
export async function toolsOf({ gateway, secrets }: Pick<Watched, 'gateway' | 'secrets'>): Promise<readonly ToolReport[]> {
  const { source, suspicions } = gateway
  await suspicions.settled()
  return source.entries().map(({ tool, source: upstream }) => {
    const own = printable(source.ownName(upstream, tool.name) ?? tool.name)
    const found = suspicions.of(upstream).filter((each) => each.tool === own)
    return {
      name: tool.name,
      upstream,
      tool: own,
      about: printable(firstSentence(tool.description ?? ''), 200),
      tokens: toolTokens(tool),
      ...(found.length > 0 && { suspicions: secrets.data(found) as readonly Suspicion[] }),
    }
  })
}
