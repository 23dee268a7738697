import { firstSentence, printable, toolTokens } from '@unfold-mcp/core'
import type { ClientStatus } from '../access/clients.ts'
import { serverUrl } from '../base/mcp-path.ts'
import { version } from '../base/version.ts'
import type { ToolNote } from '../catalog/entries.ts'
import type { ConfigProblem } from '../config/problem.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Savings } from '../gateway/savings.ts'
import type { DegradedPart } from '../observability/degraded.ts'
import type { ChangeRecord, Journal } from '../observability/journal.ts'
import type { Redactor } from '../observability/redactor.ts'
import type { Finding } from '../poisoning/finding.ts'
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
  readonly findings: readonly Finding[]
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
  readonly findings?: readonly Finding[]
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
  readonly degraded: readonly DegradedPart[]
  readonly upstreams: readonly UpstreamReport[]
  /** Servers that wait for something, such as a variable. */
  readonly held: readonly { readonly name: string; readonly problems: readonly ConfigProblem[] }[]
  readonly clients: readonly ClientStatus[]
  readonly savings: Savings
}

/** What the status of a gateway is made from. */
export interface StatusSources {
  readonly gateway: Gateway
  readonly journal: Journal
  readonly secrets: Redactor
  readonly config: string
  readonly startedAt: number
  readonly url: () => string
  readonly transport: 'http' | 'stdio'
  readonly problems: () => readonly ConfigProblem[]
  readonly isReady: () => boolean
  readonly degraded: () => readonly DegradedPart[]
  readonly clients: () => readonly ClientStatus[]
}

/** All of it at once. */
export async function gatewayStatus(watched: StatusSources): Promise<GatewayStatus> {
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
    degraded: watched.degraded().map(({ part, problem }) => ({ part, problem: secrets.text(problem) })),
    upstreams: await upstreamReports(watched),
    held: [...gateway.held].map(([name, problems]) => ({ name, problems: told(problems) })),
    clients: clients(),
    savings: await gateway.savings(),
  }
}

const maxNotes = 100
const maxAddressLength = 2_000
const maxOutputLength = 500

/** Every server behind the gateway, with what is secret taken out. */
export async function upstreamReports(watched: StatusSources): Promise<readonly UpstreamReport[]> {
  const { gateway, journal, secrets, transport, url } = watched
  await gateway.findings.settled()
  return gateway.upstreams.statuses().map((status) => {
    const [change] = journal.last('change', 1, ({ upstream }) => upstream === status.name)
    return {
      ...status,
      ...(transport === 'http' && status.state !== 'disabled' && { url: serverUrl(url(), status.name) }),
      offered: gateway.source.count(status.name),
      ...(status.lastError !== undefined && { lastError: secrets.text(status.lastError) }),
      ...(status.lastOutput !== undefined && { lastOutput: secrets.text(printable(status.lastOutput, maxOutputLength)) }),
      ...(status.address !== undefined && { address: secrets.text(printable(status.address, maxAddressLength)) }),
      ...(status.server !== undefined && { server: secrets.text(printable(status.server)) }),
      notes: gateway.source.notes(status.name).slice(0, maxNotes),
      findings: secrets.data(gateway.findings.of(status.name).slice(0, maxNotes)) as readonly Finding[],
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
export async function toolsOf({ gateway, secrets }: Pick<StatusSources, 'gateway' | 'secrets'>): Promise<readonly ToolReport[]> {
  const { source, findings } = gateway
  await findings.settled()
  return source.entries().map(({ tool, source: upstream }) => {
    const own = printable(source.ownName(upstream, tool.name) ?? tool.name)
    const found = findings.of(upstream).filter((each) => each.tool === own)
    return {
      name: tool.name,
      upstream,
      tool: own,
      about: printable(firstSentence(tool.description ?? ''), 200),
      tokens: toolTokens(tool),
      ...(found.length > 0 && { findings: secrets.data(found) as readonly Finding[] }),
    }
  })
}
