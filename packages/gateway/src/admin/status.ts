import { firstSentence, printable, type ToolAnnotations, toolTokens } from '@unfold-mcp/core'
import type { ClientStatus } from '../access/clients.ts'
import type { AuditPosition } from '../audit/audit-file.ts'
import { serverUrl } from '../base/mcp-path.ts'
import { version } from '../base/version.ts'
import type { ToolNote } from '../catalog/entries.ts'
import type { ClusterStatus } from '../cluster/status.ts'
import { type ConfigProblem, problemLine } from '../config/problem.ts'
import { isScriptServer } from '../config/schema.ts'
import type { ConfigEdit } from '../consent/edit.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Savings } from '../gateway/savings.ts'
import type { DegradedPart } from '../observability/degraded-parts.ts'
import type { ChangeRecord, Journal } from '../observability/journal.ts'
import type { Redactor } from '../observability/redactor.ts'
import { type Finding, selectFindings } from '../poisoning/finding.ts'
import type { UpstreamStatus } from '../upstreams/status.ts'

/** Status of one server, for the user who runs the gateway. */
export interface UpstreamReport extends UpstreamStatus {
  /** Endpoint of this server alone; absent where clients are not served over HTTP. */
  readonly url?: string
  /** Number of its tools that clients may use. */
  readonly offered: number
  /** Tools that were omitted or changed, and why. */
  readonly notes: readonly ToolNote[]
  /** Signs of tool poisoning in its definitions; at most 100, of every rule. */
  readonly findings: readonly Finding[]
  /** Number of all findings. */
  readonly findingCount: number
  /** Number of new and changed definitions that wait for a review. */
  readonly held: number
  /** Number of blocked definitions. */
  readonly blocked: number
  readonly lastChange?: Pick<ChangeRecord, 'added' | 'changed' | 'removed' | 'ms'> & { readonly at: string }
}

/** A tool that clients may use. */
export interface ToolReport {
  readonly name: string
  readonly upstream: string
  /** Its name on the server. */
  readonly tool: string
  readonly description: string
  readonly tokens: number
  readonly annotations?: ToolAnnotations
  readonly findings?: readonly Finding[]
}

/** Status of a gateway. */
export interface GatewayStatus {
  readonly version: string
  readonly pid: number
  readonly uptimeMs: number
  /** Path of the configuration file. */
  readonly config: string
  readonly url: string
  readonly transport: 'http' | 'stdio'
  /** Errors in the file as it is now; the last valid configuration stays in use. */
  readonly problems: readonly ConfigProblem[]
  readonly isReady: boolean
  /** Parts that do not work at the moment. */
  readonly degraded: readonly DegradedPart[]
  /** The last record of the audit log that this process writes. */
  readonly audit?: AuditPosition
  /** The replicas of this gateway, if it is part of a cluster. */
  readonly cluster?: ClusterStatus
  readonly upstreams: readonly UpstreamReport[]
  /** Servers that are not started because their configuration is incomplete, such as a missing variable. */
  readonly notStarted: readonly { readonly name: string; readonly problems: readonly ConfigProblem[] }[]
  /** Edits of the configuration file that wait for approval. */
  readonly edits: readonly string[]
  /** Number of calls that wait for approval. */
  readonly pendingCalls: number
  readonly clients: readonly ClientStatus[]
  readonly savings: Savings
}

export interface StatusSources {
  readonly gateway: Gateway
  readonly journal: Journal
  readonly redactor: Redactor
  readonly config: string
  readonly startedAt: number
  readonly url: () => string
  readonly transport: 'http' | 'stdio'
  readonly problems: () => readonly ConfigProblem[]
  readonly isReady: () => boolean
  readonly degraded: () => readonly DegradedPart[]
  readonly audit: () => AuditPosition | undefined
  readonly cluster: () => ClusterStatus | undefined
  readonly clients: () => readonly ClientStatus[]
  readonly edits: { readonly list: () => readonly ConfigEdit[] }
}

