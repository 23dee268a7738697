import { hash } from 'node:crypto'
import type { Clock } from '@unfold-mcp/client'
import { printable } from '@unfold-mcp/core'
import type { Log } from '../base/log.ts'
import { TokenBucket } from '../base/token-bucket.ts'
import { describeRule, type Finding, type Rule } from './finding.ts'

export interface FindingLogOptions {
  readonly clock: Clock
  readonly log: Log
}

/** Definitions that have no log line of their own yet. */
interface Omitted {
  count: number
  readonly rules: Map<Rule, number>
  /** The first ones. */
  readonly names: string[]
}

interface ServerLog {
  /** Hashes of logged findings; the oldest first. */
  readonly known: Set<string>
  readonly bucket: TokenBucket
  omitted: Omitted | undefined
  cancelTimer: (() => void) | undefined
  lastSummary: number
}

// Per server. A server that invents suspicious texts must not fill the log, nor hide the ones that matter.
const lineLimit = { capacity: 50, refill: 1, everyMs: 1_000 }
const summaryIntervalMs = 5_000
const maxKnown = 20_000
const maxNames = 10

/** Logs the findings of each definition once. Beyond a rate, several definitions share a line with their names and counts. */
export class FindingLog {
  readonly #options: FindingLogOptions
  readonly #servers = new Map<string, ServerLog>()

  constructor(options: FindingLogOptions) {
    this.#options = options
  }

  /** Logs the findings of a definition, also if it is removed and added again only once. */
  add(server: string, definition: object, findings: readonly Finding[]): void {
    const keys = findings.map(({ rule, tool, path }) => `${rule} ${tool ?? ''} ${path}`)
    const id = hash('sha256', JSON.stringify([definition, keys]), 'hex')
    const serverLog = this.#of(server)
    const { known, bucket } = serverLog
    if (known.has(id)) return
    known.add(id)
    for (const oldest of known) {
      if (known.size <= maxKnown) break
      known.delete(oldest)
    }
    if (bucket.tryTake(1)) {
      const { log } = this.#options
      log.warn({ upstream: server, event: 'finding', findings }, `${summaryOf(findings)} ${hintFor(server)}`)
    } else this.#omit(serverLog, findings)
  }

  /** Logs a line about definitions without one, now or when the last such line is old enough. */
  flush(): void {
    for (const [server, serverLog] of this.#servers) {
      if (serverLog.omitted === undefined || serverLog.cancelTimer !== undefined) continue
      const { clock } = this.#options
      const waitMs = serverLog.lastSummary + summaryIntervalMs - clock.now()
      if (waitMs <= 0) this.#summarize(server, serverLog)
      else
        serverLog.cancelTimer = clock.after(
          waitMs,
          () => {
            serverLog.cancelTimer = undefined
            this.#summarize(server, serverLog)
          },
          true,
        )
    }
  }

  close(): void {
    for (const { cancelTimer } of this.#servers.values()) cancelTimer?.()
    this.#servers.clear()
  }

  #of(server: string): ServerLog {
    const { clock } = this.#options
    const serverLog = this.#servers.get(server) ?? {
      known: new Set(),
      bucket: new TokenBucket({ ...lineLimit, now: () => clock.now() }),
      omitted: undefined,
      cancelTimer: undefined,
      lastSummary: Number.NEGATIVE_INFINITY,
    }
    this.#servers.set(server, serverLog)
    return serverLog
  }

  #omit(serverLog: ServerLog, findings: readonly Finding[]): void {
    const omitted = serverLog.omitted ?? { count: 0, rules: new Map<Rule, number>(), names: [] }
    serverLog.omitted = omitted
    omitted.count += 1
    for (const { rule } of findings) omitted.rules.set(rule, (omitted.rules.get(rule) ?? 0) + 1)
    const [first] = findings
    if (first !== undefined && omitted.names.length < maxNames) omitted.names.push(first.tool ?? first.path)
  }

  #summarize(server: string, serverLog: ServerLog): void {
    const { omitted } = serverLog
    if (omitted === undefined) return
    serverLog.omitted = undefined
    serverLog.lastSummary = this.#options.clock.now()
    const { count, names } = omitted
    const rules = Object.fromEntries(omitted.rules)
    const counts = [...omitted.rules].map(([rule, times]) => `${times} × ${describeRule(rule)}`).join(', ')
    const more = count > names.length ? ', …' : ''
    const subjects = `${count} more suspicious ${count === 1 ? 'definition' : 'definitions'}: ${names.join(', ')}${more}`
    const message = `${subjects} (${counts}). ${hintFor(server)}`
    this.#options.log.warn({ upstream: server, event: 'finding', definitions: count, rules }, message)
  }
}

const hintFor = (server: string): string => `See "unfold status ${printable(server)}".`

function summaryOf([first, ...others]: readonly Finding[]): string {
  if (first === undefined) return ''
  const { tool, path, description, excerpt } = first
  const subject = tool === undefined ? 'suspicious text' : `suspicious tool "${tool}"`
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `${subject}: ${path} ${description} ("${excerpt}")${more}.`
}