export async function gatewayStatus(sources: StatusSources): Promise<GatewayStatus> {
  const { gateway, redactor, config, startedAt, url, transport, isReady, clients } = sources
  const audit = sources.audit()
  const cluster = sources.cluster()
  const redacted = (problems: readonly ConfigProblem[]) => redactor.data(problems) as readonly ConfigProblem[]
  return {
    version,
    pid: process.pid,
    uptimeMs: Math.round(performance.now() - startedAt),
    config,
    url: url(),
    transport,
    problems: redacted(sources.problems()),
    isReady: isReady(),
    degraded: sources.degraded().map(({ part, problem }) => ({ part, problem: redactor.text(problem) })),
    ...(audit !== undefined && { audit }),
    ...(cluster !== undefined && { cluster: redactor.data(cluster) as ClusterStatus }),
    upstreams: await upstreamReports(sources),
    notStarted: [...gateway.notStarted].map(([name, problems]) => ({ name, problems: redacted(problems) })),
    edits: sources.edits.list().flatMap(({ path, isRejected }) => (isRejected ? [] : [path])),
    // A store that cannot be read must not hide the rest.
    pendingCalls: await gateway.approvals.pendingCount().catch(() => 0),
    clients: clients(),
    savings: await gateway.savings(),
  }
}

const maxNotes = 100
const maxAddressLength = 2_000
const maxOutputLength = 500

/** Returns the status of every server, without secrets. */
export async function upstreamReports({
  gateway,
  journal,
  redactor,
  transport,
  url,
}: StatusSources): Promise<readonly UpstreamReport[]> {
  await gateway.poisoning.settled()
  return gateway.upstreams.statuses().map((status) => {
    const findings = gateway.poisoning.findings(status.name)
    const [change] = journal.last('change', 1, ({ upstream }) => upstream === status.name)
    return {
      ...status,
      ...(transport === 'http' && status.state !== 'disabled' && { url: serverUrl(url(), status.name) }),
      offered: gateway.source.toolCount(status.name),
      ...(status.lastError !== undefined && { lastError: redactor.text(status.lastError) }),
      ...(status.lastOutput !== undefined && { lastOutput: redactor.text(printable(status.lastOutput, maxOutputLength)) }),
      ...(status.address !== undefined && { address: redactor.text(printable(status.address, maxAddressLength)) }),
      ...(status.server !== undefined && { server: redactor.text(printable(status.server)) }),
      notes: [
        ...conflictNotes(gateway, status.name),
        ...scriptNotes(gateway, status.name),
        ...gateway.source.notes(status.name),
      ].slice(0, maxNotes),
      findings: redactor.data(selectFindings(findings, maxNotes)) as readonly Finding[],
      findingCount: findings.length,
      held: gateway.trust.held(status.name).length,
      blocked: gateway.trust.blocked(status.name).length,
      ...(change !== undefined && { lastChange: lastChange(change.at, change.data) }),
    }
  })
}

// Before the notes about tools, of which there may be many.
const conflictNotes = ({ proxy }: Gateway, server: string): readonly ToolNote[] =>
  proxy.conflictMessages(server).map((message) => ({ tool: '', kind: 'warning', message }))

const scriptNotes = ({ config, scriptProblems }: Gateway, server: string): readonly ToolNote[] => {
  const definition = config.mcpServers[server]
  if (definition === undefined || !isScriptServer(definition)) return []
  return scriptProblems.map((problem) => ({ tool: '', kind: 'left_out', message: printable(problemLine(problem), 1_000) }))
}

const lastChange = (at: string, { added, changed, removed, ms }: ChangeRecord): NonNullable<UpstreamReport['lastChange']> => ({
  at,
  added,
  changed,
  removed,
  ms,
})

export async function toolReports({
  gateway,
  redactor,
}: Pick<StatusSources, 'gateway' | 'redactor'>): Promise<readonly ToolReport[]> {
  const { source, poisoning } = gateway
  await poisoning.settled()
  const findings = findingsByTool(gateway)
  return source.entries().map(({ tool, source: upstream }) => {
    const originalName = printable(source.originalName(upstream, tool.name) ?? tool.name)
    const toolFindings = findings.get(upstream)?.get(originalName) ?? []
    return {
      name: tool.name,
      upstream,
      tool: originalName,
      description: printable(firstSentence(tool.description ?? ''), 200),
      tokens: toolTokens(tool),
      ...(tool.annotations !== undefined && { annotations: redactor.data(tool.annotations) as ToolAnnotations }),
      ...(toolFindings.length > 0 && { findings: redactor.data(toolFindings) as readonly Finding[] }),
    }
  })
}

/** Findings of all tools, by server and by the tool's name there. */
function findingsByTool({ upstreams, poisoning }: Gateway): ReadonlyMap<string, ReadonlyMap<string, readonly Finding[]>> {
  return new Map(
    upstreams.names.map((server) => {
      const byTool = new Map<string, Finding[]>()
      for (const finding of poisoning.findings(server)) {
        const { tool } = finding
        if (tool === undefined) continue
        const others = byTool.get(tool)
        if (others === undefined) byTool.set(tool, [finding])
        else others.push(finding)
      }
      return [server, byTool]
    }),
  )
}
